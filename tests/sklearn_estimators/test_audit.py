"""The audit of skipped rows, and the certificate."""

import numpy as np
import pytest
from guards import guarded
from sklearn.preprocessing import StandardScaler
from sklearn_estimators.tables import table, three_classes

import holdfast as hf
from holdfast.sklearn import RobustClassifier, RobustRegressor


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
    why = dict(zip(audit["row"].tolist(), audit["reason"].tolist(), strict=True))
    assert (why[200], why[300]) == ("features", "target")
    compared = audit["reason"] != "not readable"
    assert (audit["size"][compared] > audit["threshold"][compared]).all()
    assert np.array_equal(audit["check"], np.where(compared, audit["reason"], ""))


def test_rows_of_the_warm_up_are_measured_again_after_the_first_pass():
    """TopK(5) skips 5 rows, whatever they are. Two of them are wild; the other passes learn from three.

    Without a scale, weights of at most 10 do not reach targets near 100: each fit warns of that.
    """
    X, _, y, *_ = table()
    X = StandardScaler().fit_transform(X)
    X[[1, 3], 2] = 1e6
    words = {"learner": "adagrad", "scale": False, "shuffle": False}
    with pytest.warns(hf.HoldfastWarning, match="worse than the baseline"):
        first = RobustRegressor(5, n_epochs=1, **words).fit(X, y)
    assert first.audit_counts_["warm-up"] == 5 and not first.kept_mask_[:5].any()
    with pytest.warns(hf.HoldfastWarning, match="worse than the baseline"):
        model = RobustRegressor(5, n_epochs=3, **words).fit(X, y)
    assert model.kept_mask_[:5].tolist() == [True, False, True, False, True]
    assert model.audit_["row"].tolist() == [1, 3] and model.audit_counts_["warm-up"] == 0
    assert model.audit_["reason"].tolist() == model.audit_["check"].tolist() == ["features"] * 2
    sizes, thresholds = model.audit_["size"], model.audit_["threshold"]
    assert (thresholds > 0.0).all() and (sizes > 1e3 * thresholds).all()
    assert model.audit_["column"].tolist() == ["x2"] * 2 and model.audit_["value"].tolist() == [1e6] * 2


def test_the_audit_of_many_small_batches_is_one_table():
    X, _, y, *_ = table(300)
    X[::9] = np.nan
    model = RobustRegressor()
    for i in range(300):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    skipped = model.audit_["reason"] == "not readable"
    assert model.audit_["round"][skipped].tolist() == list(range(0, 300, 9))


def test_there_is_a_certificate_where_one_is_possible():
    X, y, *_ = table(200)
    X = StandardScaler().fit_transform(X)
    learner = hf.OGD(hf.Ball(3.0))
    model = RobustClassifier(3, scale=False, learner=learner, n_epochs=1, shuffle=False).fit(X, y)
    rows, signs = np.hstack([X, np.ones((200, 1))]), np.where(y == "yes", 1.0, -1.0)
    rule = guarded(learner, hf.TopK(3), hf.Everything(), hf.TopK(3), labels=True)
    record = hf.play(rule, hf.Replay(rows, signs, hf.Logistic()))
    assert model.certificate_.k == 3
    assert model.certificate_.bound == pytest.approx(record.certificate(3).bound)
    assert "every set of at most 3 outliers" in str(model.certificate_)
    three = RobustClassifier(3, scale=False, learner=learner, n_epochs=1).fit(*three_classes())
    assert len(three.certificate_) == 3
    assert not hasattr(RobustClassifier(3, scale=False), "certificate_")
    assert RobustClassifier(3).fit(X, y).certificate_.k == 3  # that of the default
    plain = RobustClassifier(3, learner="adagrad")
    for other in (plain, RobustClassifier(0.1, scale=False), RobustClassifier(3, average=True)):
        with pytest.raises(AttributeError, match="no certificate with"):
            print(other.fit(X, y).certificate_)
