"""Random histories of a run, killed at random writes, against a run that never saw what does not count."""

import contextlib
import copy
import functools
import math
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from runs.faults import killed_at
from runs.histories import HEADER, PLAYERS, WITH_WHO, assert_same, digest, rows_of

from holdfast.cli.learn import settings_of
from holdfast.cli.parser import new_parser
from holdfast.cli.progress import Progress
from holdfast.cli.verify import verify
from holdfast.fleet import prior
from holdfast.io import byte_stream
from holdfast.io.sources import open_source
from holdfast.runs import beginning, checkpoint_tree, learning, recorded, retraction, run
from holdfast.runs.folder import Folder
from holdfast.runs.ledger import RELEASE, RETRACT, Ledger, read_ledger
from holdfast.runs.release import release
from holdfast.runs.run import open_run

CASES = int(os.environ.get("HOLDFAST_RETRACTION_CASES", 1_500))  # of each player, if exhaustive
FIRST, MOST, STREAMS = 30, 60, 20  # rows at first, and in the end
EVERY = (16, 1e9)  # rounds and seconds between checkpoints
KEYED = ("keys", "own keys")  # players of which only the keys concerned are played

# A process that is killed closes no file.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(autouse=True)
def short_intervals(monkeypatch):
    monkeypatch.setattr(checkpoint_tree, "INTERVAL", 4)
    monkeypatch.setattr(run, "_INTERPRETED", 11)
    monkeypatch.setattr(retraction, "_EVERY", EVERY)
    monkeypatch.setattr(prior, "_FIRST", 8)
    monkeypatch.setattr(prior, "_EVERY", 32)
    monkeypatch.setattr(prior, "POOLED", 6)
    for each in (prior, recorded):
        monkeypatch.setattr(each, "ROWS_OF_KEY", 2)
    monkeypatch.setattr(byte_stream, "BLOCK", 100)


@functools.cache
def settings_for(player):
    drop = () if player in WITH_WHO else ("--drop", "who")
    return settings_of(new_parser().parse_args(["learn", "rows.csv", *PLAYERS[player], *drop]))


class Quick:
    """A run, and what is done to it, without the command line. Each step may be killed at a write."""

    shortened = 0  # changes of which only some games were played, and some were not

    def __init__(self, folder, player, lines, every=EVERY):
        self.settings, self.lines, self.every, self.count = settings_for(player), lines, every, 0
        self.ledger, self.folder = Ledger(), folder
        folder.mkdir()
        self.run, self.source, self.list = folder / "run", folder / "rows.csv", folder / "list.csv"

    def copy_to(self, folder):
        """The same run and source in another folder."""
        found = copy.copy(self)
        shutil.copytree(self.folder, folder)
        found.folder, found.run, found.source, found.list = (
            folder,
            *(folder / path.name for path in (self.run, self.source, self.list)),
        )
        return found

    def learn(self, count, kills=()):
        """Learn from the source once it has so many rows."""
        self.count = count
        self.source.write_text(HEADER + "".join(self.lines[:count]))
        for each in (*kills, None):
            with killed_at(each):
                begun = beginning.can_resume(self.run, self.settings, False)
                start = beginning.resume if begun else beginning.begin
                found, inputs, items = start([self.source], self.settings, self.run, lambda text: None)
                with contextlib.closing(found.folder), contextlib.closing(inputs):
                    learning.learn(found, inputs, items, self.every, Progress(), lambda: False)

    def skipped(self):
        """The numbers of the skipped rows."""
        parts = [part.column("row").to_numpy() for part in open_run(self.run).read("audit")]
        return np.unique(np.concatenate([np.zeros(0, int), *parts]))

    def release(self, lines, kills=()):
        """Release rows: their lines by their numbers."""
        self.list.write_text("skipped_row," + HEADER + "".join(f"{row},{lines[row]}" for row in lines))
        for each in (*kills, None):
            with killed_at(each), self._opened() as found:
                if not self._is_new(found):
                    with contextlib.closing(open_source(self.list)) as source:
                        release(found, source)
        self.ledger = read_ledger(open_run(self.run))

    def change(self, to_change, argument, kills=()):
        """Take rows back, or undo an entry. If it is killed, the run is as before or as after."""
        before, named, seen = state(self.run) if kills else None, [self.source], []
        for each in (*kills, None):
            with killed_at(each) as self.writes, self._opened() as found:
                begun = retraction.resume(found)
                if begun is None and self._is_new(found):
                    break
                again = begun[0] if begun else retraction.begin(found, to_change(found, argument), named)
                with contextlib.closing(again.folder):
                    assert retraction.replay(found, again, named, Progress(), lambda: False)
                    self.shortened += again.changed is not None
            if each:
                seen.append((state(self.run), self._is_new(open_run(self.run))))
        for found, is_done in seen:
            assert found == (state(self.run) if is_done else before)
        assert self._is_new(open_run(self.run)) and not (self.run / "replay").exists()
        self.ledger = read_ledger(open_run(self.run))

    def _is_new(self, found):
        """Whether the ledger has a new entry."""
        return len(read_ledger(found).entries) > len(self.ledger.entries)

    @contextlib.contextmanager
    def _opened(self):
        folder = Folder(self.run)
        folder.load()
        folder.lock()
        with contextlib.closing(folder):
            found = open_run(self.run, folder)
            found.check_states()
            found.clean_up()
            yield found


