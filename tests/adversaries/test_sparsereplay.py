"""Sparse rows give the same game as dense rows, in time proportional to their nonzeros."""

import math
import pickle

import numpy as np
import pytest
from laws import WITH_AVERAGE, like, same
from samples import FILTERS, thinned
from scipy import sparse

import holdfast as hf
from holdfast.adversaries import Chaser, Contaminated, Contrarian, SparseReplay
from holdfast.vectors import LazyWeights

DIM = 30
ALL = (*WITH_AVERAGE, "products", "gradients", "iterates")


def rows(rounds=600, dim=DIM, seed=0, wild=True):
    """Rows with 0 to 6 nonzeros, and labels. Some rows are outliers, and if `wild` some are not finite."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rounds, dim)) * (rng.random((rounds, dim)) < 0.1)
    y = np.where((X * np.linspace(-1, 1, dim)).sum(axis=1) + 0.3 * rng.standard_normal(rounds) > 0, 1.0, -1.0)
    X[rng.random(rounds) < 0.02] *= 1e4
    if wild:
        X[7, 1], X[20, 2], X[33, 3], X[34, 3], y[11] = math.nan, math.inf, 1e300, -1e300, math.nan
    X[40] = 0.0
    return X, y


def test_replay_of_a_sparse_matrix_is_a_sparse_replay():
    X, y = rows()
    replay = hf.Replay(sparse.csr_array(X), y, hf.Hinge())
    assert isinstance(replay, SparseReplay)
    assert replay.extent() == X.shape
    assert replay.is_sparse() and not hf.Replay(X, y, hf.Hinge()).is_sparse()
    assert pickle.loads(pickle.dumps(replay)) == replay


def agree(player, X, y, loss=None, keep=ALL, compiled=False):
    """Play dense and sparse rows, and check that they differ only by rounding."""
    loss = hf.Logistic() if loss is None else loss
    plain = hf.play(player, hf.Replay(X, y, loss), keep=keep, compiled=compiled)
    record = hf.play(player, hf.Replay(sparse.csr_array(X), y, loss), keep=keep, compiled=compiled)
    assert np.array_equal(plain.kept, record.kept)
    assert plain.unmeasured_count == record.unmeasured_count
    for name in ("losses", "sizes", "thresholds", "products", "iterates"):
        if name in keep:
            np.testing.assert_allclose(getattr(record, name), getattr(plain, name), rtol=1e-9, atol=1e-9)
    if "gradients" in keep:  # in unmeasured rounds, gradients of dense rows are NaN also where x is 0
        measured = np.isfinite(plain.size)
        np.testing.assert_allclose(
            record.gradients[measured], plain.gradients[measured], rtol=1e-9, atol=1e-9
        )
    np.testing.assert_allclose(record.final, plain.final, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(record.average, plain.average, rtol=1e-9, atol=1e-9)
    return plain, record


@pytest.mark.parametrize("radius", [0.5, 40.0], ids=["binding", "wide"])
@pytest.mark.parametrize("filter", FILTERS, ids=repr)
def test_every_filter_plays_the_same_game_as_with_dense_rows(filter, radius):
    """Steps have the same length in both balls: long ones would make large rounding errors."""
    X, y = rows(1500)
    ogd = hf.OGD(hf.Ball(radius), hf.learners.Adaptive(1.0 / radius))
    plain, record = agree(hf.Filtered(ogd, filter), X, y, keep=ALL[:5])
    assert plain.unmeasured_count == 3
    if plain.kept_count > 100:
        assert (np.linalg.norm(record.final) > 0.8 * radius) == (radius == 0.5)
    assert hf.Ball(radius).contains(record.final)


SHAPE = np.eye(DIM) + 0.2 * np.ones((DIM, DIM))


@pytest.mark.parametrize(
    "player",
    [
        *(
            hf.Filtered(hf.OGD(domain), hf.TopK(20))
            for domain in (
                hf.Ball(0.5),
                hf.Ball(0.5, around=0.1),
                hf.Box(-0.1, 0.2),
                hf.Simplex(),
                hf.domains.L1Ball(1.0),
                hf.domains.Ellipsoid(SHAPE),
            )
        ),
        *(
            hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(20), norm=norm)
            for norm in (hf.norms.L1(), hf.norms.LInf(), hf.norms.Lp(3.0), hf.norms.Mahalanobis(SHAPE))
        ),
        hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(20), on=hf.Features()),
        hf.Filtered(hf.OGD(hf.Ball(1.0), hf.StronglyConvex(0.5)), hf.TopK(20)),
        hf.Filtered(hf.learners.Fixed(np.linspace(-1.0, 1.0, DIM)), hf.TopK(20)),
        hf.Certified(hf.Filtered(hf.OGD(hf.Ball(0.5)), hf.TopK(20)), k=20),
    ],
    ids=lambda player: repr(player)[:70],
)
def test_every_domain_and_norm_plays_the_same_game_with_all_columns(player):
    X, y = rows()
    plain, record = agree(player, X, y)
    if isinstance(player, hf.Certified):
        assert record.certificate(20).bound == pytest.approx(plain.certificate(20).bound, rel=1e-9)


@pytest.mark.parametrize(
    "loss",
    [
        hf.Hinge(),
        hf.losses.SquaredHinge(),
        hf.Logistic(),
        hf.Absolute(),
        hf.Huber(),
        hf.Squared(),
        hf.Linear(),
    ],
    ids=repr,
)
def test_every_loss_plays_the_same_game(loss):
    agree(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(20)), *rows(), loss)


def test_only_a_ball_around_0_needs_no_pass_over_all_weights():
    X, y = rows()
    replay = hf.Replay(sparse.csr_array(X), y, hf.Hinge())
    for domain, lazy in ((hf.Ball(1.0), True), (hf.Ball(1.0, around=0.5), False), (hf.Box(-1.0, 1.0), False)):
        record = hf.play(hf.Filtered(hf.OGD(domain), hf.TopK(20)), replay)
        assert isinstance(record.state[0].learner.w, LazyWeights) == lazy


PLAYERS = [
    hf.Filtered(hf.OGD(hf.Ball(0.5)), hf.TopK(20)),
    hf.Filtered(hf.OGD(hf.Ball(0.5)), hf.TopShare(0.05)),
    hf.Filtered(hf.OGD(hf.Ball(5.0)), hf.Quantile(0.9, ranks="newsvendor", growth=1.5), on=hf.Features()),
    hf.Filtered(hf.OGD(hf.Box(-0.1, 0.1)), hf.TopK(20), norm=hf.norms.L1()),
    hf.Certified(hf.Filtered(hf.OGD(hf.Ball(0.5)), hf.TopK(20)), k=5),
]


TYPES = [(np.int32, np.float32), (np.int64, np.float64)]


@pytest.mark.parametrize(
    ("player", "places", "dtype"),
    thinned([(player, *types) for types in TYPES for player in PLAYERS], 10),
    ids=lambda part: repr(part)[:70],
)
def test_compiled_games_and_halves_give_the_same_bits(player, places, dtype):
    X, y = rows(1600)
    with np.errstate(all="ignore"):
        csr = sparse.csr_array(X.astype(dtype))
    csr.indices, csr.indptr = csr.indices.astype(places), csr.indptr.astype(places)

    def replay(first, last):
        part = csr[first:last]
        part.indices, part.indptr = part.indices.astype(places), part.indptr.astype(places)
        return hf.Replay(part, y[first:last], hf.Hinge())

    whole = hf.play(player, replay(0, 1600), keep=ALL, compiled=False)
    compiled = hf.play(player, replay(0, 1600), keep=ALL, compiled=True)
    for name in (*ALL, "final"):
        assert same(getattr(whole, name), getattr(compiled, name)), name
    assert like(whole.state, compiled.state)
    first = hf.play(player, replay(0, 1100), keep=ALL, compiled=True)
    second = hf.play(player, replay(1100, 1600), keep=ALL, after=first, compiled=True)
    third = hf.play(player, replay(1100, 1600), keep=ALL, after=first, compiled=True)
    for name in ("losses", "sizes", "thresholds", "kept", "products", "gradients", "iterates"):
        assert same(np.concatenate([getattr(first, name), getattr(second, name)]), getattr(whole, name)), name
    for last in (second, third):  # a record can be continued twice
        assert same((last.final, last.average), (whole.final, whole.average))


@pytest.mark.parametrize("order", [(True, False), (False, True)], ids=["sparse first", "dense first"])
def test_a_game_can_continue_with_rows_of_the_other_kind(order):
    X, y = rows()
    player = PLAYERS[0]
    plain = hf.play(player, hf.Replay(X, y, hf.Logistic()), keep=["average"])
    record = None
    for part, is_sparse in zip((slice(0, 250), slice(250, None)), order, strict=True):
        rows_now = sparse.csr_array(X[part]) if is_sparse else X[part]
        replay = hf.Replay(rows_now, y[part], hf.Logistic())
        record = hf.play(player, replay, keep=["average"], after=record)
    np.testing.assert_allclose(record.final, plain.final, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(record.average, plain.average, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("average", [False, True])
def test_a_ball_that_always_binds_makes_few_passes_over_all_weights(average, monkeypatch):
    """Each projection shrinks the scale. A pass over all weights resets it to 1, but takes time."""
    passes = []
    monkeypatch.setattr(
        LazyWeights, "fold", lambda self, fold=LazyWeights.fold: (passes.append(1), fold(self))[1]
    )
    rng, rounds, dim = np.random.default_rng(3), 20_000, 10_000
    places = 1000 * np.arange(4) + rng.integers(0, 1000, (rounds, 4))
    replay = SparseReplay(
        rng.standard_normal(4 * rounds),
        places.ravel(),
        4 * np.arange(rounds + 1),
        dim,
        rng.choice([-1.0, 1.0], rounds),
        hf.Linear(),
    )
    record = hf.play(
        hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.Everything()),
        replay,
        keep=("average",) if average else (),
        compiled=False,
    )
    assert np.linalg.norm(record.final) > 0.95
    assert len(passes) <= 4


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("far", [1e3, 1e8, 1e14, 1e20, 1e300])
def test_the_average_is_right_after_a_step_of_any_length(far, compiled):
    """Steps of 1 / (sigma n) can be much longer than the diameter of the ball."""
    rng = np.random.default_rng(0)
    X, y = np.where(rng.random((300, 5)) < 0.5, rng.standard_normal((300, 5)), 0.0), np.ones(300)
    X[[100, 101, 250]] = [[far, 0, 0, far, 0], [0, far, 0, 0, 1], [0, 0, far, -far, 0]]
    player = hf.Filtered(hf.OGD(hf.Ball(1.0), hf.StronglyConvex(1.0)), hf.Everything())
    plain, record = (
        hf.play(player, hf.Replay(rows, y, hf.Linear()), keep=["average"], compiled=compiled)
        for rows in (X, sparse.csr_array(X))
    )
    np.testing.assert_allclose(record.average, plain.average, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(record.final, plain.final, rtol=0.0, atol=1e-11)


# -- formats and types


def same_game(one, other, compiled=False):
    records = [hf.play(PLAYERS[0], replay, keep=WITH_AVERAGE, compiled=compiled) for replay in (one, other)]
    for name in (*WITH_AVERAGE, "final"):
        assert same(*(getattr(record, name) for record in records)), name


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr"])
@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix], ids=["array", "matrix"])
def test_the_format_does_not_matter(kind, make):
    X, y = rows(wild=False)
    csr = make(X)
    same_game(hf.Replay(csr.asformat(kind), y, hf.Hinge()), hf.Replay(csr, y, hf.Hinge()))


def test_duplicates_are_summed_and_places_sorted_without_touching_the_callers_matrix():
    X, y = rows(wild=False)
    coo = sparse.coo_array(X)
    twice = [np.concatenate([each, each]) for each in (coo.data / 2.0, *coo.coords)]
    doubled = sparse.coo_array((twice[0], (twice[1], twice[2])), shape=X.shape)
    same_game(hf.Replay(doubled, y, hf.Hinge()), hf.Replay(coo, y, hf.Hinge()))
    csr = sparse.csr_array(X)
    backwards = csr.copy()
    for first, last in zip(csr.indptr, csr.indptr[1:], strict=False):
        backwards.indices[first:last] = csr.indices[first:last][::-1]
        backwards.data[first:last] = csr.data[first:last][::-1]
    backwards.has_sorted_indices = backwards.has_canonical_format = False
    before = backwards.indices.copy()
    same_game(hf.Replay(backwards, y, hf.Hinge()), hf.Replay(csr, y, hf.Hinge()))
    assert same(backwards.indices, before)


def test_the_callers_matrix_stays_writeable():
    for dtype in (np.float64, np.float32):
        csr = sparse.csr_array(rows(wild=False)[0].astype(dtype))
        replay = hf.Replay(csr, np.ones(600), hf.Hinge())
        assert np.shares_memory(replay.values, csr.data)
        assert not any(each.flags.writeable for each in (replay.values, replay.places, replay.starts))
        assert all(each.flags.writeable for each in (csr.data, csr.indices, csr.indptr))


@pytest.mark.parametrize("compiled", [False, True])
def test_strided_arrays_can_be_used(compiled):
    X, y = rows(wild=False)
    csr = sparse.csr_array(X.astype(np.float32))
    gaps = [np.repeat(each, 2)[::2] for each in (csr.data, csr.indices, csr.indptr)]
    replay = SparseReplay(*gaps, DIM, y, hf.Hinge())
    same_game(replay, hf.Replay(csr, y, hf.Hinge()), compiled)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, bool])
def test_integers_are_accepted(dtype):
    X, y = rows(wild=False)
    X = np.clip(np.round(3 * X), 0, 100).astype(dtype)
    same_game(
        hf.Replay(sparse.csr_array(X), y, hf.Hinge()),
        hf.Replay(sparse.csr_array(X.astype(float)), y, hf.Hinge()),
    )


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("rounds", [0, 1, 4])
def test_streams_of_zeros_and_empty_streams_can_be_played(rounds, compiled):
    replay = hf.Replay(sparse.csr_array((rounds, 5)), np.ones(rounds), hf.Hinge())
    record = hf.play(PLAYERS[0], replay, keep=WITH_AVERAGE, compiled=compiled)
    assert record.rounds == record.kept_count == rounds
    assert record.final.tolist() == record.average.tolist() == [0.0] * 5
    assert (record.size == 0.0).all() and (record.losses == 1.0).all()


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e300])
def test_a_stored_value_that_is_extreme_is_skipped(value, compiled):
    X, y = rows(wild=False)
    X[300, 4] = value
    replay = hf.Replay(sparse.csr_array(X), y, hf.Linear())
    record = hf.play(PLAYERS[0], replay, keep=["kept", "average"], compiled=compiled)
    assert not record.kept[300]
    assert record.unmeasured_count == (0 if value == 1e300 else 1)
    assert np.isfinite(record.final).all() and np.isfinite(record.average).all()


def test_stored_zeros_change_nothing():
    X, y = rows(wild=False)
    coo = sparse.coo_array(X)
    zeros = [(0.0, t, t % DIM) for t in range(len(X)) if X[t, t % DIM] == 0.0]
    data, (t, place) = np.append(coo.data, [z[0] for z in zeros]), coo.coords
    coords = np.append(t, [z[1] for z in zeros]), np.append(place, [z[2] for z in zeros])
    written = hf.Replay(sparse.coo_array((data, coords), shape=X.shape), y, hf.Logistic())
    one, other = (hf.play(PLAYERS[0], each) for each in (written, hf.Replay(coo, y, hf.Logistic())))
    assert np.array_equal(one.kept, other.kept)
    np.testing.assert_allclose(one.final, other.final, rtol=1e-9)


@pytest.mark.parametrize(
    "change, error, complaint",
    [
        ({"places": [0, 1, 3]}, ValueError, "between 0 and 2: got 0 to 3"),
        ({"places": [-1, 1, 2]}, ValueError, "between 0 and 2: got -1 to 2"),
        ({"places": [0.0, 1.0, 2.0]}, TypeError, "places must be of type int32 or int64: got float64"),
        ({"places": [0, 1]}, ValueError, "each value has one place"),
        ({"places": [[0, 1, 2]]}, ValueError, r"places must have 1 dimension: got shape \(1, 3\)"),
        ({"places": [1, 1, 2]}, ValueError, "ascend, each at most once"),
        ({"places": [2, 1, 0]}, ValueError, "ascend, each at most once"),
        ({"values": np.ones((3, 1), np.float32)}, ValueError, r"values must have 1 dimension.*\(3, 1\)"),
        ({"values": ["a", "b", "c"]}, TypeError, "values must hold numbers"),
        ({"starts": [0, 2]}, ValueError, "from 0 to the number of values"),
        ({"starts": [1, 2, 3]}, ValueError, "from 0 to the number of values"),
        ({"starts": np.zeros(0, int)}, ValueError, "from 0 to the number of values"),
        ({"starts": [0, 3, 2, 3], "y": [1, 1, 1]}, ValueError, "starts must not decrease"),
        ({"starts": [0.0, 2.0, 3.0]}, TypeError, "starts must be of type int32 or int64: got float64"),
        ({"y": [1]}, ValueError, "got 2 and 1"),
        ({"y": [0, 1]}, ValueError, r"pass 2 \* y - 1"),
        ({"y": ["a", "b"]}, TypeError, "y must hold numbers"),
        ({"dim": 2.5}, TypeError, "dim must be an integer"),
    ],
)
def test_wrong_parameters_are_refused_with_the_reason(change, error, complaint):
    right = {"values": np.ones(3), "places": [0, 1, 2], "starts": [0, 2, 3], "dim": 3, "y": [1, -1]}
    SparseReplay(**right, loss=hf.Hinge())
    with pytest.raises(error, match=complaint):
        SparseReplay(**right | change, loss=hf.Hinge())


def test_labels_must_fit_the_matrix():
    with pytest.raises(ValueError, match="got 4 and 3"):
        hf.Replay(sparse.csr_array((4, 2)), np.ones(3), hf.Hinge())


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "around",
    [
        lambda clean: Contaminated(clean, Contrarian(600, DIM, G=50.0), share=0.1),
        lambda clean: Chaser(clean, k=3),
    ],
    ids=["Contaminated", "Chaser"],
)
def test_other_adversaries_can_wrap_sparse_rows(around, compiled):
    X, y = rows(wild=False)
    plain, record = (
        hf.play(
            PLAYERS[0], around(hf.Replay(each, y, hf.Hinge())), keep=["kept", "average"], compiled=compiled
        )
        for each in (X, sparse.csr_array(X))
    )
    assert np.array_equal(plain.kept, record.kept)
    np.testing.assert_allclose(record.final, plain.final, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(record.average, plain.average, rtol=1e-9, atol=1e-12)
