"""The same laws for every loss in holdfast.losses, also for new ones."""

import inspect
import math
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from holdfast import losses
from holdfast._compiled import call
from holdfast.losses import (
    Absolute,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Linear,
    Logistic,
    Pinball,
    Squared,
    SquaredHinge,
    log_of_one_plus,
)

CLASSES = [cls for _, cls in inspect.getmembers(losses, inspect.isclass) if cls.__module__ == losses.__name__]
LOSSES = [cls() for cls in CLASSES]
LOSSES += [Huber(knee=0.3), Pinball(tau=0.2), Pinball(tau=0.9)]
LOSSES += [EpsilonInsensitive(epsilon=0.0), EpsilonInsensitive(epsilon=2.0)]

every_loss = pytest.mark.parametrize("loss", LOSSES, ids=repr)
numbers = st.floats(-1e6, 1e6)
labels = st.sampled_from([-1.0, 1.0])
ODD = [0.0, -0.0, 1.0, -1.0, 5e-324, 36.0, -800.0, 1e6, -1e6, 1e300, -1e300, math.inf, -math.inf, math.nan]


def rounding(loss, y, *zs):
    """The rounding error that the laws allow at these points."""
    return 1e-12 * (1.0 + sum(abs(loss.value(z, y)) + abs(loss.slope(z, y)) * (abs(z) + abs(y)) for z in zs))


# -- convexity and slopes


@every_loss
@settings(deadline=None)
@given(a=numbers, b=numbers, y=numbers | labels, share=st.floats(0.0, 1.0))
def test_value_is_convex(loss, a, b, y, share):
    middle = share * a + (1.0 - share) * b
    chord = share * loss.value(a, y) + (1.0 - share) * loss.value(b, y)
    assert loss.value(middle, y) <= chord + rounding(loss, y, a, b, middle)


@every_loss
@settings(deadline=None)
@given(a=numbers, b=numbers, y=numbers | labels)
def test_slope_is_a_subgradient(loss, a, b, y):
    below = loss.value(a, y) + loss.slope(a, y) * (b - a)
    assert loss.value(b, y) >= below - rounding(loss, y, a, b)


@every_loss
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_slope_is_the_derivative_wherever_there_is_one(loss, y):
    step, tried = 1e-5, 0
    for z in np.linspace(-7.0, 7.0, 501).tolist():
        if loss.slope(z + step, y) - loss.slope(z - step, y) < 1e-3:  # else there is a kink between them
            derivative = (loss.value(z + step, y) - loss.value(z - step, y)) / (2.0 * step)
            assert loss.slope(z, y) == pytest.approx(derivative, rel=1e-6, abs=step)
            tried += 1
    assert tried > 490


def test_at_a_kink_the_slope_is_the_subgradient_nearest_to_0():
    kinked = set()
    for loss in LOSSES:
        edges = [(sign * parameter, 0.0) for parameter in loss for sign in (-1.0, 1.0)]
        for z, y in [(-1.0, -1.0), (1.0, 1.0), *edges]:
            left = loss.slope(math.nextafter(z, -math.inf), y)
            right = loss.slope(math.nextafter(z, math.inf), y)
            if right - left > 1e-6:
                kinked.add(type(loss))
                assert loss.slope(z, y) == min(max(0.0, left), right)
    assert kinked >= {Absolute, Pinball, EpsilonInsensitive, Hinge}


# -- the constants


@every_loss
def test_lipschitz_bounds_the_slope_and_no_smaller_constant_does(loss):
    zs, ys = [*np.linspace(-3.0, 3.0, 601).tolist(), -1e9, 1e9], [-1.0, 1.0]
    if loss.lipschitz() == math.inf:
        assert max(abs(loss.slope(z, y)) for z in zs for y in (*ys, 1e9)) >= 1e9
    else:
        assert max(abs(loss.slope(z, y)) for z in zs for y in ys) == loss.lipschitz()


# -- against formulas written another way

FORMULAS = {
    Linear: lambda z, y: (y * z, y + 0 * z),
    Absolute: lambda z, y: (np.abs(z - y), np.sign(z - y)),
    Squared: lambda z, y: ((z - y) ** 2 / 2, z - y),
    Huber: lambda z, y, k: (
        np.where(np.abs(z - y) < k, (z - y) ** 2 / 2, k * np.abs(z - y) - k**2 / 2),
        np.clip(z - y, -k, k),
    ),
    Pinball: lambda z, y, tau: (
        np.maximum(tau * (y - z), (tau - 1) * (y - z)),
        np.where(z == y, 0, (z > y) - tau),
    ),
    EpsilonInsensitive: lambda z, y, e: (
        np.maximum(0, np.abs(z - y) - e),
        np.sign(z - y) * (np.abs(z - y) > e),
    ),
    Hinge: lambda z, y: (np.maximum(0, 1 - y * z), -y * (y * z < 1)),
    SquaredHinge: lambda z, y: (np.maximum(0, 1 - y * z) ** 2, -2 * y * np.maximum(0, 1 - y * z)),
    Logistic: lambda z, y: (np.logaddexp(0, -y * z), -y * expit(-y * z)),
}


