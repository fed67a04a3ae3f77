"""Theorem B: certificates, for any filter, any learner and every set of k outliers."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from equivalents import inlier_sets
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import DOMAINS, FILTERS
from theorems.trials import (
    POISONERS,
    at_most_delta,
    budgets,
    clean,
    in_order,
    levels,
    played,
    streams,
    worst_up_to,
)

import holdfast as hf
from holdfast.adversaries import Chaser, Contrarian, QuantileStream, Tight


@hf.rule
class Scripted:
    """A filter with given decisions."""

    decisions: np.ndarray

    def init(self, dim):
        return 0

    def decide(self, state, size):
        return state + 1, 0.0, self.decisions[state % len(self.decisions)] > 0.0


class ErraticState(NamedTuple):
    w: np.ndarray
    n: int


@hf.rule
class Erratic:
    """A learner with random weights."""

    domain: Any
    seed: int

    def init(self, dim):
        return ErraticState(self.domain.center(dim), 0)

    def predict(self, state):
        return state.w

    def update(self, state, round):
        w = np.random.default_rng([self.seed, state.n]).normal(0.0, 5.0, len(round.x))
        return ErraticState(self.domain.project(w), state.n + 1)


def proves(proof, record, k):
    """Whether the certificate holds for every 𝒮 and u, tried one by one."""
    T = len(record.size)
    for inliers in inlier_sets(T, np.full(T, k)):
        G = record.size[inliers].max(initial=0.0)
        if not in_order(
            hf.regret.linearised_regret(record, inliers), proof.bounds[proof.sizes >= G][-1], scale=9 * G * T
        ):
            return False
    return True


domains = st.sampled_from(DOMAINS)


@settings(max_examples=100, deadline=None)
@given(streams(rounds=8, dim=2), st.sampled_from(FILTERS), domains, budgets)
def test_it_holds_for_any_filter(stream, filter, domain, k):
    record = played(hf.Filtered(hf.OGD(domain), filter), hf.Gradients(stream))
    assert proves(record.certificate(k), record, k)


@settings(max_examples=100, deadline=None)
@given(streams(rounds=8, dim=2), st.lists(st.booleans(), min_size=1, max_size=8), domains, budgets, st.data())
def test_it_holds_for_any_decisions_and_any_learner(stream, decisions, domain, k, data):
    learner = data.draw(st.sampled_from([hf.OGD(domain), Erratic(domain, seed=1)]))
    player = hf.Filtered(learner, Scripted(np.array(decisions, float)))
    record = played(player, hf.Gradients(stream))
    assert proves(record.certificate(k), record, k)
    certified = hf.play(hf.Certified(player, k=3), hf.Gradients(stream), keep=(), compiled=False)
    assert proves(certified.certificate(k), record, k)


@settings(max_examples=40, deadline=None)
@given(streams(rounds=60, dim=1), st.sampled_from(FILTERS), st.integers(0, 6))
def test_it_holds_for_the_worst_inliers_of_longer_streams(stream, filter, k):
    record = played(hf.Filtered(hf.OGD(hf.domains.Interval(-1.0, 1.0)), filter), hf.Gradients(stream))
    proof = record.certificate(k)
    for G in levels(record, k):
        assert in_order(worst_up_to(record, G, k).regret, proof.at(G), scale=2.0 * G * len(stream))


@pytest.mark.parametrize("filter", FILTERS, ids=repr)
def test_it_holds_against_adaptive_adversaries(filter):
    k, contrarian = 5, Contrarian(120, dim=2, G=2.0)
    for adversary in (contrarian, Chaser(contrarian, k)):
        record = played(hf.Filtered(hf.OGD(hf.Ball(1.0)), filter), adversary)
        for G in levels(record, k):
            assert in_order(worst_up_to(record, G, k).regret, record.certificate(k).at(G))


@pytest.mark.parametrize("poisoner", POISONERS)
def test_it_holds_on_poisoned_data_and_is_below_theorem_1(poisoner):
    k = 20
    poisoned = poisoner(clean(hf.Logistic(), seed=12), k)
    record = played(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(k)), poisoned)
    proof, B = record.certificate(k), hf.regret.linearised_regret(record, record.kept)
    G = max(record.sizes[poisoned.inliers].max(), proof.sizes[-1])
    assert in_order(hf.regret.linearised_regret(record, poisoned.inliers), proof.at(G), B + 4.0 * 2.0 * G * k)


def test_a_compiled_certified_player_proves_the_same():
    k, G = 4, np.random.default_rng(13).standard_normal((3000, 2))
    G[::700] *= 1e6
    player = hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(2))
    record = played(player, hf.Gradients(G))
    certified = hf.play(hf.Certified(player, k=5), hf.Gradients(G), keep=(), compiled=True)
    proof = certified.certificate(k)
    assert proof.bounds == pytest.approx(record.certificate(k).bounds)
    for level in levels(record, k):
        assert in_order(worst_up_to(record, level, k).regret, proof.at(level))


def test_on_the_tight_sequence_it_is_nearly_attained():
    tight = Tight(k=20)
    record = played(hf.Filtered(hf.OGD(tight.domain), hf.TopK(20)), tight)
    regret, bound = hf.regret.linearised_regret(record, tight.inliers), record.certificate(20).at(tight.G)
    assert 0.9 * bound <= regret <= bound


@pytest.mark.parametrize(("p", "atom"), [(0.8, 0.0), (0.5, 0.3)])
def test_the_certificate_for_quantiles_holds_as_often_as_it_says(p, atom):
    T, confidence, failed = 200, 0.8, []
    player = hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.Quantile(p, horizon=T))
    for seed in range(60):
        stream = QuantileStream(p, T, 2, seed, G=2.0, atom=atom)
        record = played(player, stream)
        bound, quantile = record.quantile_certificate(p + atom / 2, confidence)
        failed.append(quantile < 2.0 or hf.regret.linearised_regret(record, stream.inliers) > bound)
    assert at_most_delta(failed, 1.0 - confidence)
