"""The lower bounds hold for a learner with a filter, one without, and one that never moves."""

import numpy as np
import pytest
from theorems.trials import mean_and_error

import holdfast as hf
from holdfast.adversaries import IidLowerBound, StronglyConvexLowerBound

SEEDS = 300


@hf.rule
class Still:
    def init(self, dim):
        return np.zeros(dim)

    def predict(self, state):
        return state

    def update(self, state, round):
        return state


def players(k, domain, step):
    return {
        "still": hf.Filtered(Still(), hf.Everything()),
        "ogd": hf.Filtered(hf.OGD(domain, step), hf.Everything()),
        "filtered": hf.Filtered(hf.OGD(domain, step), hf.TopK(k)),
    }


def robust_regret(player, adversary):
    """R_T(u, 𝒮) for the adversary's own u and 𝒮, and the G(𝒮) that was met."""
    record = hf.play(player, adversary, keep=("losses", "sizes"), compiled=False)
    rounds, state = np.flatnonzero(adversary.inliers), adversary.start()
    best = [adversary.reveal(state, t, adversary.comparator)[1] for t in rounds]
    return record.losses[rounds].sum() - np.sum(best), record.size[rounds].max(initial=0.0)


@pytest.mark.parametrize("name", ["still", "ogd", "filtered"])
def test_iid_losses_cost_every_learner_a_quarter_of_d_g_k(name):
    k, G, W = 12, 3.0, 0.5
    player = players(k, hf.domains.Interval(-W, W), hf.learners.Adaptive())[name]
    regrets = [robust_regret(player, IidLowerBound(k, 40, G, W, seed))[0] for seed in range(SEEDS)]
    mean, error = mean_and_error(regrets)
    assert abs(mean - 2.0 * W * G * k / 4.0) <= 4.0 * error


@pytest.mark.parametrize("name", ["still", "ogd", "filtered"])
def test_strongly_convex_losses_cost_every_learner_a_sixteenth_of_g_g_k_over_sigma(name):
    k, sigma, W = 12, 2.0, 1.5
    player = players(k, hf.domains.Interval(-W, W), hf.StronglyConvex(sigma))[name]
    surplus, regrets = [], []
    for seed in range(SEEDS):
        regret, G = robust_regret(player, StronglyConvexLowerBound(k, 40, sigma, W, seed))
        assert 2.0 * sigma * W >= G
        regrets.append(regret - sigma * W**2 * k / 4.0)
        surplus.append(regret - G**2 * k / (16.0 * sigma))
    for mean, error in (mean_and_error(regrets), mean_and_error(surplus)):
        assert mean >= -4.0 * error


@pytest.mark.parametrize("cls", [IidLowerBound, StronglyConvexLowerBound])
def test_only_the_first_k_rounds_hold_outliers_and_about_half_do(cls):
    outliers = sum((~cls(12, 40, seed=seed).inliers).astype(int) for seed in range(SEEDS))
    assert outliers[12:].sum() == 0
    assert (abs(outliers[:12] - SEEDS / 2) <= 4.5 * np.sqrt(SEEDS / 4)).all()


@pytest.mark.parametrize("cls", [IidLowerBound, StronglyConvexLowerBound])
def test_the_domain_contains_the_comparator(cls):
    adversary = cls(3, 10, W=2.0)
    assert adversary.domain.contains(adversary.comparator)
    assert abs(adversary.comparator[0]) == 2.0
    with pytest.raises(ValueError, match="expected 0 <= k <= 10, got 11"):
        cls(11, 10)
