"""ReservedEpochs: its epochs, and Theorem U′ for all sets of inliers of short games."""

import math

import numpy as np
import pytest
from laws import same
from theorems.trials import subsets

import holdfast as hf
from holdfast import bounds
from holdfast.rounds import Round

SETTINGS = [{"k": 0}, {"k": 1}, {"k": 2, "slack": 1.5, "tax": 0.5}, {"k": 1, "slack": 8.0, "radius": 0.01}]


def attack(learner, rounds, seed):
    """Gradients that push, fake gains at the peak and take them back, while their size jumps."""
    rng = np.random.default_rng(seed)
    state, scale, chosen = learner.init(1), 1.0, []
    for t in range(rounds):
        if rng.random() < 0.15:
            scale *= rng.choice([3.0, 30.0, 1e3, 0.1])
        w = float(learner.predict(state)[0])
        push = -1.0 if t < rounds * rng.uniform(0.3, 0.9) else 1.0
        g = scale * rng.choice([push, -math.copysign(1.0, w), math.copysign(1.0, w), rng.normal()])
        state = learner.update(state, Round(float(g), np.ones(1)))
        chosen.append(float(g))
    return chosen


class Played:
    """A game: products w g, sizes, epochs, and which rounds were too large for theirs."""

    def __init__(self, learner, gradients):
        self.learner, self.g = learner, np.array(gradients)
        state, self.w, sizes, self.epochs = learner.init(1), [], [], []
        for g in gradients:
            self.w.append(float(learner.predict(state)[0]))
            sizes.append(state.size)
            before = state.bettor.squares * state.size**2  # its sums are in units of the size
            state = learner.update(state, Round(g, np.ones(1)))
            if state.size != sizes[-1]:
                learned = g * g if self.is_learned(g, sizes[-1], state) else 0.0
                self.epochs.append([sizes[-1], before + learned])
        self.epochs = [each for each in self.epochs if each[0] > 0.0] + [
            [state.size, state.bettor.squares * state.size**2]
        ]
        self.w, self.too_large = np.array(self.w), np.abs(self.g) > np.array(sizes)
        self.jumps = np.where(self.too_large, np.abs(self.g * self.w), 0.0)

    def is_learned(self, g, size, state):
        return abs(g) <= min(size, self.learner.slack * state.largest.smallest())

    def largest_ratio(self):
        """The largest regret over its bound, over all sets that leave out at most k rounds, and some u."""
        learner, worst = self.learner, 0.0
        inliers = subsets(len(self.g))
        inliers = inliers[(~inliers).sum(axis=1) <= learner.k]
        epochs = [(size, squares) for size, squares in self.epochs if size > 0.0]
        G = np.where(inliers, np.abs(self.g), 0.0).max(axis=1)
        J, losses = inliers @ self.jumps, inliers @ (self.w * self.g)
        for far in (0.0, 0.01, 1.0, 30.0):
            for u in {far, -far}:
                regrets = losses - u * (inliers @ self.g)
                for each in range(len(inliers)):
                    most = bounds.theorem_u_epochs(
                        far,
                        learner.k,
                        float(G[each]),
                        epochs,
                        float(J[each]),
                        learner.radius,
                        learner.tax,
                        learner.slack,
                    )
                    rounding = 1e-9 * (
                        1.0 + float(np.abs(self.g).max()) * (far + float(np.abs(self.w).max()))
                    )
                    assert regrets[each] <= most + rounding, (learner, self.g, inliers[each], u)
                    worst = max(worst, float(regrets[each]) / most if most > 1e-6 else 0.0)
        return worst


@pytest.mark.parametrize("settings", SETTINGS, ids=repr)
def test_u_prime_holds_for_every_set_of_inliers(settings):
    learner = hf.learners.ReservedEpochs(**settings)
    ratios = [Played(learner, attack(learner, 4 + seed % 7, seed)).largest_ratio() for seed in range(40)]
    print(f"the largest ratio: {max(ratios):.3f}")
    assert max(ratios) > 0.03


@pytest.mark.slow
def test_u_prime_holds_in_longer_games():
    for settings in SETTINGS:
        learner = hf.learners.ReservedEpochs(**settings)
        for seed in range(150):
            Played(learner, attack(learner, 12, 1_000 + seed)).largest_ratio()


@pytest.mark.parametrize("k", [0, 3])
def test_an_epoch_ends_when_the_threshold_exceeds_its_size(k):
    learner = hf.learners.ReservedEpochs(k)
    state, seen = learner.init(1), [0.0] * (k + 1)
    for size in 2.0 ** np.random.default_rng(0).normal(0.0, 4.0, 200).cumsum().clip(-50, 50):
        before = state.size
        state = learner.update(state, Round(float(size), np.ones(1)))
        seen.append(float(size))
        threshold = 2.0 * sorted(seen)[-(k + 1)]
        assert state.size == (2.0 * threshold if threshold > before else before)


def test_it_learns_without_knowing_the_size_and_withstands_outliers():
    """The loss 1000 |w - 30|, radius 10, and every 1,000th gradient is 10^9 the wrong way."""
    learner = hf.learners.ReservedEpochs(k=10, radius=10.0)
    state = learner.init(1)
    for t in range(10_000):
        w = float(learner.predict(state)[0])
        g = 1e9 if t % 1_000 == 10 else math.copysign(1e3, w - 30.0)
        state = learner.update(state, Round(g, np.ones(1)))
    assert abs(float(learner.predict(state)[0]) - 30.0) < 3.0 and state.size == 4e3


@pytest.mark.parametrize("g", [math.inf, math.nan, 1e308])
def test_what_is_no_size_changes_nothing(g):
    learner = hf.learners.ReservedEpochs(1)
    state = learner.init(1)
    for _ in range(5):
        state = learner.update(state, Round(0.5, np.ones(1)))
    w = state.bettor.w.copy()
    after = learner.update(state, Round(g, np.ones(1)))
    assert same(after, state) and same(w, after.bettor.w)


@pytest.mark.parametrize("wrong", [{"k": -1}, {"k": 1, "tax": -1.0}, {"k": 1, "slack": 1.0}])
def test_wrong_parameters_raise_an_error_with_the_value(wrong):
    with pytest.raises(ValueError, match="got"):
        hf.learners.ReservedEpochs(**wrong)
    with pytest.raises(TypeError, match="Bounded"):
        hf.learners.ReservedEpochs(1, domain=hf.Ball(1.0))
