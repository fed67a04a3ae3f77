"""The guard: what any of its filters skips changes nothing, and its theorem."""

import copy
import math
import pickle
from typing import NamedTuple

import numpy as np
import pytest
from guards import guarded
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import like, same
from samples import slow

import holdfast as hf
from holdfast import bounds
from holdfast.defaults import filters_for, recommended
from holdfast.options import LEARNER
from holdfast.rounds import Round

KEEP = ("losses", "sizes", "thresholds", "kept", "predictions", "refused_by", "farthest")
ALL = (*KEEP, "final")


def data(regression, rounds=800, sparse=False):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((rounds, 4)) * [1.0, 100.0, 0.01, 1.0]
    if sparse:
        X[rng.random(X.shape) < 0.6] = 0.0
    X[:, 3] = np.where(np.arange(rounds) < rounds // 2, 5.0, rng.random(rounds) < 0.1)
    y = X @ [1.0, 0.01, 100.0, 1.0] + 0.1 * rng.standard_normal(rounds)
    y = y if regression else np.sign(y)
    bad = np.flatnonzero(rng.random(rounds) < 0.05)
    X[bad[::3]] *= 1e6
    y[bad[1::3]] *= -1e4 if regression else -1.0
    X[bad[2::6]], X[bad[5::6]] = math.nan, 1e300
    X[77, 1], y[78] = -math.inf, math.nan
    return X, y


@pytest.mark.parametrize(
    "regression, is_sparse, outliers",
    [
        slow((True, False, "auto")),  # compiling takes 7 s; tests/test_laws.py has smaller ones
        slow((False, True, "auto")),
        pytest.param(True, False, 20, marks=pytest.mark.exhaustive),
        pytest.param(False, False, hf.Quantile(0.9), marks=pytest.mark.exhaustive),
    ],
    ids=str,
)
def test_both_worlds_give_the_same_bits(regression, is_sparse, outliers):
    X, y = data(regression, sparse=is_sparse)
    if is_sparse:
        X = pytest.importorskip("scipy.sparse").csr_array(X)
    replay = hf.Replay(X, y, hf.Absolute() if regression else hf.Logistic())
    player = recommended(regression, outliers, learner=LEARNER)
    interpreted, compiled = (hf.play(player, replay, keep=KEEP, compiled=world) for world in (False, True))
    for column in ALL:
        assert same(getattr(interpreted, column), getattr(compiled, column)), column
    assert like(interpreted.state, compiled.state)


@pytest.mark.parametrize("regression", [False, True])
def test_a_skipped_round_leaves_every_bit_of_the_learner_as_it_was(regression):
    X, y = data(regression)
    loss = hf.Absolute() if regression else hf.Hinge()
    player = hf.Player(recommended(regression, learner=LEARNER), dim=4, compiled=False)
    reasons = set()
    for x, target in zip(X, y, strict=True):
        before = copy.deepcopy(player.state.learner)
        decision = player.learn(x, target, loss)
        if not decision.kept:
            after = player.state.learner
            assert same(before._replace(row=after.row), after)
            several = zip(decision.sizes, decision.thresholds, strict=True)
            reasons.add(tuple(size <= threshold for size, threshold in several))
    assert {(False, True, True), (False, False, False)} <= reasons  # the features alone; nothing measurable
    assert not regression or (True, False, True) in reasons


@pytest.mark.parametrize(
    "x, y", [(math.nan, 1.0), (math.inf, 1.0), (-math.inf, 1.0), (1.0, math.nan), (1.0, math.inf)]
)
def test_what_is_not_finite_is_remembered_nowhere(x, y):
    player = hf.Player(recommended(True, learner=LEARNER), dim=1, compiled=False)
    for t in range(100):
        player.learn([float(t % 7)], float(t % 5), hf.Absolute())
    before = copy.deepcopy(player.state)
    decision = player.learn([x], y, hf.Absolute())
    assert not decision.kept
    after = player.state
    assert same(before[1:], after[1:])
    assert same(before.learner._replace(row=after.learner.row), after.learner)


def test_a_huge_row_that_is_classified_right_does_not_ruin_the_scale():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 1))
    y = np.sign(X[:, 0])
    X[1000::100] *= 1e9
    record = hf.play(recommended(False), hf.Replay(X, y, hf.Logistic()), keep=["kept", "predictions"])
    assert not record.kept[1000::100].any()
    assert (np.sign(record.predictions) == y)[200:].mean() > 0.97


