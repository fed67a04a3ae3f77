"""The estimators pass the checks of scikit-learn."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import holdfast as hf
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
        RobustRegressor(2, loss=hf.Huber(2.0), shuffle=False),
        RobustRegressor(alpha=0.1, learning_rate=0.01, missing="skip", random_state=0),
    ],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_the_checks_of_scikit_learn_pass_with_other_settings(estimator, check):
    check(estimator)


@pytest.mark.exhaustive
@parametrize_with_checks(
    [
        RobustClassifier(2, loss="squared_hinge", shuffle=False),
        RobustClassifier(0, scale=False, random_state=0, n_epochs=10),
        RobustRegressor(0.1, loss="squared_error", average=True, missing="raise", random_state=0),
        RobustRegressor(0, loss="epsilon_insensitive", random_state=0),
    ],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_the_checks_of_scikit_learn_pass_with_still_other_settings(estimator, check):
    check(estimator)
