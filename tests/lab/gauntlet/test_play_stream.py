"""Playing and scoring streams, with contestants whose scores are known."""

import numpy as np
import pytest

from holdfast_lab.gauntlet.adaptive import Adversary
from holdfast_lab.gauntlet.learners import LEARNERS, Known
from holdfast_lab.gauntlet.play_stream import errors_of, oracle_errors, play, score
from holdfast_lab.gauntlet.streams import StreamScenario, make_stream


class Constant:
    """It predicts a number, and learns nothing."""

    kept = None

    def __init__(self, value=0.0):
        self.value, self.learned = value, []

    def partial_fit(self, X, y):
        self.learned.append(len(y))

    def predict(self, X):
        return np.full(len(X), self.value)


class Failing(Constant):
    def partial_fit(self, X, y):
        super().partial_fit(X, y)
        if len(self.learned) == 5:
            raise ValueError("too much")


class Exact(Constant):
    """It knows the targets, and says that it leaves out what is far."""

    def __init__(self, stream):
        super().__init__()
        self.answers = {x.tobytes(): y for x, y in zip(stream.X, stream.truth, strict=True)}

    def partial_fit(self, X, y):
        self.kept = np.array([abs(y[i] - self.answers[X[i].tobytes()]) < 1e-9 for i in range(len(y))])

    def predict(self, X):
        return np.array([self.answers[x.tobytes()] for x in X])


@pytest.fixture(scope="module")
def stream():
    return make_stream(StreamScenario("linear", "target", 1e3, 0.1, rounds=400))


@pytest.fixture(scope="module")
def oracle(stream):
    return oracle_errors(stream, 50)[1]


def test_who_knows_the_truth_has_no_cost_loses_nothing_and_learns_nothing_bad(stream, oracle):
    found = score(stream, play(Exact(stream), stream, 50), oracle)
    assert (found.cost, found.excess, found.broken) == (0.0, -1.0, False)
    assert (found.good_lost, found.bad_learned) == (0.0, 0.0)
    assert (found.recovered, found.recovered_after) == (True, 0)


def test_who_learns_nothing_does_not_come_back(stream, oracle):
    found = score(stream, play(Constant(1e6), stream, 50), oracle)
    assert found.recovered is False
    assert found.good_lost is None


def test_who_raises_is_broken_and_says_where(stream, oracle):
    found = score(stream, play(Failing(), stream, 50), oracle)
    assert found.broken
    assert found.cost is None
    assert "row 200" in found.note
    assert "too much" in found.note


def test_who_predicts_nan_is_broken(stream, oracle):
    assert score(stream, play(Constant(np.nan), stream, 50), oracle).broken


@pytest.mark.parametrize("delay", [1, 50, 150])
def test_batches_have_the_length_of_the_delay(stream, delay):
    model = Constant()
    play(model, stream, delay)
    assert model.learned[0] == max(50, delay)
    assert set(model.learned[1:-1]) <= {delay}
    assert sum(model.learned) == 400


def test_the_oracle_is_as_good_as_the_best_of_its_panel_on_good_rows(stream, oracle):
    own = play(LEARNERS["holdfast"].make(Known(True, 0)), stream, 50, only=~stream.bad)
    assert oracle[stream.scored].mean() <= errors_of(stream, own.predictions)[stream.scored].mean()


def test_an_adversary_finds_the_size_that_harms_who_believes_it_all(stream):
    model = LEARNERS["sklearn SGD"].make(Known(True, 0))
    good = ~stream.bad
    X, y = stream.X[good], stream.y[good]
    model.partial_fit(X, y)
    before = model.predict(X)
    row, target = Adversary(True, 0).replace(model, X[0], float(y[0]), (X, y))
    np.testing.assert_array_equal(model.predict(X), before)  # it tries on copies
    model.partial_fit(row[None], np.array([target]))
    assert np.abs(model.predict(X) - y).mean() > 10.0 * np.abs(before - y).mean()


@pytest.mark.parametrize("name", [name for name, each in LEARNERS.items() if not (each.needs or each.slow)])
def test_contestants_play_numbers(name, stream, oracle):
    played = play(LEARNERS[name].make(Known(True, 30)), stream.__class__(*stream), 100)
    assert played.note == ""
    assert len(played.predictions) == 400
