"""Certificates against the worst comparator, for every set of inliers."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast as hf
from holdfast.regret import worst_case

KEEP = ("losses", "sizes", "thresholds", "kept", "products", "gradients")
entries = st.sampled_from([0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -3.0, 1e4, -1e4])
PLAYERS = [
    hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(2)),
    hf.Filtered(hf.OGD(hf.Box(-1.0, 3.0)), hf.TopK(1)),
    hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.Everything()),
    hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.Quantile(0.5, delta=0.3)),
]


def test_some_certificates_are_attained():
    """Over all short streams: never exceeded, and for some of them exact."""
    player, ratios = hf.Filtered(hf.OGD(hf.domains.Interval(-1.0, 1.0)), hf.TopK(1)), []
    for stream in itertools.product([1.0, -1.0, 0.5, -2.0], repeat=4):
        record = hf.play(player, hf.Gradients(np.array(stream)[:, None]), keep=KEEP)
        ratios.append(worst_case(record, 1).regret / record.certificate(1).bounds[0])
    assert max(ratios) == pytest.approx(1.0)


@given(st.lists(st.tuples(entries, entries), min_size=1, max_size=30), st.integers(0, 4))
def test_a_certificate_of_top_k_is_never_worse_than_theorem_1(stream, k):
    record = hf.play(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(k)), hf.Gradients(np.array(stream)), keep=KEEP)
    proof, kept = record.certificate(k), record.kept
    regret = record.products[kept].sum() + hf.Ball(1.0).support(-record.gradients[kept].sum(axis=0))
    assert (proof.bounds <= regret + 4.0 * 2.0 * proof.sizes * k + 1e-6).all()


def test_the_text_states_the_bound_and_its_assumptions():
    G = np.random.default_rng(0).standard_normal((500, 2))
    G[100], G[200] = 1e6, math.nan
    record = hf.play(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(1)), hf.Gradients(G), keep=KEEP)
    text = str(record.certificate(1))
    assert "every set of at most 1 outliers" in text
    assert "assumes convex losses" in text
    assert "1 more rounds had no finite size" in text
    assert "there may be more outliers" not in text


def test_the_text_doubts_a_budget_that_the_run_contradicts():
    G = np.random.default_rng(0).uniform(0.5, 1.0, (500, 1))
    G[[100, 200, 300]] = 1e6
    record = hf.play(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(3)), hf.Gradients(G), keep=KEEP)
    assert "there may be more outliers" in str(record.certificate(2))
    assert not record.certificate(3).doubts


def test_the_bound_for_a_size_is_that_of_the_next_larger_pair():
    G = np.array([[1.0], [2.0], [4.0], [8.0]])
    record = hf.play(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(1)), hf.Gradients(G), keep=KEEP)
    proof = record.certificate(1)
    assert proof.at(5.0) == proof.bounds[0]
    assert proof.at(4.0) == proof.bounds[1] == proof.bound
    with pytest.raises(ValueError, match="between 4 and 8: got 3"):
        proof.at(3.0)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(entries, entries), min_size=1, max_size=40),
    st.sampled_from(PLAYERS),
    st.integers(0, 3),
)
def test_a_certified_player_has_the_same_certificate_as_the_record(stream, player, k):
    gradients = hf.Gradients(np.array(stream))
    whole = hf.play(player, gradients, keep=KEEP)
    certified = hf.play(hf.Certified(player, k=3), gradients, keep=(), compiled=False)
    after, before = whole.certificate(k), certified.certificate(k)
    assert np.array_equal(after.sizes, before.sizes)
    assert after.bounds == pytest.approx(before.bounds)
    assert after.doubts == before.doubts


def test_a_compiled_certified_player_has_the_same_certificate():
    G = np.random.default_rng(0).standard_normal((3000, 2))
    G[::100] *= 1e5
    G[7] = math.nan
    player = hf.Certified(PLAYERS[0], k=5)
    interpreted, compiled = (
        hf.play(player, hf.Gradients(G), keep=(), compiled=mode) for mode in (False, True)
    )
    assert interpreted.certificate(5).bounds.tolist() == compiled.certificate(5).bounds.tolist()
    state = compiled.state[0]
    assert (state.rows.shape, state.pulls.shape, state.gradients.shape) == ((7, 3), (5,), (2,))


def test_a_certified_player_refuses_a_larger_k():
    player = hf.Player(hf.Certified(PLAYERS[0], k=2), dim=1)
    player.observe([1.0])
    with pytest.raises(ValueError, match="at most 2 outliers: got k = 3"):
        player.certificate(3)
    with pytest.raises(TypeError, match="Certified"):
        hf.Player(PLAYERS[0], dim=1).certificate(1)


def test_a_certificate_exists_at_all_magnitudes():
    player = hf.Filtered(hf.OGD(hf.domains.Interval(-1.0, 1.0)), hf.Everything())
    proof = hf.play(player, hf.Gradients([[1e-300], [1e300]]), compiled=False).certificate(0)
    assert "there may be more outliers" in str(proof)


def test_a_record_with_its_default_columns_has_a_certificate():
    """As in the README. The game is played again with a `Certified` player."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((400, 3)), np.sign(rng.standard_normal(400))
    X[::50] *= 1e4
    replay = hf.Replay(X, y, hf.Logistic())
    usual, full = hf.play(PLAYERS[0], replay), hf.play(PLAYERS[0], replay, keep=KEEP)
    assert usual.certificate(k=8).bounds == pytest.approx(full.certificate(k=8).bounds)
    assert usual.quantile_certificate(0.9) == pytest.approx(full.quantile_certificate(0.9))
    assert hf.regret.linearised_regret(usual) == pytest.approx(hf.regret.linearised_regret(full))


