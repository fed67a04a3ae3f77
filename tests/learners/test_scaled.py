"""Scaled: running means and deviations are right, nothing explodes, and rare features are learned."""

import math

import numpy as np
import pytest
from guards import guarded
from laws import like, same
from samples import slow

import holdfast as hf
from holdfast.defaults import recommended
from holdfast.rounds import Round, after_round
from holdfast.rule import rule

LEARNER = hf.AdaGrad(hf.Box(-10.0, 10.0), rate=0.008, ballast=1.0)


def taught(scaled, X, y=None, slope=-1.0):
    state = scaled.init(X.shape[1])
    with np.errstate(all="ignore"):  # as `play` does
        for i, x in enumerate(X):
            state = after_round(scaled, state, Round(slope, x, math.nan if y is None else float(y[i])))
    return state


def test_the_scales_become_mean_and_standard_deviation():
    rng = np.random.default_rng(0)
    X, y = rng.normal(50.0, [1.0, 7.0], (20_000, 2)), rng.normal(3.0, 2.0, 20_000)
    state = taught(hf.Scaled(LEARNER, target=True, clip=1e9), X, y)
    assert (state.center - X.mean(axis=0)) * state.factors == pytest.approx([0.0, 0.0], abs=1e-3)
    assert 1.0 / state.factors == pytest.approx(X.std(axis=0), rel=0.01)
    assert (state.y_center, state.y_spread) == pytest.approx((y.mean(), y.std()), rel=0.01)


@pytest.mark.parametrize("wild", [[0], [9], [0, 3, 4, 8]])
def test_wild_rows_among_the_first_do_not_ruin_the_scales(wild):
    rng = np.random.default_rng(1)
    X, y = rng.normal(7.0, [1.0, 100.0], (400, 2)), rng.normal(0.0, 1.0, 400)
    X[wild], y[wild] = 1e12, -1e200
    state = taught(hf.Scaled(LEARNER, target=True), X, y)
    good = np.delete(np.arange(400), wild)
    assert 1.0 / state.factors == pytest.approx(X[good].std(axis=0), rel=0.5)
    assert abs((state.center - X[good].mean(axis=0)) * state.factors).max() < 0.2
    assert state.y_spread == pytest.approx(y[good].std(), rel=0.5)
    assert (state.y_low, state.y_high) == (y[good].min(), y[good].max())


def test_a_column_that_is_wild_in_3_percent_of_the_rounds_keeps_its_scale():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((20_000, 1))
    X[rng.random(20_000) < 0.03] = 1e9
    assert 1.0 / taught(hf.Scaled(LEARNER), X).factors[0] < 3.0


def test_one_wild_value_in_a_constant_column_is_forgotten():
    X = np.zeros((3000, 1))
    X[1000], X[2000::50] = 1e9, 1.0
    scaled = hf.Scaled(LEARNER)
    state = taught(scaled, X)
    assert 1.0 < scaled.in_units(state, Round(0.0, np.ones(1))).row[0] <= 8.0


def test_no_row_moves_a_mean_by_more_than_5_standard_deviations_over_n():
    X = np.random.default_rng(0).normal(0.0, 1.0, (100, 1))
    scaled = hf.Scaled(LEARNER)
    state = taught(scaled, X)
    center, width = state.center[0], 1.0 / state.factors[0]
    state = after_round(scaled, state, Round(-1.0, np.array([1e300])))
    assert abs(state.center[0] - center) <= 5.0 * width / 101 * (1.0 + 1e-9)
    assert math.isfinite(state.spread[0])


def test_a_row_in_other_units_gives_the_same_predictions():
    rng = np.random.default_rng(4)
    X, noise = rng.standard_normal((500, 3)), rng.standard_normal(500)
    y = X @ [1.0, -2.0, 0.5] + 0.1 * noise
    player = guarded(hf.Scaled(LEARNER, target=True))
    one, other = (
        hf.play(player, hf.Replay(*data, hf.Absolute()), keep=["predictions"], compiled=False).predictions
        for data in ((X, y), (2.0**10 * X + 64.0, 2.0**-3 * y + 32.0))
    )
    assert other[50:] == pytest.approx(2.0**-3 * one[50:] + 32.0, rel=1e-6)


