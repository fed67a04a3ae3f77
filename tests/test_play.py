"""play: streams in all layouts, in parts, and with little memory."""

import functools
import math
import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from guards import guarded
from laws import WITH_AVERAGE, same
from samples import thinned

import holdfast as hf
from holdfast.rounds import Round

COLUMNS = ("losses", "sizes", "thresholds", "kept")
PLAYERS = [
    hf.Filtered(hf.OGD(hf.Ball(2.0)), hf.TopK(5)),
    hf.Filtered(hf.OGD(hf.Ball(2.0)), hf.TopShare(0.05)),
    hf.Filtered(hf.OGD(hf.Ball(2.0)), hf.Quantile(0.9, ranks="newsvendor", growth=1.5), on=hf.Features()),
]


def data(rounds=3000, dim=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rounds, dim))
    y = np.sign(X @ np.linspace(-1, 1, dim) + 0.3 * rng.standard_normal(rounds))
    bad = rng.random(rounds) < 0.02
    X[bad] *= 1e4
    X[7, 1], X[1000, 2], y[11] = math.nan, math.inf, math.nan
    return X, y


@pytest.mark.parametrize("player", PLAYERS, ids=lambda p: type(p.filter).__name__)
@pytest.mark.parametrize("compiled", [(False, False), (True, True), (False, True), (True, False)])
@pytest.mark.parametrize("cut", thinned([1024, 0, 1, 2999], 2))
def test_two_halves_interpreted_or_compiled_give_the_bits_of_one_game(player, compiled, cut):
    X, y = data()
    play = functools.partial(hf.play, player, keep=WITH_AVERAGE)
    whole = play(hf.Replay(X, y, hf.Logistic()), compiled=False)
    first = play(hf.Replay(X[:cut], y[:cut], hf.Logistic()), compiled=compiled[0])
    second = play(hf.Replay(X[cut:], y[cut:], hf.Logistic()), after=first, compiled=compiled[1])
    for column in COLUMNS:
        assert same(np.concatenate([getattr(first, column), getattr(second, column)]), getattr(whole, column))
    assert same(second.final, whole.final)
    assert same(second.average, whole.average)
    assert (second.rounds, second.kept_count, second.unmeasured_count) == (
        whole.rounds,
        whole.kept_count,
        whole.unmeasured_count,
    )


def test_the_same_adversary_continues():
    X, y = data()
    replay = hf.Replay(X, y, hf.Hinge())
    whole, first = hf.play(PLAYERS[0], replay), hf.play(PLAYERS[0], replay, rounds=1200)
    second = hf.play(PLAYERS[0], replay, after=first)
    assert len(second.kept) == 1800
    assert same(second.final, whole.final)


def test_a_record_can_be_continued_twice():
    X, y = data()
    first = hf.play(PLAYERS[1], hf.Replay(X[:500], y[:500], hf.Hinge()))
    rest = hf.Replay(X[500:], y[500:], hf.Hinge())
    assert same(hf.play(PLAYERS[1], rest, after=first).final, hf.play(PLAYERS[1], rest, after=first).final)


def test_a_game_that_continues_in_place_copies_nothing(monkeypatch):
    X, y = data()
    whole = hf.play(PLAYERS[1], hf.Replay(X, y, hf.Hinge()))
    first = hf.play(PLAYERS[1], hf.Replay(X[:500], y[:500], hf.Hinge()))
    monkeypatch.setattr(sys.modules["holdfast.play"], "aligned_copy", None)
    rest = hf.Replay(X[500:], y[500:], hf.Hinge())
    assert same(hf.play(PLAYERS[1], rest, after=first, in_place=True).final, whole.final)
    with pytest.raises(ValueError, match="continued in place"):
        hf.play(PLAYERS[1], rest, after=first)


def test_a_record_is_continued_only_by_its_own_player_in_its_own_dimension():
    first = hf.play(PLAYERS[0], hf.Gradients(np.ones((5, 2))))
    with pytest.raises(ValueError, match="its own player"):
        hf.play(PLAYERS[1], hf.Gradients(np.ones((5, 2))), after=first)
    with pytest.raises(ValueError, match="2 dimensions, the adversary has 3"):
        hf.play(PLAYERS[0], hf.Gradients(np.ones((5, 3))), after=first)
    with pytest.raises(ValueError, match="average"):
        hf.play(PLAYERS[0], hf.Gradients(np.ones((5, 2))), after=first, keep=["average"])


