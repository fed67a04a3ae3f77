"""After a retraction a run is, bit for bit, one that never saw the rows."""

import copy
import datetime
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from runs.histories import HEADER, PLAYERS, History, assert_same, digest, rows_of
from runs.small import called, refused
from samples import slow, thinned

from holdfast.fleet.games import Games
from holdfast.io import byte_stream
from holdfast.runs import checkpoint_tree, run
from holdfast.runs.audit import RoundLog
from holdfast.runs.files import table_bytes
from holdfast.runs.folder import Folder
from holdfast.runs.ledger import read_ledger, rows_in
from holdfast.runs.run import open_run

CASES = int(os.environ.get("HOLDFAST_RETRACTION_CASES", 1_500))  # of each player, if exhaustive


@pytest.fixture(autouse=True)
def short_intervals(monkeypatch):
    monkeypatch.setattr(checkpoint_tree, "INTERVAL", 16)
    monkeypatch.setattr(run, "_INTERPRETED", 11)


def without(rows, lines):
    """The lines without some rows, and the numbers of those that are left."""
    numbers = np.setdiff1d(np.arange(1, len(lines) + 1), rows)
    return [lines[row - 1] for row in numbers], numbers


@pytest.mark.parametrize("player", thinned(PLAYERS, 2))
def test_a_run_is_one_that_never_saw_the_rows(tmp_path, player):
    lines, rows = rows_of(300), [*range(120, 160), 7, 211, 299]
    bad, kept = History(tmp_path / "bad", player, lines), without(rows, lines)
    bad.learn(300)
    bad.retract(rows)
    clean = History(tmp_path / "clean", player, kept[0])
    clean.learn(len(kept[0]))
    assert_same(bad.run, clean.run, kept[1])


def test_a_release_at_the_round_of_an_earlier_state_is_undone(tmp_path):
    """The earlier state after row 144 is one before the release."""
    lines, kept = rows_of(160), without([150], rows_of(160))
    history, clean = (
        History(tmp_path / "history", "adagrad", lines),
        History(tmp_path / "clean", "adagrad", kept[0]),
    )
    for each in (history, clean):
        each.learn(144)
    assert history.release(history.skipped(), range(1, 60)) > 2
    history.restore(1)
    assert_same(history.run, clean.run)
    for each in (history, clean):
        each.release(each.skipped(), range(1, 60))
        each.learn(len(each.lines))
    history.retract([150])
    assert_same(history.run, clean.run, kept[1])


def test_released_rows_are_taken_back_and_restored(tmp_path):
    history, other = (History(tmp_path / name, "adagrad", rows_of(90)) for name in ("history", "other"))
    for each in (history, other):
        each.learn(90)
        assert each.release(each.skipped(), range(1, 30)) > 2
    history.retract(read_ledger(open_run(history.run)).entries[0].rows)
    history.retract([40])
    history.restore(2)
    history.restore(3)
    assert_same(history.run, other.run)
    released = pa.concat_tables(open_run(history.run).read("released"))
    assert {Path(file).name for file in released.column("file").to_pylist()} == {"released.csv"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    ("player", "every"),
    [
        ("adagrad", 75),
        slow(("keys", 37)),
        *(pytest.param(player, 5, marks=pytest.mark.exhaustive) for player in ("adagrad", "keys")),
    ],
)
def test_a_retraction_that_is_killed_at_any_write_leaves_the_run_as_it_was_and_goes_on(
    tmp_path, player, every
):
    history = History(tmp_path / "history", player, rows_of(150))
    history.learn(150)
    history.release(history.skipped(), range(1, 60))
    script = Path(__file__).with_name("stopping_retraction.py")
    command = [sys.executable, script, history.run, tmp_path, 3, every]
    command += ["retract", "--rows", "40-60,130", "--why", "in kW", "--quiet"]
    path = os.pathsep.join([str(script.parents[1]), os.environ.get("PYTHONPATH", "")])
    found = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert found.returncode == 0, found.stderr[-2000:]
    writes, as_before, as_after = map(int, found.stdout.split()[-3:])
    assert writes > 50 and as_before > 2 and as_after >= 0


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    history = History(tmp_path_factory.mktemp("history"), "adagrad", rows_of(120))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint_tree, "INTERVAL", 16)
        history.learn(120)
    return history