def test_a_huge_target_does_not_ruin_the_scale():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 1))
    y = X[:, 0].copy()
    y[1000::100] = 1e9
    record = hf.play(
        recommended(True, learner=LEARNER), hf.Replay(X, y, hf.Absolute()), keep=["kept", "predictions"]
    )
    assert not record.kept[1000::100].any()
    assert np.abs(record.predictions - X[:, 0])[1000:].mean() < 0.1


rows = st.tuples(st.floats(-1.0, 1.0), st.floats(-1.0, 1.0), st.sampled_from([-1.0, 1.0]))
sizes = st.sampled_from([1.0, 3.0, 30.0, 1e6])


@settings(max_examples=60)
@given(
    st.lists(st.tuples(rows, sizes, st.booleans()), min_size=5, max_size=80),
    st.integers(0, 3),
    st.sampled_from([2.0, 3.0]),
)
def test_theorem_h(stream, k, slack):
    """A learner without scales, L = 1; the outliers are the k largest rounds."""
    X = np.array([[size * a, size * b] for (a, b, _), size, _ in stream])
    y = np.array([-label if flipped else label for (_, _, label), _, flipped in stream])
    learner, D = hf.OGD(hf.Ball(1.0)), 2.0
    topk = hf.TopK(k, slack=slack)
    record = hf.play(
        guarded(learner, topk, topk, topk),
        hf.Replay(X, y, hf.Hinge()),
        keep=(*KEEP, "products", "gradients"),
        compiled=False,
    )
    order = np.argsort(-np.maximum(record.sizes[:, 0], record.size), kind="stable")
    outliers = order[:k]
    inliers = np.ones(len(y), bool)
    inliers[outliers] = False
    A, G = record.sizes[:, 0][inliers].max(), record.size[inliers].max()
    kept = record.kept
    assert (record.sizes[:, 0][kept] <= slack * A).all() and (record.size[kept] <= slack * G).all()
    regret = record.products[inliers].sum() + np.linalg.norm(record.gradients[inliers].sum(axis=0))
    learned = math.sqrt(2.0) * D * math.sqrt((record.size[kept] ** 2).sum())
    bound = bounds.theorem_h(learned, D, slack * G, k, [(G, k, slack), (A, k, slack)], error=0.0)
    assert regret <= bound * (1.0 + 1e-12) + 1e-9


@pytest.mark.parametrize("compiled", [False, slow(True)])
def test_two_halves_give_the_bits_of_one_game(compiled):
    X, y = data(True)
    player = recommended(True, learner=LEARNER)
    whole = hf.play(player, hf.Replay(X, y, hf.Absolute()), keep=KEEP, compiled=False)
    first = hf.play(player, hf.Replay(X[:333], y[:333], hf.Absolute()), keep=KEEP, compiled=compiled)
    second = hf.play(
        player, hf.Replay(X[333:], y[333:], hf.Absolute()), keep=KEEP, after=first, compiled=False
    )
    for column in ALL[:-1]:
        assert same(np.concatenate([getattr(first, column), getattr(second, column)]), getattr(whole, column))
    assert same(second.final, whole.final)


def test_a_filter_can_restart_the_learner():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((2000, 2)), np.where(rng.random(2000) < 0.5, 1.0, -1.0)
    player = guarded(hf.Scaled(hf.OGD(hf.Ball(1.0))), *[hf.Quantile(0.9)] * 3)
    record = hf.play(player, hf.Replay(X, y, hf.Hinge()), keep=["iterates", "kept"], compiled=False)
    starts = np.flatnonzero((record.iterates == 0.0).all(axis=1))
    assert {1024, 1025} <= set(starts.tolist())