@rule
class Aim:
    """A learner that remembers the target it is given, and nothing else."""

    def init(self, dim):
        return np.full(dim, math.nan)

    def predict(self, state):
        return np.zeros(len(state))

    def update(self, state, round):
        state[:] = round.y
        return state


@pytest.mark.parametrize("wrap", [lambda learner: learner, hf.learners.Averaged], ids=["bare", "averaged"])
def test_the_learner_inside_is_given_the_target_in_its_units(wrap):
    X, y = np.random.default_rng(0).standard_normal((300, 1)), 1e4 + np.arange(300.0)
    scaled = hf.Scaled(wrap(Aim()), target=True)
    before = taught(scaled, X[:-1], y[:-1])
    expected = scaled.in_units(before, Round(0.0, X[-1], y[-1])).target
    inner = taught(scaled, X, y).inner
    assert (inner.inner if isinstance(inner, tuple) else inner)[0] == expected
    assert 1.0 < expected < 2.0
    assert taught(hf.Scaled(Aim()), X, y).inner[0] == y[-1]  # labels are not scaled


def test_a_column_that_moves_after_5000_rounds_is_learned_and_nothing_explodes():
    """Constant for 5,000 rounds, then 1 in 1 % of them, which adds some 1.5 standard deviations to y."""
    rng, rounds = np.random.default_rng(11), 12_000
    X = rng.standard_normal((rounds, 9))
    X[:, 8] = np.where(np.arange(rounds) < 5_000, 0.0, rng.random(rounds) < 0.01)
    y = X @ [*[1.0] * 8, 4.2] + 0.3 * rng.standard_normal(rounds)
    player = guarded(hf.Scaled(LEARNER, target=True))
    replay = hf.Replay(X, y, hf.Absolute())
    record = hf.play(player, replay, keep=["predictions", "kept"], compiled=False)
    errors, moved = np.abs(record.predictions - y), np.flatnonzero(X[:, 8])
    assert record.kept[moved].mean() > 0.9
    assert errors[4_000:5_000].max() < 2.5
    assert errors[5_000:].max() < 6.0  # the first time, nothing is known of it
    assert errors[moved[40:]].mean() < 0.6


@pytest.mark.parametrize("others", [1, slow(2), slow(4)])
def test_a_rare_column_is_learned_among_few_others(others):
    rng, rounds = np.random.default_rng(11), 4_000
    X = rng.standard_normal((rounds, others + 1))
    X[:, -1] = np.where(np.arange(rounds) < 2_000, 0.0, rng.random(rounds) < 0.01)
    y = X.sum(axis=1) + 0.3 * rng.standard_normal(rounds)
    replay = hf.Replay(X, y, hf.Absolute())
    record = hf.play(recommended(regression=True), replay, keep=["kept"], compiled=False)
    assert record.kept[X[:, -1] > 0.0].mean() > 0.9


def test_a_feature_that_never_varied_counts_as_0_and_is_no_outlier():
    scaled = hf.Scaled(LEARNER)
    state = taught(scaled, np.full((50, 1), 7.0))
    assert scaled.in_units(state, Round(0.0, np.array([1e6]))).row.tolist() == [0.0, 1.0]
    assert scaled.in_units(state, Round(0.0, np.array([7.0]))).row.tolist() == [0.0, 1.0]


def test_what_is_not_finite_is_seen():
    scaled = hf.Scaled(LEARNER)
    state = taught(scaled, np.random.default_rng(0).standard_normal((50, 1)))
    for x in (math.nan, math.inf, -math.inf):
        assert math.isnan(scaled.in_units(state, Round(0.0, np.array([x]))).row[0])
    assert scaled.in_units(state, Round(0.0, np.array([1e300]))).row.tolist() == [8.0, 1.0]