@every_loss
def test_value_and_slope_agree_with_a_formula_written_another_way(loss):
    assert type(loss) in FORMULAS, f"write {type(loss).__name__} a second time, as plain NumPy, in FORMULAS"
    parameters = [value for name, value in zip(loss._fields, loss, strict=True) if name != "nothing"]
    z = np.concatenate([np.linspace(-30.0, 30.0, 481), [0.3, -0.1, 1e-9]])
    for y in (-1.0, 1.0):
        values, slopes = FORMULAS[type(loss)](z, y, *parameters)
        np.testing.assert_allclose([loss.value(v, y) for v in z.tolist()], values, rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose([loss.slope(v, y) for v in z.tolist()], slopes, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("loss", [Absolute(), Squared(), Huber(), Pinball(), EpsilonInsensitive()], ids=repr)
def test_regression_losses_depend_only_on_the_residual(loss):
    for r in (-2.5, -0.25, 0.0, 0.25, 2.5):
        assert loss.value(1000.0 + r, 1000.0) == loss.value(r, 0.0)
        assert loss.slope(1000.0 + r, 1000.0) == loss.slope(r, 0.0)


def test_the_logistic_loss_keeps_its_digits_in_the_tail():
    assert Logistic().value(40.0, 1.0) == pytest.approx(math.exp(-40.0), rel=1e-15, abs=0.0)
    assert Logistic().slope(700.0, 1.0) == pytest.approx(-math.exp(-700.0), rel=1e-15, abs=0.0)
    assert Logistic().slope(math.inf, 1.0) == 0.0


def test_the_logarithm_of_the_logistic_loss_is_right_up_to_two_units_in_the_last_place():
    shares = np.concatenate([[0.0, 5e-324, 1.0], np.random.default_rng(0).random(3000), np.logspace(-300, 0)])
    for e in shares.tolist():
        assert abs(log_of_one_plus(e) - math.log1p(e)) <= 2.0 * math.ulp(math.log1p(e))


# -- extreme data


@every_loss
@pytest.mark.parametrize("y", [-1.0, 1.0])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_for_large_predictions_every_result_is_finite_or_the_limit(loss, y, side):
    far, farther, end = (loss.value(side * z, y) for z in (1e6, 1e300, math.inf))
    assert math.isfinite(far)
    assert farther == end if far == farther else end == math.copysign(math.inf, farther - far)

    slopes = [side * loss.slope(side * z, y) for z in (1e6, 1e300, math.inf)]
    assert slopes == sorted(slopes) and math.isfinite(slopes[1])
    assert abs(slopes[2]) <= loss.lipschitz()
    assert slopes[2] == slopes[0] if slopes[1] == slopes[0] else slopes[2] == math.inf


@every_loss
def test_nan_gives_nan(loss):
    depends_on_z = loss.slope(-1e6, 1.0) != loss.slope(1e6, 1.0)
    assert math.isnan(loss.value(math.nan, 1.0)) and math.isnan(loss.value(1.0, math.nan))
    assert math.isnan(loss.slope(math.nan, 1.0)) == depends_on_z and math.isnan(loss.slope(1.0, math.nan))


@every_loss
def test_no_data_raises_or_warns(loss):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answers = [answer(z, y) for answer in (loss.value, loss.slope) for z in ODD for y in ODD]
    assert {type(answer) for answer in answers} == {float}


# -- compiled code


def evaluate(loss, zs, ys, values, slopes):
    for i in range(len(zs)):
        values[i] = loss.value(zs[i], ys[i])
        slopes[i] = loss.slope(zs[i], ys[i])
    return loss.lipschitz()


@every_loss
def test_compiled_and_python_give_the_same_bits(loss):
    rng = np.random.default_rng(7)
    spread = rng.normal(size=2000) * 10.0 ** rng.integers(-8, 8, 2000)
    zs = np.concatenate([spread, np.repeat(ODD, len(ODD))])
    ys = np.concatenate([rng.choice([-1.0, 1.0], 1000), rng.normal(size=1000), np.tile(ODD, len(ODD))])
    plain = [math.nan] * len(zs), [math.nan] * len(zs)
    compiled = np.empty_like(zs), np.empty_like(zs)
    assert evaluate(loss, zs.tolist(), ys.tolist(), *plain) == call(evaluate, loss, zs, ys, *compiled)
    assert [*map(repr, plain[0])] == [*map(repr, compiled[0].tolist())]  # -0.0 is not 0.0, nan is nan
    assert [*map(repr, plain[1])] == [*map(repr, compiled[1].tolist())]


# -- as rules


@every_loss
def test_losses_are_equal_by_value_and_survive_pickling(loss):
    again = pickle.loads(pickle.dumps(loss))
    assert again == loss and type(again) is type(loss) and hash(again) == hash(loss)
    assert [other == loss for other in LOSSES].count(True) == 1


@pytest.mark.parametrize(
    "cls, name, value",
    [
        *((Huber, "knee", value) for value in (0.0, -1.0, math.inf, math.nan)),
        *((Pinball, "tau", value) for value in (0.0, 1.0, -0.5, 1.5, math.nan)),
        *((EpsilonInsensitive, "epsilon", value) for value in (-0.1, math.inf, math.nan)),
    ],
)
def test_wrong_parameters_are_refused_with_their_value(cls, name, value):
    with pytest.raises(ValueError, match=f"{name} .*, got {value}"):
        cls(**{name: value})


@pytest.mark.parametrize("cls", [cls for cls in CLASSES if cls._fields != ("nothing",)])
def test_no_parameter_may_be_nan(cls):
    for name in cls._fields:
        with pytest.raises(ValueError, match="nan"):
            cls(**{name: math.nan})