class Count(NamedTuple):
    n: int


@hf.rule
class Every:
    """A filter that keeps every round and ends an epoch after each `length` rounds that it judged."""

    length: int

    def init(self, dim):
        return Count(0)

    def decide(self, state, size):
        return Count(state.n + 1), math.inf, True

    def restarts(self, state):
        return state.n > 0 and state.n % self.length == 0


@hf.rule
class Counting:
    """A learner whose only weight is the number of rounds it has learned from."""

    def init(self, dim):
        return np.zeros(dim)

    def predict(self, state):
        return state

    def update(self, state, round):
        state[:] += 1.0
        return state


def counted(y, finite, lengths, labels):
    """The weight of `Counting` in each round: a restart is due once, in the round after an epoch ended."""
    weights, weight, due, judged = [], 0, False, {}
    for label, measured in zip(y, finite, strict=True):
        weight = 0 if due else weight
        weights.append(weight)
        due = False
        if measured:
            weight += 1
            for name, length in zip(("features", "target", "gradient"), lengths, strict=True):
                memory = (name, label < 0) if labels and name == "gradient" else (name, False)
                judged[memory] = judged.get(memory, 0) + 1
                due = due or judged[memory] % length == 0
    return weights


def epochs(y, finite, lengths, labels):
    X = np.where(finite, 1.0, math.nan)[:, None]
    return guarded(Counting(), *map(Every, lengths), labels=labels), hf.Replay(X, y, hf.Linear())


long = 10**6
rounds_of_labels = st.lists(st.tuples(st.sampled_from([-1.0, 1.0]), st.sampled_from([True] * 4 + [False])))


@given(rounds_of_labels, st.tuples(*[st.sampled_from([1, 2, 3, 5, long])] * 3), st.booleans())
def test_a_learner_restarts_once_for_each_epoch_that_ends(rounds, lengths, labels):
    y, finite = np.array([y for y, _ in rounds]), np.array([finite for _, finite in rounds], bool)
    player, replay = epochs(y, finite, lengths, labels)
    iterates = hf.play(player, replay, keep=["iterates"], compiled=False).iterates if rounds else []
    assert [w for (w,) in iterates] == counted(y, finite, lengths, labels)


def test_epochs_end_alike_compiled_in_parts_and_after_a_copy():
    rng = np.random.default_rng(4)
    y, finite = np.where(rng.random(60) < 0.2, -1.0, 1.0), rng.random(60) < 0.7
    player, replay = epochs(y, finite, (9, long, 4), True)
    expected = counted(y, finite, (9, long, 4), True)
    assert hf.play(player, replay, keep=["iterates"], compiled=True).iterates[:, 0].tolist() == expected
    one = hf.Player(player, dim=1, compiled=False)
    for t in range(60):
        assert one.predict() == expected[t]
        one = pickle.loads(pickle.dumps(one))
        first = hf.play(player, replay, t, keep=["iterates"], compiled=t % 2 == 0)
        rest = hf.Replay(replay.X[t:], y[t:], hf.Linear())
        then = hf.play(
            player, rest, keep=["iterates"], after=pickle.loads(pickle.dumps(first)), compiled=False
        )
        assert [*first.iterates[:, 0], *then.iterates[:, 0]] == expected
        one.learn(replay.X[t], y[t], hf.Linear())


def test_a_label_that_is_absent_does_not_restart_the_learner():
    rng = np.random.default_rng(0)
    X, y = 1.0 + 0.1 * rng.random((2000, 1)), np.where(np.arange(2000) < 1024, -1.0, 1.0)
    player = guarded(hf.OGD(hf.Ball(1.0)), hf.Everything(), hf.Everything(), hf.Quantile(0.9), labels=True)
    record = hf.play(player, hf.Replay(X, y, hf.Logistic()), keep=["iterates", "kept"], compiled=False)
    after = record.iterates[1025:, 0][record.kept[1025:].cumsum() > 1]
    assert len(after) > 800 and (after > 0.0).all()