def layouts():
    X, y = data()
    padded = np.zeros((3000, 10))
    padded[:, ::2] = X
    yield "C", X, y
    yield "Fortran", np.asfortranarray(X), y
    yield "strided", padded[:, ::2], y
    yield "frame", pd.DataFrame(X, columns=list("abcde")), pd.Series(y)
    yield "lists", X.tolist(), y.tolist()
    yield "objects", X.astype(object), y.astype(object)


@pytest.mark.parametrize("compiled", [False, True])
def test_the_layout_of_the_data_does_not_matter(compiled):
    records = [
        hf.play(PLAYERS[0], hf.Replay(X, y, hf.Logistic()), compiled=compiled) for _, X, y in layouts()
    ]
    assert all(same(record.final, records[0].final) for record in records)


@pytest.mark.parametrize("compiled", [False, True])
def test_float32_rows_give_the_same_bits_as_float64_rows(compiled):
    X, y = data()
    X = X.astype(np.float32)
    half = hf.play(PLAYERS[0], hf.Replay(X, y, hf.Logistic()), compiled=compiled)
    full = hf.play(PLAYERS[0], hf.Replay(X.astype(np.float64), y, hf.Logistic()), compiled=compiled)
    assert hf.Replay(X, y, hf.Logistic()).X.dtype == np.float32
    assert same(half.final, full.final)


def test_a_memory_mapped_file_is_not_read_into_memory(tmp_path):
    X, y = data()
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert np.shares_memory(hf.Replay(mapped, y, hf.Hinge()).X, mapped)


def test_data_is_never_written_to():
    X, y = data()
    before = X.copy(), y.copy()
    hf.play(PLAYERS[0], hf.Replay(X, y, hf.Hinge()))
    assert same(before, (X, y))
    X[0, 0] = 5.0  # the caller can still change it


def test_the_average_is_over_all_rounds_kept_or_skipped():
    player, G = (
        hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(2)),
        np.random.default_rng(0).standard_normal((50, 3)),
    )
    G[20] = 1e6
    state, iterates = player.init(3), []
    for g in G:
        iterates.append(player.predict(state).copy())
        state, _ = player.observe(state, Round(1.0, g))
    record = hf.play(player, hf.Gradients(G), keep=["average"])
    assert record.average == pytest.approx(np.mean(iterates, axis=0))
    assert same(record.final, player.predict(state))


def test_the_final_weights_are_those_before_the_restart_of_an_epoch():
    player = hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.Quantile(0.9))
    G = np.random.default_rng(0).uniform(0.5, 1.0, (1024, 1))
    record = hf.play(player, hf.Gradients(G))
    assert record.final[0] == -1.0
    assert hf.play(player, hf.Gradients(G[:1]), after=record, keep=("iterates",)).iterates[0, 0] == 0.0


@pytest.mark.parametrize("compiled", [False, True])
def test_an_epoch_begins_with_its_first_prediction_even_if_that_round_has_no_size(compiled):
    player = hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.Quantile(0.9))
    G = np.random.default_rng(0).uniform(0.5, 1.0, (1025, 1))
    G[1024] = math.nan
    record = hf.play(player, hf.Gradients(G), keep=("iterates",), compiled=compiled)
    assert record.iterates[1023, 0] == -1.0
    assert record.iterates[1024, 0] == record.final[0] == 0.0


def test_labels_0_and_1_are_refused_by_losses_for_minus_1_and_1():
    with pytest.raises(ValueError, match="pass 2 \\* y - 1"):
        hf.Replay(np.ones((3, 1)), [0, 1, 1], hf.Logistic())
    hf.Replay(np.ones((3, 1)), [0, 1, 1], hf.Squared())


def test_only_the_columns_asked_for_are_kept():
    X, y = data()
    record = hf.play(PLAYERS[0], hf.Replay(X, y, hf.Hinge()), keep=["kept"])
    assert record.losses is record.sizes is record.thresholds is record.average is None
    assert record.kept.sum() == record.kept_count == record.rounds - record.skipped_count
    assert record.to_pandas().columns.tolist() == ["kept"]
    assert record.unmeasured_count == 3


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_predictions_are_those_before_learning_in_the_units_of_the_target(compiled):
    X, y = data(rounds=1200)
    player = guarded(hf.Scaled(hf.AdaGrad(hf.Box(-10.0, 10.0), rate=0.01), target=True))
    replay = hf.Replay(X, 50.0 + 7.0 * y, hf.Absolute())
    record = hf.play(player, replay, keep=["predictions"], compiled=compiled)
    state, expected = player.init(5), []
    for t in range(1200):
        w = player.predict(state)
        _, _, slope, x = replay.reveal(replay.start(), t, w)
        expected.append(w.to_target_units(w.product(x)))
        state, _ = player.observe(state, Round(slope, x, replay.target_at(t)))
    assert same(record.predictions, np.array(expected))
    assert 40.0 < np.nanmedian(record.predictions) < 60.0


