"""Rounds in batches: the predictions are those of a copy of the contestant at the start of each batch."""

import copy
from typing import Any, NamedTuple

import numpy as np
import pytest

import holdfast as hf
from holdfast.defaults import recommended, recommended_loss
from holdfast.options import LEARNER
from holdfast.rule import rule
from holdfast.vectors import dot, prediction_of
from holdfast_lab.trials import batches, contestants, one_pass, sgd
from holdfast_lab.trials.bad_rows import corrupt_rows
from holdfast_lab.trials.batches import forecasts
from holdfast_lab.trials.clipped_gradients import ClippedGradients
from holdfast_lab.trials.corruptions import untouched
from holdfast_lab.trials.data import Table
from holdfast_lab.trials.one_pass import FED, WithConstant, predictions_of
from holdfast_lab.trials.qcsgd import QCSGD
from holdfast_lab.trials.scalers import FadingScale, Moments, Running
from holdfast_lab.trials.wolf import WoLF

DELAYS = (1, 7, 50)
MODELS = {
    "SGD": sgd.SGD(sgd.HuberSlope(1.0), sgd.ConstantStep(0.05)),
    "SGD, decreasing steps": sgd.SGD(sgd.SquaredSlope(), sgd.InverseScalingStep()),
    "WoLF": WithConstant(WoLF(2.0), sgd.SquaredSlope()),
    "QC-SGD": WithConstant(QCSGD(0.03, 0.75), sgd.SquaredSlope()),
}
PLAYERS = {
    "default": recommended,
    "no filter": lambda regression: recommended(regression, outliers=0),
    "clipping": lambda regression: ClippedGradients(hf.Scaled(LEARNER, target=regression)),
}


class FrozenState(NamedTuple):
    inner: Any
    w: np.ndarray  # at the start of the batch
    rounds: int


@rule
class Frozen:
    """A player with a delay of its own."""

    player: Any
    delay: int

    def init(self, dim):
        return FrozenState(self.player.init(dim), np.zeros(dim), 0)

    def predict(self, state):
        return state.w

    def current_weights(self, state):
        return self.player.current_weights(state.inner)

    def observe(self, state, round):
        inner, verdict = self.player.observe(state.inner, round)
        rounds, w = state.rounds + 1, state.w
        if rounds % self.delay == 0:
            w = self.player.current_weights(inner).copy()
        return FrozenState(inner, w, rounds), verdict


def table(rounds=200, regression=True):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rounds, 3)) * [1.0, 10.0, 0.1] + [0.0, 100.0, 0.0]
    y = X @ [1.0, 0.1, 5.0] + rng.standard_normal(rounds)
    y = y if regression else np.where(y > np.median(y), 1.0, -1.0)
    return Table(X, y, np.zeros(rounds, bool), regression)


@pytest.mark.parametrize("delay", DELAYS)
@pytest.mark.parametrize("scaler", [Running(), FadingScale(20.0)], ids=["running", "fading"])
@pytest.mark.parametrize("model", MODELS)
def test_a_peer_predicts_with_its_weights_and_scales_at_the_start_of_a_batch(model, scaler, delay):
    given, model = table(), MODELS[model]
    given.X[[3, 60, 61, 150], 1] = np.nan  # rows that a peer never meets do not move the batches
    state, features, targets, n = model.init(3), Moments.empty(3), Moments.empty(1), 0.0
    expected, last = np.full(given.rounds, np.nan), -1
    for t in np.flatnonzero(np.isfinite(given.X).all(axis=1)):
        x, y = given.X[t], given.y[t : t + 1]
        if t // delay != last:
            last, frozen = t // delay, copy.deepcopy((state, features, targets))
        then, rows, goals = frozen
        expected[t] = goals.mean[0] + goals.width[0] * model.output(then, rows.of(x))
        n += 1.0
        scaler.absorb(features, n, x)
        scaler.absorb(targets, n, y)
        if n > FED:
            state = model.learn(state, n - FED, features.of(x), targets.of(y)[0])
    assert np.array_equal(predictions_of(model, scaler, given, delay), expected, equal_nan=True)