@pytest.mark.parametrize(
    "outliers, filter",
    [(0, hf.Everything()), (0.02, hf.TopShare(0.02)), (7, hf.TopK(7)), (hf.TopK(1), hf.TopK(1))],
    ids=str,
)
def test_outliers_are_a_share_a_count_or_a_filter(outliers, filter):
    assert filters_for(outliers) == (filter,) * 3


@pytest.mark.parametrize("share", [slow(0.05), slow(0.005), slow(0.002)])
def test_a_rare_label_is_learned(share):
    rng, rounds = np.random.default_rng(0), 50_000
    y = np.where(rng.random(rounds) < share, 1.0, -1.0)
    X = rng.standard_normal((rounds, 10))
    X[y > 0.0, :2] += 4.0
    replay = hf.Replay(X, y, hf.Logistic())
    predictions = hf.play(recommended(False), replay, keep=["predictions"], compiled=True).predictions
    late = np.arange(rounds) > rounds // 2
    assert (predictions > 0.0)[late & (y > 0.0)].mean() > 0.7
    assert (predictions > 0.0)[late & (y < 0.0)].mean() < 0.01


def test_wild_rows_at_the_start_are_survived():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((3000, 3))
    y = X.sum(axis=1)
    X[[0, 2, 5]], y[[1, 6]] = 1e9, -1e12
    for target, loss, rule in ((y, hf.Absolute(), True), (np.sign(y), hf.Logistic(), False)):
        record = hf.play(
            recommended(rule, learner=LEARNER),
            hf.Replay(X, target, loss),
            keep=["predictions"],
            compiled=False,
        )
        errors = np.abs(record.predictions - target) if rule else record.predictions * target <= 0.0
        assert errors[1000:].mean() < 0.1


@pytest.mark.parametrize(
    "outliers, error",
    [("many", ValueError), (-1, ValueError), (1.5, ValueError), (math.nan, ValueError), (None, TypeError)],
)
def test_impossible_numbers_of_outliers_are_refused(outliers, error):
    with pytest.raises(error, match="outliers"):
        filters_for(outliers)


def test_nothing_is_skipped_where_nothing_is_odd():
    X = np.random.default_rng(0).standard_normal((3000, 3))
    record = hf.play(recommended(False), hf.Replay(X, np.sign(X[:, 0]), hf.Logistic()), keep=["kept"])
    assert (~record.kept).sum() < 60  # the first ones, until the filters trust what they have seen


# -- other sizes than the gradient's


@pytest.mark.parametrize(
    "on", [hf.measures.Gradient(), hf.Features(), hf.measures.Range(), hf.measures.LossForm(2.0)], ids=repr
)
def test_rounds_are_measured_as_by_filtered(on):
    X, y = data(regression=True, rounds=200)
    replay, learner = (
        hf.Replay(X, y, hf.Squared()),
        hf.EG(0.1) if on == hf.measures.Range() else hf.OnlineRidge(),
    )
    player = guarded(learner, hf.Everything(), hf.Everything(), hf.TopK(20), on=on)
    alone, behind = hf.play(hf.Filtered(learner, hf.TopK(20), on=on), replay), hf.play(player, replay)
    assert same(alone.kept, behind.kept) and same(alone.final, behind.final)
    measured = np.isfinite(alone.size)
    assert np.array_equal(alone.size[measured], behind.size[measured])


