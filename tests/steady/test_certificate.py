"""The certificate of the default: what it says. `theorems/test_default.py`: that it holds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast as hf
from holdfast.filters import Everything, Quantile, TopK, TopShare
from holdfast.learners import Bettors
from holdfast.steady import Logits, Steady, choice
from holdfast.steady.certificate import default_certificate, left_out_at_most
from holdfast.steady.choice import ridges_for
from holdfast.steady.residuals import PLACES, place_of, sum_of_largest


def state_of(player, rounds=300, labels=False):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rounds, 2))
    y = X @ [1.0, 2.0] + rng.standard_normal(rounds)
    loss = hf.Logistic() if labels else hf.Absolute()
    return hf.play(player, hf.Replay(X, np.sign(y) if labels else y, loss), compiled=False).state[0]


def test_it_can_be_read():
    text = str(default_certificate(Steady(), state_of(Steady()), k=4))
    assert text.startswith("Leave out any 4 of the 268 rounds that were judged since the last start. On the")
    assert "within 1 of those that it started from" in text and "Margins" not in text
    assert "32 other rounds" in text
    player = choice.steady_for(Logits())
    assert "Margins beyond 3 count as 3" in str(default_certificate(player, state_of(player, labels=True), 0))


def test_each_round_that_is_left_out_has_a_price():
    state = state_of(Steady())
    some = [default_certificate(Steady(), state, k) for k in (0, 1, 2, 268, 1000)]
    for name in ("over_fallback", "over_models"):
        none, one, two, all_of_them, more = (getattr(proof, name) for proof in some)
        assert 0.0 < two - one <= (one - none) * (1.0 + 1e-9)
        assert two < all_of_them == more < none + 268 * (one - none)
    assert some[0].bound == some[0].over_fallback


def test_a_larger_radius_costs_more_until_all_models_are_inside():
    state = state_of(Steady())
    most = [
        default_certificate(Steady(), state, 0, radius).over_models for radius in (0.1, 1.0, 100.0, 1000.0)
    ]
    assert most[0] < most[1] < most[2] == most[3]


@pytest.mark.parametrize("rounds", [0, 5, 8, 16, 32])
def test_before_and_right_after_a_start_there_is_nothing_to_prove(rounds):
    proof = default_certificate(Steady(), state_of(Steady(), rounds), 3)
    assert (proof.rounds, proof.recent, proof.others) == (0, 0, rounds)
    assert (proof.over_fallback, proof.over_models) == (0.0, 0.0)


def test_a_target_that_does_not_vary_at_first_is_judged_later():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 2))
    y = np.where(np.arange(300) < 40, 5.0, X[:, 0])
    state = hf.play(Steady(), hf.Replay(X, y, hf.Absolute()), compiled=False).state[0]
    assert default_certificate(Steady(), state, 0).rounds > 200


@pytest.mark.parametrize(
    ("player", "why"),
    [
        (choice.steady_for(ridges_for(hf.Squared())), "no theorem for Squared"),
        (Steady(weighted=True), "rounds with weights"),
        (Steady(fallback=Bettors(largest=10.0)), "the fallback cuts gradients"),
        (Steady(loss=hf.Huber(5.0)), "the fallback cuts gradients"),
    ],
    ids=["squared", "weighted", "far cells", "steep"],
)
def test_where_there_is_no_theorem_it_says_so(player, why):
    with pytest.raises(ValueError, match=why):
        default_certificate(player, player.init(2), 1)


@pytest.mark.parametrize(("k", "radius"), [(-1, 1.0), (1, 0.0), (1, math.inf)])
def test_numbers_that_make_no_sense_are_refused(k, radius):
    with pytest.raises(ValueError, match=r"k counts|radius is a distance"):
        default_certificate(Steady(), Steady().init(1), k, radius)


def test_gates_say_how_many_rounds_may_be_wrong():
    gates = (Everything(), TopK(7), TopShare(0.25), Quantile(0.9))
    assert [left_out_at_most(gate, 100) for gate in gates] == [0, 7, 40, None]


@given(st.lists(st.floats(0.0, 1e9), max_size=40), st.integers(0, 50))
def test_the_sum_of_the_largest_is_at_most_a_quarter_too_large(sizes, k):
    counts = np.zeros(PLACES)
    for size in sizes:
        counts[place_of(size)] += 1.0
    exact = sum(sorted(sizes)[::-1][:k])
    found = sum_of_largest(counts, k, max(sizes, default=0.0))
    assert exact * (1.0 - 1e-12) <= found <= exact * 1.25 + k * 2.0**-32
