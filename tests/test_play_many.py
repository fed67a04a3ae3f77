"""play_many: a separate game for each key."""

import ctypes
import math

import numpy as np
import pytest
from laws import WITH_AVERAGE, same
from samples import thinned
from scipy.sparse import csr_array

import holdfast as hf
from holdfast._compiled import programs
from holdfast.defaults import recommended
from holdfast.record import VERDICTS

FILTERS = [hf.Everything(), hf.TopK(3), hf.TopShare(0.05), hf.Quantile(0.9), hf.Quantile(0.9, horizon=100)]
MODES = pytest.mark.parametrize(
    "compiled", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["interpreted", "compiled"]
)


def stream(rounds=2000, dim=4):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((rounds, dim)), np.sign(rng.standard_normal(rounds))
    X[rng.random(rounds) < 0.02] *= 1e6
    X[5, 0], X[6, 1], X[8] = math.nan, math.inf, 1e300
    return X, y, rng.choice([3, 50, 51, 7], rounds, p=[0.1, 0.6, 0.25, 0.05])


@pytest.mark.parametrize(
    ("filter", "compiled"),
    [*((f, False) for f in FILTERS), *thinned([(f, True) for f in FILTERS], 6)],
    ids=repr,
)
def test_each_key_gives_the_same_bits_as_a_game_of_its_own(filter, compiled):
    X, y, keys = stream()
    player = hf.Filtered(hf.OGD(hf.Ball(0.5)), filter)
    record = hf.play_many(
        player, hf.Replay(X, y, hf.Hinge()), keys, keep=WITH_AVERAGE, workers=3, compiled=compiled
    )
    assert record.keys.tolist() == [3, 7, 50, 51]
    for j, key in enumerate(record.keys):
        mine = keys == key
        alone = hf.play(player, hf.Replay(X[mine], y[mine], hf.Hinge()), keep=WITH_AVERAGE, compiled=False)
        assert same(record.finals[j], alone.final)
        assert same(record.averages[j], alone.average)
        for column in WITH_AVERAGE[:4]:
            assert same(getattr(record, column)[mine], getattr(alone, column))
        counts = record.rounds[j], record.kept_counts[j], record.unmeasured_counts[j]
        assert counts == (mine.sum(), alone.kept_count, alone.unmeasured_count)


@MODES
def test_a_certified_player_is_reset_for_each_key(compiled):
    X, y, keys = stream(400)
    player = hf.Certified(hf.Filtered(hf.OGD(hf.Ball(0.5)), hf.TopK(2)), k=2)
    record = hf.play_many(player, hf.Replay(X, y, hf.Hinge()), keys, compiled=compiled)
    for j, key in enumerate(record.keys):
        alone = hf.play(player, hf.Replay(X[keys == key], y[keys == key], hf.Hinge()), compiled=False)
        assert same(record.finals[j], alone.final)


@MODES
def test_sparse_rows_and_gradients(compiled):
    X, y, keys = stream(300)
    X[np.abs(X) < 0.8] = 0.0
    player = hf.Filtered(hf.OGD(hf.Ball(0.5)), hf.TopK(2))
    rows = csr_array(X)
    record = hf.play_many(player, hf.Replay(rows, y, hf.Logistic()), keys, compiled=compiled)
    for j, key in enumerate(record.keys):
        mine = np.flatnonzero(keys == key)
        alone = hf.play(player, hf.Replay(rows[mine], y[mine], hf.Logistic()), compiled=False)
        assert np.allclose(record.finals[j], alone.final, rtol=1e-12, atol=1e-15)
    assert len(hf.play_many(player, hf.Gradients(X), keys, compiled=compiled).keys) == 4


def test_the_number_of_workers_changes_nothing():
    X, y, keys = stream()
    player, replay = hf.Filtered(hf.OGD(hf.Ball(0.5)), hf.TopShare(0.05)), hf.Replay(X, y, hf.Hinge())
    one, five = (hf.play_many(player, replay, keys, workers=n, compiled=True) for n in (1, 5))
    assert same(one.finals, five.finals)
    assert same(one.thresholds, five.thresholds)