def test_the_second_part_of_a_game_cannot_be_played_again():
    replay = hf.Replay(np.ones((10, 1)), np.ones(10), hf.Hinge())
    second = hf.play(PLAYERS[0], replay, after=hf.play(PLAYERS[0], replay, rounds=5))
    with pytest.raises(ValueError, match="the record has no products"):
        second.certificate(k=1)


@pytest.mark.parametrize(
    "learner", [hf.learners.Reserved(2), hf.learners.Clipped(hf.learners.FreeGrad())], ids=repr
)
def test_a_learner_without_a_domain_has_a_certificate_for_comparators(learner):
    """Against every u on the edge of a ball, and every set that leaves out at most 2 of a few rounds."""
    rng = np.random.default_rng(3)
    G = rng.choice([-1.0, -0.5, 0.5, 1.0], (9, 2))
    record = hf.play(hf.Filtered(learner, hf.TopK(2)), hf.Gradients(G), keep=("losses", "sizes", "kept"))
    with pytest.raises(ValueError, match="unbounded"):
        record.certificate(2)
    ball = hf.Ball(3.0)
    bound = record.certificate(2, comparators=ball).bounds.max()
    worst = 0.0
    for left in itertools.chain(*(itertools.combinations(range(9), n) for n in range(3))):
        inliers = np.ones(9, bool)
        inliers[list(left)] = False
        total = G[inliers].sum(axis=0)
        worst = max(worst, float(record.losses[inliers].sum()) + ball.support(-total))
    assert 0.0 < worst <= bound < 4.0 * worst


def test_comparators_of_the_domain_give_the_certificate_of_the_domain():
    G = np.random.default_rng(4).standard_normal((200, 3))
    record = hf.play(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(3)), hf.Gradients(G))
    own, given = record.certificate(3), record.certificate(3, comparators=hf.Ball(1.0))
    assert given.bounds == pytest.approx(own.bounds)
    with pytest.raises(ValueError, match="unbounded"):
        record.certificate(3, comparators=hf.domains.Everywhere())
