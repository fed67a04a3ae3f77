"""The estimators pass the checks of scikit-learn and withstand outliers."""

import math
import pickle

import joblib
import numpy as np
import pytest
from laws import same
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import holdfast as hf
from holdfast import _compiled
from holdfast.compiling import expecting
from holdfast.continuing import continued
from holdfast.sklearn import RobustClassifier, RobustRegressor

# The same checks fail for scikit-learn's own SGDClassifier and SGDRegressor.
ORDER_MATTERS = "a row of weight 2 is one step, and a row that is repeated is two"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": ORDER_MATTERS,
    "check_sample_weight_equivalence_on_sparse_data": ORDER_MATTERS,
}


@parametrize_with_checks(
    [RobustClassifier(random_state=0), RobustRegressor(random_state=0)],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_the_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        RobustClassifier(0.1, loss="log_loss", average=True, missing="raise", random_state=0),
        RobustClassifier(2, loss="squared_hinge", shuffle=False),
        RobustClassifier(0, scale=False, random_state=0, n_epochs=10),
        RobustRegressor(0.1, loss="squared_error", average=True, missing="raise", random_state=0),
        RobustRegressor(2, loss=hf.Huber(2.0), shuffle=False),
        RobustRegressor(0, loss="epsilon_insensitive", random_state=0),
        RobustRegressor(alpha=0.1, learning_rate=0.01, missing="skip", random_state=0),
    ],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_the_checks_of_scikit_learn_pass_with_other_settings(estimator, check):
    check(estimator)