def test_keys_may_be_text_or_dates_or_an_empty_list():
    X, y, _ = stream(12)
    player, replay = hf.Filtered(hf.OGD(hf.Ball(0.5)), hf.TopK(1)), hf.Replay(X, y, hf.Hinge())
    assert hf.play_many(player, replay, list("abcabc" * 2)).rounds.tolist() == [4, 4, 4]
    days = np.array(["2026-01-01", "2026-01-02"] * 6, "M8[D]")
    assert hf.play_many(player, replay, days).rounds.tolist() == [6, 6]
    empty = hf.play_many(player, hf.Replay(np.zeros((0, 3)), [], hf.Hinge()), [])
    assert (len(empty.keys), empty.finals.shape) == (0, (0, 3))


def test_the_counts_are_a_data_frame():
    X, y, keys = stream(100)
    record = hf.play_many(hf.Filtered(hf.OGD(hf.Ball(0.5)), hf.TopK(1)), hf.Replay(X, y, hf.Hinge()), keys)
    assert record.to_pandas()["rounds"].sum() == 100
    assert repr(record).startswith("KeyedRecord(4 keys, 100 rounds: ")


def test_compiled_games_release_the_lock_of_the_interpreter(monkeypatch):
    flags, run = [], programs.run

    def recording(code, arguments, result):
        flags.append(code._flags_)
        return run(code, arguments, result)

    monkeypatch.setattr(programs, "run", recording)
    X, y, keys = stream(100)
    player = hf.Filtered(hf.OGD(hf.Ball(0.5)), hf.TopK(1))
    hf.play_many(player, hf.Replay(X, y, hf.Hinge()), keys, compiled=True)
    with_lock = ctypes.PYFUNCTYPE(None)._flags_ & ~ctypes.CFUNCTYPE(None)._flags_
    assert with_lock and flags and not any(each & with_lock for each in flags)


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        ({"keys": [1, 2]}, "each of the 3 rounds: got shape"),
        ({"keys": [1, "a", None]}, "all numbers or all text"),
        ({"workers": 0}, "at least 1: got 0"),
        (
            {"keep": ("gradients",)},
            "keep takes losses, sizes, .*, predictions and average",
        ),
    ],
)
def test_mistakes_are_reported_in_one_sentence(problem, said):
    replay = hf.Replay(np.ones((3, 2)), [1, -1, 1], hf.Hinge())
    options = {"keys": [1, 2, 1]} | problem
    if options["keys"] == [1, "a", None]:
        options["keys"] = np.array(options["keys"], object)
    with pytest.raises((TypeError, ValueError), match=said):
        hf.play_many(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(1)), replay, **options)


def test_the_average_of_sparse_rows_is_refused():
    replay = hf.Replay(csr_array(np.ones((3, 2))), [1, -1, 1], hf.Hinge())
    with pytest.raises(ValueError, match="leave it out of keep"):
        hf.play_many(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(1)), replay, [0, 0, 1], keep=("average",))


def test_a_guarded_player_has_the_same_columns_for_each_key():
    rng = np.random.default_rng(5)
    X, y, keys = rng.standard_normal((300, 3)), rng.standard_normal(300), rng.integers(0, 4, 300)
    X[rng.random(300) < 0.05] *= 1e6
    player, keep = recommended(regression=True), ("predictions", *VERDICTS)
    record = hf.play_many(player, hf.Replay(X, y, hf.Absolute()), keys, keep=keep)
    for key in record.keys:
        mine = keys == key
        alone = hf.play(player, hf.Replay(X[mine], y[mine], hf.Absolute()), keep=keep)
        for name in keep:
            assert same(getattr(record, name)[mine], getattr(alone, name)), name
