"""Each row is judged once in a fit, whatever the number of passes."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn_estimators.tables import linear_table, with_wild_rows

from holdfast.sklearn import RobustClassifier, RobustRegressor


@pytest.mark.parametrize("epochs", [1, 2, 5])
@pytest.mark.parametrize("shuffle", [False, True])
def test_k_bad_rows_are_withstood_whatever_the_number_of_passes(epochs, shuffle):
    X, y = linear_table()
    wild, wrong, good = with_wild_rows(X, y, 20)
    model = RobustRegressor(20, scale=False, n_epochs=epochs, shuffle=shuffle, random_state=0)
    error = np.abs(model.fit(wild, wrong).predict(X) - y).mean()
    clean = np.abs(model.fit(X, y).predict(X) - y).mean()
    assert error < 1.5 * clean + 0.05
    model.fit(wild, wrong)
    assert not model.kept_mask_[~good].any()


def test_the_audit_has_every_skipped_row_of_the_fit_once():
    X, y = linear_table()
    wild, wrong, good = with_wild_rows(X, y, 20)
    for model in (RobustRegressor(20, scale=False), RobustRegressor(0.05), RobustRegressor()):
        model.fit(wild, wrong)
        assert sorted(model.audit_["row"]) == np.flatnonzero(~model.kept_mask_).tolist()
        assert set(np.flatnonzero(~good)) <= set(model.audit_["row"])
        assert (model.kept_, model.skipped_) == (model.kept_mask_.sum(), (~model.kept_mask_).sum())
        assert sum(model.audit_counts_.values()) == model.skipped_


def test_the_rows_that_start_a_filter_are_learned_from_in_later_passes():
    X, y = linear_table()
    wild, wrong, good = with_wild_rows(X, y, 50)
    model = RobustRegressor(50, scale=False, n_epochs=3, shuffle=False)
    often, once = model.fit(wild, wrong), clone(model).set_params(n_epochs=1).fit(wild, wrong)
    assert not once.kept_mask_[:50].any()
    assert (often.kept_mask_ == good).mean() > 0.99


def test_with_three_classes_a_row_is_counted_once():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 600)
    X = rng.normal(size=(600, 2)) + 4.0 * np.eye(3)[codes][:, :2]
    X[100:110] = 1e9
    model = RobustClassifier(random_state=0).fit(X, codes)
    assert model.kept_ + model.skipped_ == 600 == len(model.kept_mask_)
    assert not model.kept_mask_[100:110].any()
    assert len(set(model.audit_["row"])) == len(model.audit_["row"])


def test_the_mask_of_partial_fit_is_about_its_own_rows():
    X, y = linear_table(300)
    model = RobustRegressor().partial_fit(X[:200], y[:200])
    bad = X[200:].copy()
    bad[7], bad[8] = 1e9, np.nan
    model.partial_fit(bad, y[200:])
    assert np.flatnonzero(~model.kept_mask_).tolist() == [7, 8]
    assert model.kept_ + model.skipped_ == 300
    weights = np.ones(100)
    weights[3] = 0.0
    assert not model.partial_fit(X[200:], y[200:], sample_weight=weights).kept_mask_[3]


def test_the_certificate_counts_a_row_in_every_pass():
    X, y = linear_table(200)
    proofs = [RobustRegressor(3, scale=False, n_epochs=n).fit(X, y).certificate_ for n in (1, 4)]
    assert [proof.k for proof in proofs] == [3, 12]
    assert proofs[1].rounds > 3 * proofs[0].rounds


@pytest.mark.parametrize("rows", [10, 15, 30])
def test_small_tables_are_judged_again_until_the_scales_are_settled(rows):
    X, y = linear_table(rows, dim=3)
    assert RobustRegressor(random_state=0).fit(X, y).kept_mask_.all()


def test_a_target_without_noise_is_no_reason_to_skip_rows():
    X = np.random.default_rng(0).normal(size=(300, 3))
    model = RobustRegressor(random_state=0, n_epochs=3).fit(X, X[:, 0])
    assert model.kept_ > 290