def test_targets_are_predicted_no_further_than_a_spread_beyond_those_learned():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((300, 2)), rng.uniform(0.0, 1.0, 300)
    scaled = hf.Scaled(hf.AdaGrad(hf.Box(-10.0, 10.0)), target=True)  # whose weights fly about
    w = scaled.predict(taught(scaled, X, y))
    assert (w.to_target_units(-1e9), w.to_target_units(1e9)) == (y.min() - w.y_spread, y.max() + w.y_spread)
    assert w.to_target_units(0.0) == w.y_center
    assert math.isnan(w.to_target_units(math.nan))


def test_of_targets_that_never_varied_the_same_is_predicted():
    scaled = hf.Scaled(LEARNER, target=True)
    w = scaled.predict(taught(scaled, np.random.default_rng(5).standard_normal((30, 2)), np.full(30, 7.0)))
    assert (w.to_target_units(math.inf), w.to_target_units(3.0), w.target_in_units(1e9)) == (7.0, 7.0, 0.0)
    assert math.isnan(w.target_in_units(math.inf)) and math.isnan(w.target_in_units(math.nan))


def test_labels_are_left_as_they_are():
    w = hf.Scaled(LEARNER).predict(taught(hf.Scaled(LEARNER), np.ones((20, 1)), np.ones(20)))
    assert (w.to_target_units(1e9), w.target_in_units(-1.0)) == (1e9, -1.0)


def test_a_reset_state_is_the_first_one():
    scaled = hf.Scaled(LEARNER, target=True)
    state = taught(scaled, np.random.default_rng(0).standard_normal((50, 2)), np.arange(50.0))
    again, first = scaled.reset(state, 2), scaled.init(2)
    assert like(again._replace(row=first.row, first=first.first), first)


def data(sparse):
    rng = np.random.default_rng(8)
    X = rng.standard_normal((400, 5)) * 10.0 ** np.arange(-2, 3)
    if sparse:
        X[rng.random(X.shape) < 0.7] = 0.0
    X[rng.random(400) < 0.02] *= 1e5
    X[100, 2], X[101, 0], X[102] = math.nan, -math.inf, 1e300
    X[:, 4] = 3.0
    y = np.where(rng.random(400) < 0.5, 1.0, -1.0) * (1.0 + rng.random(400))
    y[200], y[201] = math.nan, 1e300
    return X, y


@pytest.mark.slow  # test_checks.py has one that compiles the same learner
@pytest.mark.parametrize(
    "inner, is_sparse, target",
    [(LEARNER, False, True), (LEARNER, True, False), (hf.OGD(hf.Ball(1.0)), True, True)],
    ids=lambda value: type(value).__name__,
)
def test_both_worlds_give_the_same_bits(inner, is_sparse, target):
    X, y = data(is_sparse)
    if is_sparse:
        X = pytest.importorskip("scipy.sparse").csr_array(X)
    replay = hf.Replay(X, y, hf.Absolute() if target else hf.Squared())
    player = hf.Filtered(hf.Scaled(inner, target=target), hf.TopShare(0.05))
    keep = ("losses", "sizes", "thresholds", "kept", "products", "predictions")
    interpreted, compiled = (hf.play(player, replay, keep=keep, compiled=world) for world in (False, True))
    for column in (*keep, "final"):
        assert same(getattr(interpreted, column), getattr(compiled, column)), column
    assert like(interpreted.state, compiled.state)


@pytest.mark.parametrize(
    "make, complaint",
    [
        (lambda: hf.Scaled(LEARNER, clip=0.5), "at least 1: got 0.5"),
        (lambda: hf.Scaled(LEARNER, patience=0), "at least 1: got 0"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(make, complaint):
    with pytest.raises(ValueError, match=complaint):
        make()