def state(run):
    """What a run is, without model and metrics, which may be ahead after a kill."""
    return {name: value for name, value in digest(run).items() if name not in ("metrics", "model")}


ROWS = st.integers(1, MOST)
WRITES = st.lists(st.integers(1, 300), max_size=2)  # at which a step is killed, and when it goes on again
STEPS = st.one_of(
    st.tuples(
        st.just("retract"),
        st.lists(ROWS.map(lambda n: [n]) | ROWS.map(lambda n: range(n, n + 5)), max_size=5),
        WRITES,
    ),
    st.tuples(st.just("restore"), st.integers(0, 5), WRITES),
    st.tuples(st.just("release"), st.integers(1, 3), WRITES),
    st.tuples(st.just("learn"), st.integers(1, 15), WRITES),
)


def check_history(start, folder, player, steps):
    history = start.copy_to(folder / "history")
    lines, released = history.lines, {}  # the lines of an entry by row, and how many rows there were
    for what, value, kills in steps:
        ledger = history.ledger
        if what == "learn":
            history.learn(min(history.count + value, MOST), kills)
        elif what == "retract":
            out = ledger.retracted()
            rows = [row for some in value for row in some if row <= history.count] or history.skipped()
            rows = np.setdiff1d(rows, out)
            if len(rows) and len(out) + len(rows) < history.count - 8:
                history.change(retraction.to_retract, rows, kills)
        elif what == "release":
            chosen = {row: corrected(lines[row - 1], value) for row in history.skipped()[::value].tolist()}
            history.release(chosen, kills)
            for entry in history.ledger.entries[len(ledger.entries) :]:
                released[entry.number] = {row: chosen[row] for row in entry.rows.tolist()}, history.count
        elif can := [entry.number for entry in (*ledger.active(RETRACT), *ledger.active(RELEASE))]:
            history.change(retraction.to_restore, can[value % len(can)], kills)
    assert not verify(history.run)["problems"]
    assert_same_as_by_hand(history, released, folder / "clean", player)
    return history.shortened


def corrected(line, value):
    """The line as it is, or with another value of a feature."""
    a, _, *rest = line.split(",")
    return line if value < 3 else ",".join([a, "0.25", *rest])


def assert_same_as_by_hand(history, released, folder, player):
    """Compare with a run that learns only the rows that count, and releases only what counts."""
    numbers = np.setdiff1d(np.arange(1, history.count + 1), history.ledger.retracted())
    places = {int(row): place for place, row in enumerate(numbers, 1)}
    clean = Quick(folder, player, [history.lines[row - 1] for row in numbers], (math.inf, 1e9))
    for number, (lines, after) in released.items():
        if number not in history.ledger.undone():
            clean.learn(int((numbers <= after).sum()))
            skipped = clean.skipped()
            clean.release({places[row]: lines[row] for row in lines if places.get(row) in skipped})
    clean.learn(len(numbers))
    assert_same(history.run, clean.run, numbers)


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """Runs of the first rows, by player and stream: each is made once."""

    @functools.cache
    def start(player, seed):
        lines = rows_of(MOST, seed, late=player in KEYED)
        found = Quick(tmp_path_factory.mktemp("start") / "history", player, lines)
        found.learn(FIRST)
        return found

    return start


@pytest.mark.parametrize(
    ("player", "examples"),
    [
        *((player, 3) for player in list(PLAYERS)[::2]),
        *(pytest.param(player, 30, marks=pytest.mark.slow) for player in PLAYERS),
        *(pytest.param(player, CASES, marks=pytest.mark.exhaustive) for player in PLAYERS),
    ],
)
def test_any_history_ends_as_if_only_what_counts_had_happened(started, tmp_path, player, examples):
    shortened = []

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck), deadline=None)
    @given(st.lists(STEPS, min_size=1, max_size=4), st.integers(0, STREAMS - 1))
    def check(steps, seed):
        with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
            shortened.append(check_history(started(player, seed), Path(folder), player, steps))

    check()
    if player in KEYED and examples > 50:
        assert sum(shortened) > examples / 4


@pytest.mark.parametrize(
    ("player", "every"),
    [
        ("adagrad", 80),
        *(pytest.param(player, 25, marks=pytest.mark.slow) for player in PLAYERS),
        *(pytest.param(player, 1, marks=pytest.mark.exhaustive) for player in PLAYERS),
    ],
)
def test_a_retraction_that_is_killed_at_any_write_goes_on(started, tmp_path, player, every):
    start = started(player, 3).copy_to(tmp_path / "start")
    if player not in KEYED:  # with released rows all games are played
        start.release({row: start.lines[row - 1] for row in start.skipped()[::2].tolist()})
    start.learn(MOST)
    whole = start.copy_to(tmp_path / "whole")
    whole.change(retraction.to_retract, [9, 10, 11, 40])
    last = whole.writes[0]
    assert last > 100
    for write in sorted({*range(1, last, every), *range(last - 8, last + 1)}):  # the last ones remove files
        killed = start.copy_to(tmp_path / str(write))
        killed.change(retraction.to_retract, [9, 10, 11, 40], [write])
        assert_same(killed.run, whole.run)
        assert not verify(killed.run)["problems"]
        shutil.rmtree(killed.folder)