@pytest.fixture
def history(original, tmp_path):
    shutil.copytree(original.folder, tmp_path / "copy")
    copied = copy.copy(original)
    copied.run = tmp_path / "copy" / "run"
    return copied


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((), "which rows"),
        (("--rows", "7-3"), "numbers and ranges"),
        (("--rows", "200-300"), "the run has rows 1 to 120"),
        (("--rows", "1-120"), "no row would be left"),
        (("--between", "1", "2"), "go together"),
        (("--between", "b", "2", "--time", "a"), "no times"),
        (("--between", "7", "2", "--time", "a"), "the earlier end first"),
        (("--where", "who=nobody"), "no row fits"),
        (("--where", "a"), "COLUMN=VALUE"),
        (("--where", "nothing=1"), "no column"),
        (("--key", "p"), "this run has none"),
        (("--resume",), "no retraction to go on with"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_changes_nothing(history, args, words):
    before = digest(history.run)
    _, _, said = answer = called("retract", history.run, *args)
    assert refused(answer) and words in said
    assert digest(history.run) == before


@pytest.mark.parametrize("change", ["gone", "an early row", "a late row", "shorter"])
def test_a_source_that_is_gone_or_changed_is_noticed(history, original, change):
    text = original.source.read_text()
    lines = text.splitlines(keepends=True)
    before = digest(history.run)
    try:
        if change == "gone":
            original.source.unlink()
        else:
            place = {"an early row": 3, "a late row": 119, "shorter": 119}[change]
            lines[place : place + 1] = [] if change == "shorter" else ["9.5,1.5,p,2.25\n"]
            original.source.write_text("".join(lines))
        _, _, said = answer = called("retract", history.run, "--rows", "20")
        assert refused(answer) and "rows.csv" in said
    finally:
        original.source.write_text(text)
    assert digest(history.run) == before
    assert called("retract", history.run, "--rows", "20", "--quiet")[0] == 0


def test_rows_are_taken_back_once(history):
    assert called("retract", history.run, "--rows", "5-9", "--quiet")[0] == 0
    assert "none of these rows" in called("retract", history.run, "--rows", "6,8")[2]
    assert called("restore", history.run, "1", "--quiet")[0] == 0
    assert "was undone before" in called("restore", history.run, "1")[2]
    assert "undoes entry 1" in called("restore", history.run, "2")[2]
    assert "there is no entry 3" in called("restore", history.run, "3")[2]


def test_a_dry_run_says_how_many_rows_and_how_far_back(tmp_path):
    history = History(tmp_path / "history", "adagrad", rows_of(150))
    history.learn(150)
    before = digest(history.run)
    assert "nothing to undo" in called("restore", history.run, "1")[2]
    found = json.loads(history.call("retract", history.run, "--rows", "140-145", "--dry-run", "--json"))
    assert (found["rows"], found["first_row"], found["of_rounds"]) == (6, 140, 150)
    assert (found["from_round"], found["rounds"]) == (128, 22)
    assert "22 of 150 rounds" in history.call("retract", history.run, "--rows", "140-145", "--dry-run")
    assert digest(history.run) == before
    said = history.call("retract", history.run, "--rows", "140-145")
    assert "6 rows taken back: 140 to 145. 150 rounds before, 144 now" in said
    found = json.loads(history.call("restore", history.run, "1", "--dry-run", "--json"))
    assert (found["rows"], found["first_row"], found["of_rounds"]) == (6, 140, 144)
    assert "entry 1 (6 rows taken back" in history.call("restore", history.run, "1", "--dry-run")


def test_a_dry_run_says_how_long_by_the_seconds_of_the_rounds(tmp_path, monkeypatch):
    """Seconds of the compiler, and of rounds that were learned again, are no measure."""
    clock, learn = [0.0], run.Run.learn

    def slowly(self, piece, *args):
        before = self.trace.rounds
        stopped = learn(self, piece, *args)
        clock[0] += self.trace.rounds - before
        if before < 20:
            clock[0] += 900.0
            self.compiling.seconds += 900.0
        return stopped

    monkeypatch.setattr(run.Run, "learn", slowly)
    monkeypatch.setattr(run, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    history = History(tmp_path / "history", "adagrad", rows_of(150))
    history.learn(150)
    for rows, seconds in (("140-145", 22.0), ("5", 144.0), ("7", 143.0)):
        found = json.loads(history.call("retract", history.run, "--rows", rows, "--dry-run", "--json"))
        assert found["seconds"] == seconds
        history.call("retract", history.run, "--rows", rows, "--quiet")


@pytest.mark.parametrize(("more", "is_same"), [((), False), (("--no-prior",), True)])
def test_only_the_games_that_can_differ_are_played(tmp_path, monkeypatch, more, is_same):
    """Without a prior it is that of the key; with a prior also those that began later."""
    whose = [f"k{i % 14}" if i < 140 or i % 2 else "late" for i in range(300)]
    cells = [line.split(",") for line in rows_of(300)]
    lines = [",".join([a, b, who, y]) for (a, b, _, y), who in zip(cells, whose, strict=True)]
    source, run = tmp_path / "rows.csv", tmp_path / "run"
    source.write_text(HEADER + "".join(lines))
    status, _, said = called("learn", source, "--target", "y", "--key", "who", *more, "--to", run, "--quiet")
    assert status == 0, said
    before, played = states_of_keys(run), []
    late = 0 if is_same else whose.count("late")
    _, out, _ = called("retract", run, "--key", "k1", "--dry-run")
    assert f"Only {late} of them are played, of {1 if is_same else 2} key" in out
    play = Games.play
    with monkeypatch.context() as patch:
        patch.setattr(
            Games, "play", lambda games, keys, *rest: played.append(keys) or play(games, keys, *rest)
        )
        assert called("retract", run, "--key", "k1", "--quiet")[0] == 0
    assert sum(map(len, played)) - open_run(run).upkeep.pool.counts.sum() <= late + (0 if is_same else 100)
    after = states_of_keys(run)
    assert set(before) - set(after) == {"k1"}
    assert all(before[key] == after[key] for key in after if key != "late" or is_same)
    assert (before["late"] == after["late"]) == is_same


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--no-sizes",), "--no-sizes"),
        (("--no-prior", "--evict", "200"), "--evict"),
        (("--learner", "adagrad"), "not recorded"),  # as in a folder of an earlier version
    ],
)
def test_without_a_record_all_games_are_played(tmp_path, monkeypatch, more, words):
    lines, kept = rows_of(90), without([40], rows_of(90))
    bad, clean = (tmp_path / name for name in ("bad", "clean"))
    if words == "not recorded":
        monkeypatch.setattr(RoundLog, "add_forecasts", lambda *args: None)
    for folder, rows in ((bad, lines), (clean, kept[0])):
        folder.mkdir()
        (folder / "rows.csv").write_text(HEADER + "".join(rows))
        args = ("--target", "y", "--key", "who", *more, "--to", folder / "run", "--quiet")
        assert called("learn", folder / "rows.csv", *args)[0] == 0
    _, out, _ = called("retract", bad / "run", "--rows", "40", "--dry-run")
    assert "the rounds of all keys" in out and words in out
    assert called("retract", bad / "run", "--rows", "40", "--quiet")[0] == 0
    assert_same(bad / "run", clean / "run", kept[1])