def test_predictions_of_plain_weights_are_inner_products():
    X, y = data(rounds=1100)
    record = hf.play(PLAYERS[0], hf.Replay(X, y, hf.Hinge()), keep=["predictions", "iterates"])
    assert record.predictions == pytest.approx((record.iterates * X).sum(axis=1), nan_ok=True)
    assert hf.play(PLAYERS[0], hf.Replay(X, y, hf.Hinge())).predictions is None


def test_without_columns_memory_does_not_grow_with_the_rounds():
    peaks = []
    for rounds in (200_000, 2_000_000):
        X, y = np.ones((rounds, 1)), np.ones(rounds)
        tracemalloc.start()
        hf.play(PLAYERS[0], hf.Replay(X, y, hf.Hinge()), keep=(), compiled=True)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0] + 100_000


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("rows", [0, 1, 2])
def test_empty_and_tiny_streams_can_be_played(rows, compiled):
    replay = hf.Replay(np.ones((rows, 4)), np.ones(rows), hf.Hinge())
    record = hf.play(PLAYERS[0], replay, keep=WITH_AVERAGE, compiled=compiled)
    assert record.rounds == len(record.kept) == rows
    assert record.final.shape == record.average.shape == (4,)


@pytest.mark.parametrize("player", PLAYERS, ids=lambda p: type(p.filter).__name__)
def test_a_stream_of_only_bad_rounds_is_skipped_and_counted(player):
    record = hf.play(player, hf.Gradients(np.full((40, 2), math.nan)))
    assert (record.skipped_count, record.unmeasured_count) == (40, 40)
    assert np.isfinite(record.final).all()


def quartic(t, w):
    return 0.25 * np.sum((w - 1.0 / (t + 1)) ** 4)


def slope_of_quartic(t, w):
    return (w - 1.0 / (t + 1)) ** 3


def test_functions_can_be_played_interpreted_and_compiled():
    functions = hf.adversaries.Functions(quartic, slope_of_quartic, 300, 3)
    interpreted, compiled = (hf.play(PLAYERS[0], functions, compiled=mode) for mode in (False, True))
    assert interpreted.final == pytest.approx(compiled.final, rel=1e-9)
    assert np.array_equal(interpreted.kept, compiled.kept)
    assert interpreted.losses[-50:].mean() < 1e-4


@pytest.mark.parametrize(
    "make, error, complaint",
    [
        (
            lambda: hf.Replay(pd.DataFrame({"a": [1.0], "b": ["x"]}), [1], hf.Hinge()),
            TypeError,
            "column 'b' must hold numbers: got 'x'",
        ),
        (lambda: hf.Replay([["x"]], [1], hf.Hinge()), TypeError, "X must hold numbers"),
        (
            lambda: hf.Replay(np.ones(3), np.ones(3), hf.Hinge()),
            ValueError,
            r"X must have 2 dimensions.*\(3,\)",
        ),
        (lambda: hf.Replay(np.ones((3, 2)), np.ones(2), hf.Hinge()), ValueError, "got 3 and 2"),
        (
            lambda: hf.Replay(np.ones((3, 2)), np.ones((3, 1)), hf.Hinge()),
            ValueError,
            "y must have 1 dimension,",
        ),
        (lambda: hf.Gradients(np.ones(3) * 1j), TypeError, "must hold numbers"),
        (lambda: hf.play(PLAYERS[0], hf.Gradients(np.ones((3, 2))), rounds=4), ValueError, "3 rounds left"),
        (lambda: hf.play(PLAYERS[0], hf.Gradients(np.ones((3, 2))), rounds=-1), ValueError, "3 rounds left"),
        (lambda: hf.play(PLAYERS[0], hf.Gradients(np.ones((3, 2))), keep=["loss"]), ValueError, "got 'loss'"),
        (lambda: hf.adversaries.Functions(1, 2, 3, 4), TypeError, "must be functions"),
    ],
)
def test_bad_configuration_is_refused_with_value_and_remedy(make, error, complaint):
    with pytest.raises(error, match=complaint):
        make()