def test_the_loss_form_is_that_of_the_row_as_the_learner_sees_it():
    X, y = data(regression=True, rounds=100)
    scaled, form = hf.Scaled(hf.OnlineRidge(), target=True), hf.measures.LossForm(3.0)
    guard = guarded(scaled, hf.Everything(), hf.Everything(), hf.Everything(), on=form)
    player = hf.Player(guard, dim=4, compiled=False)
    for x, target in zip(X[:50], y[:50], strict=True):
        player.learn(x, target, hf.Squared())
    standing = copy.deepcopy(player.state.learner)
    seen = scaled.in_units(standing, Round(0.0, X[50], y[50]))
    row, aim = seen.row.copy(), seen.target
    z = float(standing.inner.w @ row)
    r = 3.0 * np.linalg.norm(row)
    verdict = player.learn(X[50], y[50], hf.Squared())
    assert verdict.size == pytest.approx((abs(z) + r) * (abs(z) / 2 + r / 2 + abs(aim)))


def test_a_huge_target_is_skipped_by_its_loss_form():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((300, 3)), rng.standard_normal(300)
    y[100::50] = 1e9
    player = guarded(hf.VAW(), hf.TopK(6), hf.Everything(), hf.TopK(6), on=hf.measures.LossForm(2.0))
    record = hf.play(player, hf.Replay(X, y, hf.Squared()))
    assert not record.kept[100::50].any() and np.abs(record.final).max() < 1.0


# -- checks of any number


@hf.rule
class Constant:
    """A measure of 1 in every round."""

    def name(self):
        return "constant"

    def size_of(self, learner, state, norm, round, size):
        return 1.0


FOUR = (
    hf.Check(hf.Features(), hf.TopK(3)),
    hf.LabelCheck(hf.Gradient(), hf.TopShare(0.1)),
    hf.Check(Constant(), hf.TopK(0)),
    hf.Check(hf.Target(), hf.Everything()),
)


@pytest.mark.parametrize("count", [slow(1), slow(2), slow(3), 4])
def test_any_number_of_checks_decide_as_their_filters_do(count):
    """Each filter alone, on the sizes of the record, with a memory for each label where there are two."""
    X, y = data(regression=False, rounds=300)
    player = hf.Guarded(hf.OGD(hf.Ball(1.0)), FOUR[:count])
    replay = hf.Replay(X, y, hf.Logistic())
    record = hf.play(player, replay, keep=KEEP, compiled=count == 4)
    assert record.sizes.shape == (300, count) and record.checks == player.check_names()
    memories, expected = {}, []
    for t in range(300):
        keeps = []
        for k, check in enumerate(FOUR[:count]):
            if np.isnan(record.thresholds[t]).all():
                keeps.append(False)  # not readable: no filter was asked
                continue
            place = (k, isinstance(check, hf.LabelCheck) and y[t] < 0.0)
            state = memories.get(place, check.filter.init(1))
            memories[place], threshold, kept = check.filter.decide(state, float(record.sizes[t, k]))
            assert record.thresholds[t, k] == threshold
            keeps.append(kept)
        expected.append(all(keeps))
    assert record.kept.tolist() == expected and 0 < sum(expected) < 300
    refused = record.refused_by[~record.kept]
    assert (record.refused_by[record.kept] == -1).all() and (refused < count).all()


def test_a_guard_without_checks_or_with_two_of_one_name_is_refused():
    learner, check = hf.OGD(hf.Ball(1.0)), hf.Check(hf.Features(), hf.TopK(3))
    with pytest.raises(ValueError, match="a guard needs a check"):
        hf.Guarded(learner, ())
    with pytest.raises(ValueError, match="two checks measure 'features'"):
        hf.Guarded(learner, (check, hf.LabelCheck(hf.Features(), hf.TopK(1))))
    with pytest.raises(TypeError, match=r"checks must be Check\(on, filter\)"):
        hf.Guarded(learner, (hf.TopK(3),))
    with pytest.raises(TypeError, match="a tuple of rules"):
        hf.Guarded(learner, check)


def test_a_target_has_no_unit_behind_filtered():
    with pytest.raises(TypeError, match=r"write Guarded\(learner, \(Check\(Target\(\), filter\),\)\)"):
        hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(1), on=hf.Target())