@pytest.mark.parametrize("target", ["y", "sign"])
def test_rounds_are_read_as_they_were_from_a_source_with_blank_and_wrong_lines(tmp_path, monkeypatch, target):
    """Blocks without a row that is played are not decoded: the audit, with times, is made of the record."""
    monkeypatch.setattr(byte_stream, "BLOCK", 400)
    cells = [line.strip().split(",") for line in rows_of(300)]
    days = [f"2026-03-{1 + i // 24:02d} {i % 24:02d}:00:00" for i in range(300)]
    lines = []
    for i, ((a, b, _, y), day) in enumerate(zip(cells, days, strict=True)):
        who, sign = "p" if 100 < i < 120 else f"q{i % 2}", "up" if float(y) > 0.0 else "down"
        lines.append(f"{a},{b},{who},{y},{sign},{day}\n")
    lines[50], lines[180] = lines[50].replace(",q", ",,q", 1), "1,x,q1,2,up,2026-03-08 12:00:00\n"
    lines[250] = "7\n"
    lines.insert(200, "\n")
    kept, numbers = without(range(102, 121), lines)
    drop, runs = "sign" if target == "y" else "y", []
    for name, rows in (("bad", lines), ("clean", kept)):
        folder = tmp_path / name
        folder.mkdir()
        runs.append(folder / "run")
        (folder / "rows.csv").write_text("a,b,who,y,sign,day\n" + "".join(rows))
        args = ("--target", target, "--drop", drop, "--key", "who", "--no-prior", "--to", runs[-1], "--quiet")
        assert called("learn", folder / "rows.csv", *args)[0] == 0
    out = called("retract", runs[0], "--key", "p", "--dry-run")[1]
    assert "Only 0 of them are played, of 1 key" in out
    assert called("retract", runs[0], "--key", "p", "--quiet")[0] == 0
    assert_same(runs[0], runs[1], numbers)


