"""Changing: after a lasting change the error is soon what it was, and a burst of bad rows changes nothing."""

import numpy as np
import pytest
from laws import like, same
from scipy.sparse import csr_array

import holdfast as hf
from holdfast.change import Changing, have_shrunk
from holdfast.learners import Mixture, RobustRidge

PATIENCE, BEFORE, AFTER = 100, 10_000, 1000
BOX = hf.Box(-10.0, 10.0)
LEARNERS = {
    "ridge": RobustRidge(),
    "first order": hf.AdaGrad(BOX, rate=0.01),
    "mixture": Mixture((RobustRidge(memory=1000), hf.AdaGrad(BOX, rate=0.01)), hf.Absolute()),
}


def player(name="ridge", patience=PATIENCE, **kwargs):
    return Changing(hf.Guarded(hf.Scaled(LEARNERS[name], target=True, **kwargs)), patience)


def rows(count, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((count, 4)) * [1.0, 10.0, 0.1, 3.0] + [0.0, 5.0, 1.0, -2.0]
    return X, X @ [1.0, 0.1, 5.0, -0.5] + 0.3 * rng.standard_normal(count)


def play(player, X, y, after=None, compiled=False):
    keep = ("predictions", "kept")
    return hf.play(player, hf.Replay(X, y, hf.Absolute()), keep=keep, after=after, compiled=compiled)


@pytest.fixture(
    scope="module", params=["ridge", "first order", pytest.param("mixture", marks=pytest.mark.slow)]
)
def start(request):
    """A player after many rounds of the old kind, and its error in the last of them."""
    X, y = rows(BEFORE)
    record = play(player(request.param), X, y)
    return record, np.abs(record.predictions - y)[-2000:].mean()


SD = rows(BEFORE)[1].std()
CHANGES = {  # of rows and targets; the error that is then the old one is that times the last number
    "y + 50 sd": (lambda X, y: (X, y + 50.0 * SD), 1.0),
    "y + 1000 sd": (lambda X, y: (X, y + 1000.0 * SD), 1.0),
    "100 y": (lambda X, y: (X, 100.0 * y), 100.0),
    "X / 10": (lambda X, y: (X / 10.0, y), 1.0),
    "100 X": (lambda X, y: (100.0 * X, y), 1.0),
}


@pytest.mark.parametrize("name", CHANGES)
def test_soon_after_a_change_the_error_is_what_it_was(start, name):
    record, usual = start
    change, unit = CHANGES[name]
    X, y = change(*rows(AFTER, seed=1))
    later = play(record.player, X, y, after=record)
    error = np.abs(later.predictions - y) / unit
    assert (~later.kept).sum() <= PATIENCE + 30
    assert error[2 * PATIENCE : 4 * PATIENCE].mean() < 1.5 * usual
    assert error[4 * PATIENCE :].mean() < 1.15 * usual


@pytest.mark.parametrize("name", ["y + 50 sd", "100 y", "100 X"])
def test_a_burst_shorter_than_patience_changes_nothing(start, name):
    record, usual = start
    X, y = rows(AFTER, seed=2)
    bad, wild = PATIENCE - 10, CHANGES[name][0](X, y)
    within = play(record.player, np.r_[wild[0][:bad], X[bad:]], np.r_[wild[1][:bad], y[bad:]], after=record)
    without = play(record.player, X[bad:], y[bad:], after=record)
    assert within.kept[:bad].mean() < 0.05
    assert within.state[0].age == np.inf
    assert np.abs(within.predictions - y)[bad:].mean() < 1.1 * usual
    if not within.kept[:bad].any():
        assert same(within.predictions[bad:][:100], without.predictions[:100])


@pytest.mark.parametrize("name", ["y + 50 sd", "100 y", "100 X"])
def test_after_a_longer_burst_the_old_state_returns_within_a_few_rounds(start, name):
    record, usual = start
    X, y = rows(AFTER, seed=3)
    bad, wild = 3 * PATIENCE, CHANGES[name][0](X, y)
    later = play(record.player, np.r_[wild[0][:bad], X[bad:]], np.r_[wild[1][:bad], y[bad:]], after=record)
    error = np.abs(later.predictions - y)
    assert error[bad + 10 :].mean() < 1.1 * usual
    assert later.state[0].age == np.inf


def test_single_bad_rows_never_look_like_a_change(start):
    record, usual = start
    X, y = rows(AFTER, seed=4)
    rng = np.random.default_rng(5)
    bad = rng.random(AFTER) < 0.09
    y[bad] += 1e6
    X[rng.random(AFTER) < 0.05] = np.nan
    later = play(record.player, X, y, after=record)
    good = ~bad & np.isfinite(X).all(axis=1)
    assert np.abs(later.predictions - y)[good].mean() < 1.1 * usual
    assert later.state[0].age == np.inf


def test_rows_that_are_not_finite_are_neither_stored_nor_a_change():
    X, y = rows(1500)
    X[500::3] = np.nan
    y[501::3] = np.inf
    y[1002:] += 50.0 * SD
    record = play(player(), X, y)
    assert np.isfinite(record.state[0].recent).all()
    assert np.abs(record.predictions - y)[1400:][record.kept[1400:]].mean() < 1.0
    X[501:] = np.nan
    assert play(player(), X, y).state[0].age == np.inf


def test_patience_is_the_number_of_rows_that_are_lost():
    X, y = rows(2000)
    y[1000:] += 50.0 * SD
    for patience in (20, 50, 200):
        guard = hf.Guarded(hf.Scaled(RobustRidge(), target=True), *[hf.TopShare(0.3, slack=4.5)] * 3)
        lost = (~play(Changing(guard, patience), X, y).kept[1000:]).sum()
        assert patience <= lost <= patience + 40


def test_a_filter_that_lets_the_new_rows_in_first_ends_the_wait():
    X, y = rows(2000)
    y[1000:] += 50.0 * SD
    guard = hf.Guarded(hf.Scaled(RobustRidge(), target=True), target=hf.TopShare(0.05, slack=4.5))
    later = play(Changing(guard, patience=1000), X, y)
    assert 60 <= (~later.kept[1000:]).sum() <= 150
    assert np.abs(later.predictions - y)[1300:].mean() < 0.5


def test_a_classifier_follows_a_change_of_units():
    X, y = rows(2000)
    y = np.where(y > np.median(y), 1.0, -1.0)
    X[1000:] *= 100.0
    guard = hf.Guarded(hf.Scaled(hf.AdaGrad(BOX, rate=0.01)), labels=True)
    replay = hf.Replay(X, y, hf.Logistic())
    wrong = [
        (hf.play(each, replay, keep=("predictions",), compiled=False).predictions * y <= 0.0)
        for each in (guard, Changing(guard, patience=60))
    ]
    assert wrong[1][1200:].mean() < 1.2 * wrong[1][500:1000].mean() + 0.01 < wrong[0][1200:].mean()


@pytest.mark.parametrize("memory", [None, 500])
def test_a_scale_that_still_fits_is_kept(memory):
    X, y = rows(1000)
    X[:, 3] = np.where(np.arange(1000) % 200 == 7, 1.0, 0.0)  # so rare that recent rows may all be 0
    scaled = hf.Scaled(RobustRidge(), target=True, memory=memory)
    state = hf.play(
        hf.Filtered(scaled, hf.Everything()), hf.Replay(X, y, hf.Absolute()), compiled=False
    ).state
    before = state[0].learner
    factors, center = before.factors.copy(), before.center.copy()
    recent = np.c_[X[-100:] * [1.0, 100.0, 1.0, 0.0], y[-100:]]
    after = scaled.after_change(before, recent)
    assert after.factors[[0, 2, 3]] == pytest.approx(factors[[0, 2, 3]], rel=0.01)
    assert after.center[[0, 2, 3]] == pytest.approx(center[[0, 2, 3]])
    assert after.factors[1] == pytest.approx(factors[1] / 100.0, rel=0.4)
    assert after.y_spread == pytest.approx(before.y_spread, rel=0.01)


def test_a_sensor_that_is_stuck_is_no_change():
    rng = np.random.default_rng(0)
    usual, X, kept = np.zeros(3), rng.standard_normal((100, 4)), np.ones(100)
    assert not have_shrunk(X, kept, usual, False)
    assert not have_shrunk(X * [0.0, 0.0, 1.0, 1.0], kept, usual.copy(), False)
    assert not have_shrunk(X * [0.1, 1.0, 1.0, 1.0], kept, usual.copy(), False)
    assert have_shrunk(X * [0.1, 0.1, 1.0, 1.0], kept, usual.copy(), False)


def test_features_have_shrunk_although_a_few_rows_are_wild_but_not_where_most_rows_repeat_one():
    X, kept = np.random.default_rng(0).standard_normal((25, 4)), np.ones(25)
    usual = np.full(4, 1e3)
    X[:5] *= 1e3
    assert have_shrunk(X, kept, usual.copy(), True)
    repeated = X[5:].repeat(25, axis=0)[:25]
    repeated[20:] = X[20:]
    assert not have_shrunk(repeated, kept, np.ones(4), True)


@pytest.mark.parametrize("name", ["y + 50 sd", "100 y"])
def test_targets_change_with_sparse_rows_too(name):
    X, y = rows(2000)
    X[np.random.default_rng(0).random(X.shape) < 0.5] = 0.0
    y = X @ [1.0, 0.1, 5.0, -0.5] + 0.3 * np.random.default_rng(1).standard_normal(2000)
    change, unit = CHANGES[name]
    y[1000:] = change(X, y)[1][1000:]
    record = play(player(), csr_array(X), y)
    assert np.abs(record.predictions - y)[1400:].mean() / unit < 1.0


@pytest.mark.parametrize(
    ("name", "sparse"),
    [
        pytest.param("first order", False, marks=pytest.mark.exhaustive),
        pytest.param("mixture", False, marks=pytest.mark.exhaustive),
        pytest.param("ridge", True, marks=pytest.mark.exhaustive),
    ],
)
def test_both_worlds_give_the_same_bits(name, sparse):
    X, y = rows(900)
    y[300:450] += 50.0 * SD  # changes, and returns
    X[600:] *= 100.0
    X[::50] = 0.0 if sparse else np.nan
    X = csr_array(X) if sparse else X
    worlds = [play(player(name, patience=30), X, y, compiled=compiled) for compiled in (False, True)]
    assert same(*(record.predictions for record in worlds))
    assert same(*(record.kept for record in worlds))
    assert like(worlds[0].state, worlds[1].state)
    assert sparse or worlds[0].state[0].age < np.inf


def test_reset_is_the_first_state_again():
    X, y = rows(400)
    y[200:] += 50.0 * SD
    one = player(patience=30)
    state = one.reset(play(one, X, y).state[0], 4)
    again = play(one, X, y)
    for x, target in zip(X, y, strict=True):
        weights = one.predict(state)
        slope = hf.Absolute().slope(weights.product(x), weights.transform_target(target))
        state, _ = one.observe(one.set_target(state, float(target)), slope, x)
    assert same(state.guard.learner, again.state[0].guard.learner)


def test_a_wrong_change_rule_is_refused_in_a_sentence():
    guard = hf.Guarded(hf.Scaled(RobustRidge(), target=True))
    with pytest.raises(ValueError, match="patience counts rounds, at least 10: got 3"):
        Changing(guard, 3)
    with pytest.raises(TypeError, match="and Filtered is none: use Guarded"):
        Changing(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(1)))
    with pytest.raises(TypeError, match=r"has none: write Scaled\(...\)"):
        Changing(hf.Guarded(hf.OGD(hf.Ball(1.0))))
