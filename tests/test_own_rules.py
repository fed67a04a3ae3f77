"""A user's own filter, learner, loss and adversary, which need no registration."""

import importlib.util
import math
import pathlib
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest
from laws import WITH_AVERAGE, filtered, same

import holdfast as hf
from holdfast._compiled import call
from holdfast.vectors import add, dot

DOCS = pathlib.Path(__file__).parents[1] / "docs"


def example(name):
    """A file of docs/examples as a module."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, DOCS / "examples" / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


Sigma = example("sigma").Sigma
_L2 = hf.norms.L2()


class Weights(NamedTuple):
    w: np.ndarray
    velocity: np.ndarray


@hf.rule
class Momentum:
    """A learner with its own state, a helper function, and a rule as a constant of the module."""

    eta: float = 0.05
    decay: float = 0.9

    def init(self, dim):
        return Weights(np.zeros(dim), np.zeros(dim))

    def predict(self, state):
        return state.w

    def update(self, state, round):
        velocity = self.decay * state.velocity + round.slope * round.x
        add(state.w, -self.eta * shortened(_L2.of(velocity)), velocity)
        return Weights(state.w, velocity)


def shortened(length):
    return 1.0 / max(1.0, length)


@hf.rule
class LogCosh:
    def value(self, z, y):
        r = abs(z - y)
        return r + math.log1p(math.exp(-2.0 * r)) - math.log(2.0)

    def slope(self, z, y):
        return math.tanh(z - y)


class Drift(NamedTuple):
    u: np.ndarray
    t: int


@hf.rule
class Drifting:
    """An adversary with a moving target, in which every `every`-th round is an outlier."""

    noise: np.ndarray
    loss: Any
    every: int = 50

    def extent(self):
        return self.noise.shape

    def start(self):
        return Drift(np.zeros(self.noise.shape[1]), 0)

    def reveal(self, state, t, w):
        x = self.noise[t]
        add(state.u, 0.01, self.noise[t])
        slope = self.loss.slope(dot(w, x), dot(state.u, x))
        if state.t % self.every == self.every - 1:
            slope *= 1e6
        return Drift(state.u, state.t + 1), self.loss.value(dot(w, x), dot(state.u, x)), slope, x


NOISE = np.random.default_rng(4).normal(size=(500, 3))


@pytest.fixture(scope="module")
def records():
    """One game with the user's own rules only, interpreted and compiled."""
    player, adversary = hf.Filtered(Momentum(), Sigma()), Drifting(NOISE, LogCosh())
    return [hf.play(player, adversary, keep=WITH_AVERAGE, compiled=compiled) for compiled in (False, True)]


def test_a_game_of_own_rules_has_the_same_bits_interpreted_and_compiled(records):
    python, numba = records
    for column in (*WITH_AVERAGE, "final"):
        assert same(getattr(python, column), getattr(numba, column)), column
    assert same(python.state, numba.state)


def test_playing_one_round_at_a_time_gives_the_same_decisions(records):
    adversary, player = Drifting(NOISE, LogCosh()), hf.Player(hf.Filtered(Momentum(), Sigma()), dim=3)
    state = adversary.start()
    for t in range(len(NOISE)):
        state, _, slope, x = adversary.reveal(state, t, player.predict())
        decision = player.observe(slope * x)
        assert decision.kept == records[0].kept[t]
    assert player.predict() == pytest.approx(records[0].final)


def test_own_rules_can_be_continued(records):
    player, adversary = records[0].player, records[0].adversary
    half = hf.play(player, adversary, 200, compiled=False)
    assert same(hf.play(player, adversary, after=half, compiled=True).final, records[0].final)


@pytest.mark.parametrize(
    "sizes",
    [[], [0.0] * 30, [1.0, 2.0] * 20, [1e300, 1e-300] * 20, [math.inf, math.nan, 1.0] * 20, NOISE[:, 0] ** 2],
    ids=["none", "zeros", "alternating", "huge", "wild", "chi squared"],
)
def test_sigma_decides_the_same_interpreted_and_compiled(sizes):
    sizes = np.array(sizes, dtype=float)
    sigma = Sigma()
    with np.errstate(all="ignore"):
        assert same(filtered(sigma, sigma.init(1), sizes), call(filtered, sigma, sigma.init(1), sizes))


def test_the_threshold_of_sigma_is_the_mean_plus_deviations_of_kept_sizes():
    sigma, kept = Sigma(n_sigma=1.5), []
    state = sigma.init(1)
    for size in np.abs(NOISE[:, 1]):
        state, threshold, keep = sigma.decide(state, float(size))
        expected = np.mean(kept) + 1.5 * np.std(kept, ddof=1) if len(kept) >= 10 else math.inf
        assert threshold == pytest.approx(expected)
        kept += [size] if keep else []
    assert 10 < len(kept) < len(NOISE)


@pytest.mark.parametrize(
    ("wrong", "message"), [({"n_sigma": 0.0}, "must be positive: got 0.0"), ({"warmup": 1}, "got 1")]
)
def test_sigma_refuses_wrong_parameters(wrong, message):
    with pytest.raises(ValueError, match=message):
        Sigma(**wrong)


def test_the_guide_contains_the_file():
    page, file = (DOCS / "add-a-filter.md").read_text(), (DOCS / "examples" / "sigma.py").read_text()
    assert f"```python\n{file}```\n" in page