def test_a_record_of_other_rows_is_noticed(tmp_path):
    history = History(tmp_path / "history", "own keys", rows_of(60))
    history.learn(60)
    table, name = next(open_run(history.run).read("forecasts")), "forecasts/part-000000.parquet"
    other = table.set_column(0, "row", pa.array(table.column("row").to_numpy() + 1))
    Folder(history.run).write_alone(name, table_bytes(other))
    before = digest(history.run)
    for command in ("verify", "retract"):
        answer = called(command, history.run, *(("--rows", "20") if command == "retract" else ()))
        assert refused(answer) and "other rows than sizes" in answer[2]
    assert digest(history.run) == before


def states_of_keys(run):
    """The packed state of the only game of each key."""
    games = open_run(run).games
    return {key: games._states.row(place).tobytes() for key, place in games.keys.items()}


def test_rows_are_named_by_time_by_value_by_key_and_by_file(tmp_path):
    days = [f"2026-03-{1 + i // 24:02d} {i % 24:02d}:00:00" for i in range(120)]
    rows = [line.strip() + f",{day}\n" for line, day in zip(rows_of(120), days, strict=True)]
    source, run = tmp_path / "rows.csv", tmp_path / "run"
    source.write_text("a,b,who,y,day\n" + "".join(rows))
    args = ("--target", "y", "--key", "who", "--drop", "day", "--learner", "adagrad", "--to", run, "--quiet")
    assert called("learn", source, *args)[0] == 0
    who = [line.split(",")[2] for line in rows]
    (tmp_path / "list.csv").write_text("skipped_row,a\n5,1\n9,2\n")
    for args, expected in (
        (("--between", "2026-03-02", "2026-03-03", "--time", "day"), list(range(25, 73))),
        (("--between", "2026-03-02", "2026-03-02T01:00", "--time", "day"), [25, 26]),
        (("--where", "who=q"), [i for i, name in enumerate(who, 1) if name == "q"]),
        (("--key", "r"), [i for i, name in enumerate(who, 1) if name == "r"]),
        (("--from", tmp_path / "list.csv"), [5, 9]),
        (("--rows", "3,1-2"), [1, 2, 3]),
    ):
        assert called("retract", run, *args, "--quiet", "--why", "kW")[0] == 0
        ledger = read_ledger(open_run(run))
        assert ledger.entries[-1].rows.tolist() == expected and ledger.entries[-1].why == "kW"
        assert called("restore", run, len(ledger.entries), "--quiet")[0] == 0


