"""Runs with keys and the default player: the same player as without keys, in states that are small."""

import copy

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from cli.conftest import bits
from laws import same
from runs.small import called
from samples import STEADY, slow, thinned

import holdfast as hf
from holdfast.rounds import Round
from holdfast.runs.config import Settings
from holdfast.runs.run import open_run
from holdfast.steady.state import EPOCH, ROUNDS

ROWS, KEYS = 900, 15


def rows_of(seed=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, 3)).round(3)
    y = (X @ [1.0, -2.0, 0.5] + 5.0 + 0.1 * rng.normal(size=ROWS)).round(3)
    X[40::41, 1], y[60::53] = 1e4, 1e5
    who = np.array([f"k{i}" for i in rng.integers(0, 3 + np.arange(ROWS) * KEYS // ROWS)])
    return X, y, who


def write(path, X, y, who):
    pacsv.write_csv(pa.table(dict(zip("abc", X.T, strict=True)) | {"who": who, "y": y}), path)
    return path


def run_of(path, to, *args):
    more = () if isinstance(path, tuple) else (path,)
    sources = path if isinstance(path, tuple) else more
    status, _, said = called("learn", *sources, "--target", "y", "--key", "who", "--to", to, "--quiet", *args)
    assert status == 0, said
    return to


@pytest.mark.parametrize(
    ("target", "delay"),
    [("numbers", 1), ("two labels", 7), slow(("three labels", 1)), slow(("three labels", 7))],
)
def test_nothing_depends_on_how_the_rows_of_keys_are_cut(tmp_path, monkeypatch, target, delay):
    X, y, who = rows_of()
    count = {"two labels": 2, "three labels": 3}.get(target)
    y = y if count is None else np.array(["n", "s", "w"])[np.argsort(X[:, :count])[:, 0]]
    path, args = write(tmp_path / "rows.csv", X, y, who), ("--delay", delay)
    whole = run_of(path, tmp_path / "whole", *args)
    assert open_run(whole).upkeep.ready_prior() is not None
    monkeypatch.setattr("holdfast.runs.run._INTERPRETED_KEYS", 10)
    monkeypatch.setattr("holdfast.fleet.games._TOGETHER", 12_000)  # numbers: the states of one or two games
    cut = run_of(path, tmp_path / "cut", *args, "--checkpoint", "130")
    assert bits(cut) == bits(whole)
    parts = tuple(
        write(tmp_path / f"{i}.csv", X[some], y[some], who[some])
        for i, some in enumerate((slice(0, 333), slice(333, 340), slice(340, None)))
    )
    several = run_of(parts[:2], tmp_path / "several", *args)
    assert called("learn", parts[2], "--into", several, "--quiet")[0] == 0
    assert bits(several)["model.safetensors"] == bits(whole)["model.safetensors"]
    assert bits(several)["audit"] == bits(whole)["audit"]


@pytest.mark.parametrize("delay", [1, 7])
def test_a_key_without_a_prior_plays_as_its_rows_alone(tmp_path, delay):
    X, y, who = rows_of()
    path = write(tmp_path / "rows.csv", X, y, who)
    run = open_run(run_of(path, tmp_path / "run", "--no-prior", "--delay", delay))
    player = Settings("y", key="who", delay=delay).player(True)
    total, kept = 0.0, 0
    for name in run.games.keys:
        mine = who == name
        record = hf.play(player, hf.Replay(X[mine], y[mine], hf.Absolute()), keep=("predictions", "kept"))
        total += np.abs(record.predictions - y[mine])[record.kept].sum()
        kept += record.kept.sum()
    assert run.metrics()["kept"] == kept
    assert run.metrics()["error"] == pytest.approx(total / kept, rel=1e-9)


def test_a_batch_of_a_new_key_begins_with_its_first_row(tmp_path):
    X, y, who = rows_of()
    run = open_run(run_of(write(tmp_path / "rows.csv", X, y, who), tmp_path / "run", "--delay", "7"))
    (row,) = run.upkeep.ready.priors()
    state = hf.flatten.restore(run.player.init(3), row, 0)[0]
    rounds, epoch = state.numbers[[ROUNDS, EPOCH]]
    assert rounds % 7 == 0 and rounds >= run.player.stored
    assert same(state.asked.each, state.learner.each) and state.asked.numbers[EPOCH] == epoch


@pytest.mark.parametrize("player", thinned(STEADY, 3), ids=lambda player: repr(player)[:60])
def test_a_stored_state_goes_on_with_the_same_bits(player):
    player = player._replace(stored=32)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 2))
    X[50, 1] = 1e5
    y = np.sign(X[:, 0]) if not player.learner.scales_target() else X @ [1.0, 2.0]
    one, other = player.init(2), player.init(2)
    for t in range(120):
        one, decision = player.observe(one, Round(1.0, X[t], y[t]))
        other, again = player.observe(other, Round(1.0, X[t], y[t]))
        assert same(decision, again), t
        other = player.from_stored(player.to_stored(copy.deepcopy(other)))
        assert same(player.current_weights(one)[:3], player.current_weights(other)[:3]), t
        assert same(player.predict(one)[:3], player.predict(other)[:3]), t
    assert not other.first.any() and not other.raw.any()


def test_the_state_of_a_key_is_small():
    rng, run_sizes = np.random.default_rng(0), {}
    player = Settings("y", key="who").player(True)
    from holdfast.fleet.games import Games

    games = Games(player, 10, hf.Absolute(), ("",), keyed=True)
    games.indices(["k"])
    from holdfast.io.rows import DenseRows

    for count in (10, 90, 900):
        X = rng.normal(size=(count, 10))
        games.play(np.zeros(count, np.int64), 0, DenseRows(X), X.sum(axis=1) + rng.normal(size=count), False)
        run_sizes[int(games.counts[0, 0])] = int(games.bytes()[0])
    assert run_sizes[10] < 5_000 and run_sizes[100] < 7_000 and run_sizes[1000] < 12_000, run_sizes


def test_rows_that_come_one_by_one_have_room_for_the_start(tmp_path, monkeypatch):
    X, y, who = rows_of()
    path = write(tmp_path / "rows.csv", X[:200], y[:200], who[:200])
    whole = run_of(path, tmp_path / "whole", "--no-prior")
    monkeypatch.setattr("holdfast.runs.run._INTERPRETED_KEYS", 1)
    assert bits(run_of(path, tmp_path / "one", "--no-prior")) == bits(whole)