def table(rows=600, seed=0, dim=4):
    """Features of different scales, labels and targets of a linear model; and the same for testing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows + 500, dim)) * 10.0 ** rng.integers(-2, 4, dim) + rng.normal(size=dim) * 10.0
    z = ((X - X.mean(axis=0)) / X.std(axis=0)) @ rng.normal(size=dim)
    X, y, target = X, np.where(z > 0.0, "yes", "no"), 100.0 + 5.0 * z + 0.1 * rng.normal(size=len(z))
    return X[:rows], y[:rows], target[:rows], X[rows:], y[rows:], target[rows:]


def three_classes(seed=0, rows=600):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, rows)
    return rng.normal(size=(rows, 2)) + 4.0 * np.eye(3)[codes][:, :2], np.array(["a", "b", "c"])[codes]


def same_state(a, b):
    return all(same(one.state[0], other.state[0]) for one, other in zip(a._records, b._records, strict=True))


# -- outliers


@pytest.mark.parametrize("wild", [1e3, 1e6, 1e300])
def test_corrupted_rows_cost_little_where_sgd_fails(wild):
    X, y, _, fresh, truth, _ = table(seed=3)
    clean = RobustClassifier(random_state=0).fit(X, y).score(fresh, truth)
    bad = (np.random.default_rng(0).random(len(X)) < 0.03) & (np.arange(len(X)) >= 50)
    X[bad], y[bad] = wild * X.std(axis=0), np.where(y[bad] == "yes", "no", "yes")
    assert RobustClassifier(shuffle=False).fit(X, y).score(fresh, truth) > clean - 0.02
    if wild < 1e300:  # scikit-learn refuses larger values
        sgd = make_pipeline(StandardScaler(), SGDClassifier(random_state=0)).fit(X, y)
        assert sgd.score(fresh, truth) < clean - 0.1


def test_corrupted_targets_cost_little():
    X, _, y, fresh, _, truth = table(seed=4)
    clean = np.abs(RobustRegressor(random_state=0).fit(X, y).predict(fresh) - truth).mean()
    y[::30] = -1e9
    assert np.abs(RobustRegressor(random_state=0).fit(X, y).predict(fresh) - truth).mean() < 1.5 * clean + 0.2


@pytest.mark.parametrize("loss", ["absolute_error", "squared_error", "huber", hf.losses.Pinball(0.6)])
def test_every_regression_loss_learns(loss):
    X, _, y, fresh, _, truth = table()
    assert RobustRegressor(loss=loss, random_state=0).fit(X, y).score(fresh, truth) > 0.9


@pytest.mark.parametrize("loss", ["hinge", "log_loss", "logistic", "squared_hinge", hf.Hinge()])
@pytest.mark.parametrize("average", [False, True])
def test_every_classification_loss_learns(loss, average):
    X, y, _, fresh, truth, _ = table()
    model = RobustClassifier(loss=loss, average=average, random_state=0).fit(X, y)
    assert model.score(fresh, truth) > 0.95


def test_missing_and_huge_rows_are_skipped_and_reported():
    X, y, target, fresh, truth, _ = table()
    X[100], X[101, 2], X[102, 0], X[103] = np.nan, np.inf, -np.inf, 1e300
    target[104], target[105] = np.nan, np.inf
    model = RobustRegressor(shuffle=False, n_epochs=1).fit(X, target)
    audit = model.audit_
    reasons = dict(zip(audit["row"].tolist(), audit["by"].tolist(), strict=True))
    assert {reasons[row] for row in (100, 101, 102, 104, 105)} == {"not finite"}
    assert 103 in reasons
    assert model.skipped_ + model.kept_ == len(X)
    assert model.audit_counts_["not finite"] >= 5
    assert np.isfinite(model.predict(X)).all()
    classifier = RobustClassifier(random_state=0).fit(X, y)
    assert classifier.score(fresh, truth) > 0.95


def test_the_prediction_for_a_row_of_missing_values_is_the_constant():
    X, _, target, *_ = table()
    rows = np.full((3, 4), np.nan)
    rows[1:, 1:] = [[np.inf, 0.0, 0.0], [1.0, 2.0, 3.0]]
    for scale in (True, False):
        model = RobustRegressor(scale=scale, missing="skip", random_state=0).fit(X, target)
        assert len(set(model.predict(rows))) == 1
        assert set(model.predict(csr_array(rows))) == set(model.predict(rows))
    assert model.predict(rows)[0] == model.intercept_[0]


def test_missing_values_raise_with_missing_raise():
    X, y, *_ = table()
    model = RobustClassifier(missing="raise").fit(X, y)
    X[5, 1] = np.nan
    for call in (lambda: model.fit(X, y), lambda: model.partial_fit(X, y), lambda: model.predict(X)):
        with pytest.raises(ValueError, match="NaN"):
            call()
    with pytest.raises(ValueError, match="y contains NaN"):
        RobustRegressor(missing="raise").fit(X[:5], [1.0, 2.0, np.nan, 4.0, 5.0])


def test_predictions_stay_in_the_range_of_the_targets():
    X, _, y, *_ = table()
    model = RobustRegressor(random_state=0).fit(X, y)
    far = model.predict(np.vstack([X * 1e6, -X * 1e6, np.full((1, 4), 1e308)]))
    assert (np.abs(far - y.mean()) <= np.ptp(y)).all()


# -- streams


@pytest.mark.parametrize("rows", [np.asarray, csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("average", [False, True])
def test_partial_fit_in_parts_is_one_partial_fit(rows, scale, average):
    X, y, target, *_ = table(200)
    X[50], target[60] = np.nan, 1e9
    for make, answers in ((RobustClassifier, y), (RobustRegressor, target)):
        first = {"classes": ["no", "yes"]} if make is RobustClassifier else {}
        whole = make(scale=scale, average=average).partial_fit(rows(X), answers, **first)
        parts = make(scale=scale, average=average).partial_fit(rows(X[:70]), answers[:70], **first)
        parts = pickle.loads(pickle.dumps(parts))
        for part in (slice(70, 71), slice(71, 200)):
            parts.partial_fit(rows(X[part]), answers[part])
        assert same_state(whole, parts)
        assert whole.coef_.tobytes() == parts.coef_.tobytes()
        assert whole.intercept_.tobytes() == parts.intercept_.tobytes()
        assert all((whole.audit_[name] == parts.audit_[name]).all() for name in ("round", "by"))


def test_batches_of_outliers_do_not_change_the_model():
    X, _, target, *_ = table()
    model = RobustRegressor().partial_fit(X, target)
    before = model.coef_.copy()
    model.partial_fit(np.full((5, 4), np.nan), np.zeros(5)).partial_fit(X[:5], np.full(5, np.nan))
    model.partial_fit(np.full((5, 4), 1e300), np.full(5, -1e300)).partial_fit(X[:1] * 1e9, [1e9])
    assert (model.coef_ == before).all()
    assert model.audit_counts_["not finite"] >= 10


def test_very_few_rows_can_be_fitted():
    one = RobustRegressor().fit([[1.0, 2.0]], [3.0])
    assert np.isfinite(one.predict([[1.0, 2.0], [1e300, -1e300]])).all()
    pair = RobustClassifier().fit([[1.0], [2.0]], [0, 1])
    assert set(pair.predict([[1.0], [2.0]])) <= {0, 1}
    lost = RobustRegressor().fit(np.full((3, 2), np.nan), [1.0, 2.0, 3.0])
    assert lost.predict([[0.0, 0.0]]).tolist() == [0.0]
    assert (lost.skipped_, lost.kept_) == (3, 0)
    with pytest.raises(ValueError, match="y contains NaN"):
        RobustRegressor().fit([[1.0], [2.0]], [np.nan, np.nan])


def test_a_constant_column_has_no_weight():
    X, y, *_ = table()
    X[:, 1] = 7.0
    model = RobustClassifier(random_state=0).fit(X, y)
    assert model.coef_[0, 1] == 0.0
    assert np.isfinite(model.coef_).all()


# -- models


def test_coefficients_are_in_the_units_of_the_data():
    X, _, y, fresh, *_ = table(2000)
    model = RobustRegressor("auto", random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict(fresh), fresh @ model.coef_ + model.intercept_, rtol=1e-9)
    assert model.coef_.shape == (4,) and model.intercept_.shape == (1,)


def test_with_three_classes_each_pair_has_a_model():
    X, y = three_classes()
    model = RobustClassifier(random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.coef_.shape == (3, 2) and model.intercept_.shape == (3,)
    assert model.decision_function(X).shape == (600, 3)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert (model.classes_[model.predict_proba(X).argmax(axis=1)] == model.predict(X)).all()
    pair = np.isin(y, ["a", "c"])
    alone = RobustClassifier(shuffle=False).fit(X[pair], y[pair])
    together = RobustClassifier(shuffle=False, n_epochs=alone.n_iter_).fit(X, y)
    np.testing.assert_array_equal(alone.coef_[0], together.coef_[1])
    assert set(model.audit_["label"]) <= set("abc")
    assert model.skipped_ + model.kept_ == 600


def test_sparse_rows_give_the_same_model():
    X, y, *_ = table()
    X[np.abs(X) < np.median(np.abs(X))] = 0.0
    dense, sparse = (RobustClassifier(scale=False, random_state=0).fit(rows, y) for rows in (X, csr_array(X)))
    np.testing.assert_allclose(dense.coef_, sparse.coef_, rtol=1e-9)
    np.testing.assert_allclose(sparse.decision_function(X), sparse.decision_function(csr_array(X)))
    np.testing.assert_allclose(dense.decision_function(X), dense.decision_function(csr_array(X)))
    scaled = RobustClassifier(random_state=0).fit(csr_array(X), y)
    values = scaled.decision_function(csr_array(X))
    np.testing.assert_allclose(values, X @ scaled.coef_[0] + scaled.intercept_[0], atol=1e-9)


@pytest.mark.slow
def test_interpreted_and_compiled_fits_have_the_same_bits(monkeypatch):
    X, y, *_ = table(100)
    interpreted = RobustClassifier(random_state=0).fit(X, y, sample_weight=np.arange(100) % 3)
    calls, call = [], _compiled.call
    monkeypatch.setattr(_compiled, "call", lambda *args: calls.append(1) or call(*args))
    with expecting(math.inf):
        compiled = RobustClassifier(random_state=0).fit(X, y, sample_weight=np.arange(100) % 3)
    assert interpreted.coef_.tobytes() == compiled.coef_.tobytes() and len(calls) == 5


@pytest.mark.parametrize("convert", [np.asarray, csr_array])
def test_float32_rows_are_learned_from_as_float64(convert, monkeypatch):
    X, y, *_ = table(200)
    X, seen = X.astype(np.float32), []
    monkeypatch.setattr("holdfast.sklearn.base._CHUNK", 64)
    monkeypatch.setattr(
        "holdfast.sklearn.base.continued",
        lambda player, data, *rest: seen.append(data.X.dtype) or continued(player, data, *rest),
    )
    half, full = (
        RobustClassifier(random_state=0).fit(convert(rows), y) for rows in (X, X.astype(np.float64))
    )
    assert {*seen} == {np.dtype(np.float64)} and len(seen) == 2 * 5 * 2
    assert half.coef_.tobytes() == full.coef_.tobytes()
    assert half.audit_counts_ == full.audit_counts_


def test_a_few_rows_and_many_have_the_same_predictions():
    X, y, *_ = table(300)
    X[6, 1] = 1e300
    for labels in (y, np.where(np.arange(300) % 5 == 0, "third", y)):
        model = RobustClassifier(random_state=0, n_epochs=1).fit(X, labels)
        some = np.stack([one.predict(X) for one in model._models], axis=1)
        assert model._models._predict_few(X).tobytes() == some.tobytes()


# -- weights


def test_rows_of_weight_0_are_left_out():
    X, y, target, *_ = table()
    weights = np.ones(len(X))
    weights[::7], X[::7] = 0.0, 1e9
    some = weights > 0.0
    for make, answers in ((RobustClassifier, y), (RobustRegressor, target)):
        weighted = make(shuffle=False).fit(X, answers, sample_weight=weights)
        assert (weighted.coef_ == make(shuffle=False).fit(X[some], answers[some]).coef_).all()
        assert weighted.skipped_ + weighted.kept_ == some.sum()
        assert not (weighted.audit_["row"] % 7 == 0).any()


def test_weights_multiply():
    X, y, *_ = table()
    weights = np.where(y == "yes", 1.5, 1.0)
    given = RobustClassifier(random_state=0).fit(X, y, sample_weight=weights)
    named = RobustClassifier(random_state=0, class_weight={"yes": 1.5}).fit(X, y)
    assert (given.coef_ == named.coef_).all()
    assert (given.coef_ != RobustClassifier(random_state=0).fit(X, y).coef_).any()


def test_balanced_classes():
    X, y = three_classes()
    rare = (y != "c") | (np.arange(600) % 5 == 0)
    plain, balanced = (
        RobustClassifier(class_weight=weight, random_state=0).fit(X[rare], y[rare])
        for weight in (None, "balanced")
    )
    found = [(model.predict(X[y == "c"]) == "c").mean() for model in (plain, balanced)]
    assert found[1] >= found[0]
    with pytest.raises(ValueError, match="needs all rows"):
        RobustClassifier(class_weight="balanced").partial_fit(X, y, classes=["a", "b", "c"])


# -- the audit


def test_the_audit_is_bounded_and_the_counts_are_not():
    X, _, y, *_ = table()
    X[100::10] = 1e9
    model = RobustRegressor(0.2, audit_size=7, shuffle=False).fit(X, y)
    assert {len(column) for column in model.audit_.values()} == {7}
    assert model.skipped_ > 40
    assert (np.diff(model.audit_["round"]) > 0).all()
    model.partial_fit(X[100:101], y[:1])
    assert {len(column) for column in model.audit_.values()} == {7}
    assert {len(column) for column in RobustRegressor(audit_size=0).fit(X, y).audit_.values()} == {0}


def test_a_skipped_round_has_a_size_above_its_threshold():
    X, _, y, *_ = table()
    X[200], y[300] = 1e6, 1e6
    audit = RobustRegressor(shuffle=False, n_epochs=1).fit(X, y).audit_
    why = dict(zip(audit["row"].tolist(), audit["by"].tolist(), strict=True))
    assert (why[200], why[300]) == ("features", "target")
    for reason in ("features", "target", "gradient"):
        some = audit["by"] == reason
        assert (audit[f"{reason}_size"][some] > audit[f"{reason}_threshold"][some]).all()


def test_the_audit_of_many_small_batches_is_one_table():
    X, _, y, *_ = table(300)
    X[::9] = np.nan
    model = RobustRegressor()
    for i in range(300):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    skipped = model.audit_["by"] == "not finite"
    assert model.audit_["round"][skipped].tolist() == list(range(0, 300, 9))


def test_there_is_a_certificate_where_one_is_possible():
    X, y, *_ = table(200)
    X = StandardScaler().fit_transform(X)
    learner = hf.OGD(hf.Ball(3.0))
    model = RobustClassifier(3, scale=False, learner=learner, n_epochs=1, shuffle=False).fit(X, y)
    rows, signs = np.hstack([X, np.ones((200, 1))]), np.where(y == "yes", 1.0, -1.0)
    rule = hf.Guarded(learner, hf.TopK(3), hf.Everything(), hf.TopK(3), labels=True)
    record = hf.play(rule, hf.Replay(rows, signs, hf.Logistic()))
    assert model.certificate_.k == 3
    assert model.certificate_.bound == pytest.approx(record.certificate(3).bound)
    assert "every set of at most 3 outliers" in str(model.certificate_)
    three = RobustClassifier(3, scale=False, learner=learner, n_epochs=1).fit(*three_classes())
    assert len(three.certificate_) == 3
    assert not hasattr(RobustClassifier(3, scale=False), "certificate_")
    for other in (RobustClassifier(3), RobustClassifier(0.1, scale=False), RobustClassifier(3, average=True)):
        with pytest.raises(AttributeError, match="no certificate with"):
            print(other.fit(X, y).certificate_)


# -- scikit-learn's tools


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
    assert model.audit_counts_["not finite"] == 1
    assert len(pd.DataFrame(model.audit_)) == model.skipped_
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"a": "z"}))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"outliers": "some"}, "outliers must be"),
        ({"outliers": -1}, "cannot be negative"),
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
