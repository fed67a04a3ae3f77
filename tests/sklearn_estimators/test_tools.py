"""Pipelines, searches, copies and data frames; and mistakes in one sentence."""

import pickle

import joblib
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn_estimators.tables import table

import holdfast as hf
from holdfast.sklearn import RobustClassifier


def test_a_pipeline_in_a_grid_search():
    X, y, *_ = table(200)
    grid = {"robustclassifier__outliers": ["auto", 0, 5], "robustclassifier__loss": ["hinge", hf.Logistic()]}
    search = GridSearchCV(make_pipeline(StandardScaler(), RobustClassifier(random_state=0)), grid, cv=2)
    assert search.fit(X, y).best_score_ > 0.85


def test_copies(tmp_path):
    X, y, *_ = table(200)
    model = RobustClassifier(
        loss=hf.losses.SquaredHinge(), learner=hf.AdaGrad(hf.Box(-5.0, 5.0)), random_state=0
    )
    assert clone(model).get_params() == model.get_params()
    model.fit(X, y)
    joblib.dump(model, tmp_path / "model")
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model")):
        assert (copy.decision_function(X) == model.decision_function(X)).all()
        assert (copy.partial_fit(X[:9], y[:9]).coef_ == clone_of(model).partial_fit(X[:9], y[:9]).coef_).all()
    assert len(pickle.dumps(model)) < 500_000  # it contains no data


def clone_of(model):
    return pickle.loads(pickle.dumps(model))


def test_the_names_of_a_data_frame_are_kept():
    pd = pytest.importorskip("pandas")
    X, y, *_ = table(200)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["d"] = frame["d"].round().astype("Int64")
    frame.loc[3, "d"] = pd.NA
    model = RobustClassifier(missing="skip", random_state=0).fit(frame, pd.Series(y))
    assert model.feature_names_in_.tolist() == list("abcd")
    assert model.audit_counts_["not readable"] == 1
    assert len(pd.DataFrame(model.audit_)) == model.skipped_
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"a": "z"}))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"outliers": "some"}, "outliers must be"),
        ({"outliers": -1}, "outliers must be"),
        ({"loss": "log"}, "loss must be one of"),
        ({"missing": "drop"}, "missing must be"),
        ({"n_epochs": 0}, "n_epochs is"),
        ({"audit_size": -1}, "audit_size counts"),
        ({"fit_intercept": False}, "use scale=False"),
    ],
)
def test_mistakes_are_reported_in_one_sentence(parameters, words):
    with pytest.raises(ValueError, match=words):
        RobustClassifier(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_unknown_labels_are_refused():
    model = RobustClassifier().partial_fit([[0.0], [1.0]], [0, 1], classes=[0, 1])
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit([[0.0]], [2])