@pytest.mark.parametrize("delay", DELAYS)
@pytest.mark.parametrize("regression", [True, False])
@pytest.mark.parametrize("name", PLAYERS)
def test_a_player_predicts_with_its_weights_at_the_start_of_a_batch(name, regression, delay):
    given, player, loss = table(120, regression), PLAYERS[name](regression), recommended_loss(regression)
    blocks = np.arange(given.rounds) // delay
    replay, expected = hf.Replay(given.X, given.y, loss), []
    record = hf.play(player, replay, 0, compiled=False)
    for t in range(given.rounds):
        if t % delay == 0:
            w = copy.deepcopy(player.predict(record.state[0]))
        expected.append(prediction_of(w, dot(w, given.X[t])))
        record = hf.play(player, replay, 1, after=record, compiled=False)
    assert np.array_equal(forecasts(player, given, loss, blocks), expected)


@pytest.mark.parametrize("delay", DELAYS)
def test_a_player_with_a_delay_of_its_own_is_not_delayed_twice(delay):
    given, blocks = table(120), np.arange(120) // delay
    player = Frozen(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.Everything()), delay)
    replay = hf.Replay(given.X, given.y, hf.Absolute())
    record = hf.play(player, replay, keep=("predictions",), compiled=False)
    assert np.array_equal(forecasts(player, given, hf.Absolute(), blocks), record.predictions)


@pytest.mark.parametrize("delay", DELAYS)
@pytest.mark.parametrize("regression", [True, False])
def test_river_predicts_with_its_model_at_the_start_of_a_batch(regression, delay):
    pytest.importorskip("river")
    from river import linear_model, preprocessing

    given, expected = table(120, regression), []
    given.X[60, 1] = np.nan
    model = linear_model.LinearRegression() if regression else linear_model.LogisticRegression()
    model = preprocessing.StandardScaler() | model
    for t in range(given.rounds):
        x, y = dict(enumerate(given.X[t].tolist())), float(given.y[t])
        if t % delay == 0:
            frozen = copy.deepcopy(model)
        if t == 60:
            expected.append(np.nan)
            continue
        expected.append(
            frozen.predict_one(x) if regression else frozen.predict_proba_one(x).get(True, 0.5) - 0.5
        )
        model.learn_one(x, y if regression else y > 0.0)
    assert np.array_equal(contestants.river(untouched(given), delay), expected, equal_nan=True)


@pytest.mark.parametrize("regression", [True, False])
def test_the_oracle_has_the_batches_of_the_whole_stream(regression):
    stream = corrupt_rows(table(regression=regression), "X x1000", 0.2, seed=0)
    later = stream._replace(table=stream.table._replace(y=stream.table.y.copy()))
    first = np.flatnonzero(stream.good & (np.arange(200) >= 140))[0]
    later.table.y[first] *= -1.0  # learned from with its batch: it changes nothing before the next
    one, other = contestants.oracle(stream, 20), contestants.oracle(later, 20)
    assert np.array_equal(one[:160], other[:160], equal_nan=True)
    assert (one[160:][stream.good[160:]] != other[160:][stream.good[160:]]).all()


def test_every_contestant_has_a_delay():
    stream = untouched(table())
    for contestant in [*contestants.CONTESTANTS.values(), *contestants.AFTER_A_CHANGE.values()]:
        one, other = contestant.predict(stream, 1), contestant.predict(stream, 40)
        assert np.isfinite(other).all() and (one != other).any()


@pytest.mark.slow  # compiles for long
@pytest.mark.parametrize("name", ["clipping", "no filter"])
def test_both_worlds_give_the_same_forecasts(name, monkeypatch):
    given, player = table(), PLAYERS[name](True)
    interpreted = forecasts(player, given, hf.Absolute(), np.arange(given.rounds) // 7)
    monkeypatch.setattr(batches, "_WORTH_COMPILING", 0)
    assert np.array_equal(forecasts(player, given, hf.Absolute(), np.arange(given.rounds) // 7), interpreted)


@pytest.mark.slow  # compiles for long
def test_both_worlds_give_the_same_predictions_of_a_peer(monkeypatch):
    interpreted = predictions_of(MODELS["SGD"], Running(), table(), 7)
    monkeypatch.setattr(one_pass, "_WORTH_COMPILING", 0)
    assert predictions_of(MODELS["SGD"], Running(), table(), 7) == pytest.approx(interpreted, rel=1e-12)
