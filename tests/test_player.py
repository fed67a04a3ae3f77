"""Player: the same game as `play`, one round at a time."""

import copy
import math
import pickle

import numpy as np
import pytest
from laws import same
from samples import thinned

import holdfast as hf

RULE = hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(2))


def test_a_player_and_play_are_the_same_game():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 3)), np.sign(rng.standard_normal(200))
    X[50] = 1e9
    X[60, 0] = math.nan
    player, record = hf.Player(RULE, dim=3), hf.play(RULE, hf.Replay(X, y, hf.Logistic()))
    for t in range(200):
        decision = player.learn(X[t], y[t], hf.Logistic())
        expected = record.kept[t], record.size[t], record.threshold[t]
        found = decision.kept, decision.size, decision.threshold
        assert np.array_equal(found, expected, equal_nan=True)
    assert same(player.predict(), record.final)
    assert (player.rounds, player.kept_count, player.unmeasured_count) == (200, record.kept_count, 1)
    assert player.skipped_count == record.skipped_count


def test_predict_returns_a_copy():
    player = hf.Player(RULE, dim=2)
    w = player.predict()
    w[:] = 99.0
    assert player.predict().tolist() == [0.0, 0.0]


def test_a_verdict_can_be_unpacked():
    player = hf.Player(RULE, dim=1)
    kept, refused_by, sizes, thresholds, column = player.observe([3.0])
    assert (kept, refused_by, sizes, thresholds, column) == (False, 0, (3.0,), (0.0,), -1)


@pytest.mark.parametrize("gradient", [[1.0], [1.0, 2.0, 3.0], 1.0, [[1.0, 2.0]]])
def test_a_gradient_of_another_dimension_is_refused(gradient):
    with pytest.raises(ValueError, match="2 entries"):
        hf.Player(RULE, dim=2).observe(gradient)


def test_text_is_refused():
    with pytest.raises(TypeError, match="x must hold numbers"):
        hf.Player(RULE, dim=2).learn(["a", "b"], 1.0, hf.Hinge())


@pytest.mark.parametrize("dim", [0, -1])
def test_a_player_needs_weights(dim):
    with pytest.raises(ValueError, match="at least 1"):
        hf.Player(RULE, dim=dim)


@pytest.mark.parametrize("gradient", [[math.nan, 1.0], [math.inf, 0.0], [1e300, -1e300], [0.0, 0.0]])
def test_bad_data_never_raises(gradient):
    player = hf.Player(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.Everything()), dim=2)
    for _ in range(3):
        player.observe(gradient)
        player.learn(gradient, math.nan, hf.Squared())
        player.learn(gradient, 1e300, hf.Squared())
    assert np.isfinite(player.predict()).all()


FILTERS = [hf.Everything(), hf.TopK(3), hf.TopShare(0.05), hf.Quantile(0.9), hf.TopShare(0.05, exact=True)]


def rows(count, dim):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((count, dim)), np.sign(rng.standard_normal(count))
    X[7], X[9, 0], X[11, 1], X[13] = 1e9, math.nan, math.inf, 1e300
    return X, y


@pytest.mark.parametrize("filter", thinned(FILTERS, 4), ids=repr)
def test_compiled_rounds_are_the_same_rounds(filter):
    X, y = rows(1200, 3)
    rule = hf.Filtered(hf.OGD(hf.Ball(0.5)), filter)
    slow, fast = hf.Player(rule, dim=3, compiled=False), hf.Player(rule, dim=3, compiled=True)
    for x, label in zip(X, y, strict=True):
        assert same(slow.learn(x, label, hf.Logistic()), fast.learn(x, label, hf.Logistic()))
        assert same(slow.predict(), fast.predict())
    assert same(slow.state, fast.state)
    assert slow.unmeasured_count == fast.unmeasured_count == 2
    assert slow.kept_count == fast.kept_count


def test_a_compiled_player_accepts_gradients_and_different_losses_in_turn():
    X, y = rows(60, 2)
    players = [hf.Player(RULE, dim=2, compiled=compiled) for compiled in (False, True)]
    for t in range(60):
        for player in players:
            if t % 20 < 5:
                player.observe(X[t])
            else:
                player.learn(X[t], y[t], hf.Hinge() if t % 20 < 12 else hf.Huber(0.5))
        assert same(players[0].predict(), players[1].predict())
    assert same(players[0].state, players[1].state)


def test_a_player_is_compiled_after_many_rounds_and_nothing_else_changes(monkeypatch):
    monkeypatch.setattr("holdfast.player._WORTH_COMPILING", 100)
    X, y = rows(300, 3)
    slow, fast = hf.Player(RULE, dim=3, compiled=False), hf.Player(RULE, dim=3)
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        assert same(slow.learn(x, label, hf.Logistic()), fast.learn(x, label, hf.Logistic()))
        assert (fast._compiled_round is not None) == (t >= 100)
    assert same(slow.state, fast.state)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_player_survives_pickling_and_copying(compiled):
    X, y = rows(80, 2)
    player = hf.Player(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopShare(0.1)), dim=2, compiled=compiled)
    for t in range(40):
        player.learn(X[t], y[t], hf.Logistic())
    twins = [pickle.loads(pickle.dumps(player)), copy.deepcopy(player)]
    for t in range(40, 80):
        expected = player.learn(X[t], y[t], hf.Logistic())
        for twin in twins:
            assert same(twin.learn(X[t], y[t], hf.Logistic()), expected)
    assert all(same(twin.predict(), player.predict()) for twin in twins)


def test_rows_of_any_kind_of_number_play_the_same_compiled_round():
    player = hf.Player(RULE, dim=2, compiled=True)
    frozen = np.array([1.0, 2.0])
    frozen.flags.writeable = False
    for row in (
        [1, 2],
        (1.0, 2.0),
        frozen,
        np.array([1, 2], np.int32),
        np.array([[1.0, 9.0], [2.0, 9.0]])[:, 0],
    ):
        assert player.observe(row).size == math.hypot(1.0, 2.0)
    assert player.observe(np.array([1.0, 2.0], np.float32)).size == math.hypot(1.0, 2.0)


@hf.rule
class Copying:
    """A learner with a new array in every state."""

    rate: float

    def init(self, dim):
        return np.zeros(dim)

    def predict(self, state):
        return state

    def update(self, state, round):
        return state - self.rate * round.slope * round.x


def test_a_learner_may_make_new_arrays_in_every_compiled_round():
    X, y = rows(500, 4)
    rule = hf.Filtered(Copying(0.1), hf.TopK(5))
    slow, fast = hf.Player(rule, dim=4, compiled=False), hf.Player(rule, dim=4, compiled=True)
    for x, label in zip(X, y, strict=True):
        slow.learn(x, label, hf.Hinge())
        fast.learn(x, label, hf.Hinge())
        assert same(slow.predict(), fast.predict())
    assert same(slow.state, fast.state)
    state = fast.state
    del fast  # this frees its arrays, but not `state`
    assert same(slow.state, state)


def test_a_rule_that_cannot_be_compiled_is_reported_in_one_sentence():
    @hf.rule
    class Wordy:
        word: str = "a"

        def init(self, dim):
            return np.zeros(dim)

        def predict(self, state):
            return state

        def update(self, state, round):
            print(sorted(self.word, key=str.upper))
            return state

    player = hf.Player(hf.Filtered(Wordy(), hf.Everything()), dim=1, compiled=True)
    with pytest.raises(TypeError, match=r"numba cannot compile Wordy\.update"):
        player.observe([1.0])