WRITTEN = {  # the forms of times, each with a way to name the 4th to the 5th of March
    "%d/%m/%Y %H:%M": ("4/3/2026", "5/3/2026"),
    "%Y-%m-%d %H:%M": ("2026-03-04", "2026-03-05T23:00"),
    "%d %b %Y %H:%M": ("4 Mar 2026", "2026-03-05"),
    "%s": ("2026-03-04", "2026-03-05"),
}


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("dropped", [False, True])
def test_times_are_named_in_the_form_of_their_column(tmp_path, written, dropped):
    start = datetime.datetime(2026, 3, 1, tzinfo=datetime.UTC)
    hours = [start + datetime.timedelta(hours=i) for i in range(400)]
    cells = [str(int(t.timestamp())) if written == "%s" else t.strftime(written) for t in hours]
    source, run = tmp_path / "rows.csv", tmp_path / "run"
    lines = (f"{cell},{i % 5}.5,{i % 7}.5\n" for i, cell in enumerate(cells))
    source.write_text("when,a,y\n" + "".join(lines))
    more = ("--drop", "when") if dropped else ()
    assert called("learn", source, "--target", "y", "--learner", "adagrad", *more, "--to", run)[0] == 0
    for begin, end in (WRITTEN[written], ("2026-03-04", "2026-03-05")):
        args = ("--between", begin, end, "--time", "when", "--dry-run", "--json")
        status, out, said = called("retract", run, *args)
        assert status == 0, said
        assert (json.loads(out)["rows"], json.loads(out)["first_row"]) == (48, 73)
    assert "two times" in called("retract", run, "--between", "soon", "later", "--time", "when")[2]


def test_a_run_without_earlier_states_is_learned_again_from_the_start(tmp_path, monkeypatch):
    lines, rows = rows_of(150), [100]
    history = History(tmp_path / "history", "adagrad", lines)
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint_tree, "LARGEST", -1)
        history.learn(150)
    assert not (history.run / "tree").exists()
    _, _, said = called("retract", history.run, "--rows", "100")
    assert "learning from the start" in said
    clean = History(tmp_path / "clean", "adagrad", without(rows, lines)[0])
    clean.learn(149)
    assert_same(history.run, clean.run, without(rows, lines)[1])


@pytest.mark.parametrize("player", ["adagrad", "keys", "own keys"])
def test_rows_of_several_sources_are_taken_back(tmp_path, monkeypatch, player):
    monkeypatch.setattr(byte_stream, "BLOCK", 200)
    lines = rows_of(200)
    parts = []
    for first in (0, 80, 130):
        parts.append(tmp_path / f"part-{first}.csv")
        parts[-1].write_text(HEADER + "".join(lines[first : {0: 80, 80: 130, 130: 200}[first]]))
    run, clean = tmp_path / "run", History(tmp_path / "clean", player, without([70, 85, 199], lines)[0])
    assert called("learn", *parts, *clean.args, "--to", run, "--quiet")[0] == 0
    assert called("retract", run, "--rows", "70,85,199", "--quiet")[0] == 0
    clean.learn(197)
    assert_same(run, clean.run, without([70, 85, 199], lines)[1])
    new = rows_of(30, seed=9)
    parts.append(tmp_path / "more.csv")
    parts[-1].write_text(HEADER + "".join(new))
    assert called("learn", parts[-1], "--into", run, "--quiet")[0] == 0
    clean.lines = [*clean.lines, *new]
    clean.learn(227)
    numbers = without([70, 85, 199], [*lines, *new])[1]
    assert_same(run, clean.run, numbers)
    later = rows_of(40, seed=10)
    parts[0].write_text(parts[0].read_text() + "".join(later))  # it has grown after others were learned
    assert called("learn", parts[0], "--into", run, "--quiet")[0] == 0
    assert called("retract", run, "--rows", "71,250", "--quiet")[0] == 0
    gone = [70, 71, 85, 199, 250]
    left, numbers = without(gone, [*lines, *new, *later])
    again = History(tmp_path / "again", player, left)
    again.learn(len(left))
    assert_same(run, again.run, numbers)
    assert not called("verify", run)[0]


def test_rows_that_are_named_again_and_again_are_counted_once_and_take_no_memory():
    found = rows_in([(5, 9), (1, 1_000_000), *[(2, 999_999)] * 100_000, [1_000_000, 1_000_002]])
    assert np.array_equal(found, np.arange(1, 1_000_003))
    assert rows_in([(7, 3), (2, 2)]).tolist() == [2] and len(rows_in([])) == 0
