"""A run: its folder, its games, and how far it is. It can be killed at any moment and resumed."""

import datetime
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.fleet.games import Games
from holdfast.fleet.grouped_rounds import KEEP
from holdfast.fleet.key_table import KeySums
from holdfast.fleet.parts import StateParts
from holdfast.fleet.prior import Upkeep, next_upkeep
from holdfast.intervals.widths import with_near_rows
from holdfast.io.rows import DenseRows
from holdfast.io.sources import Piece
from holdfast.learners import Scaled
from holdfast.levels import Event, RowEvents
from holdfast.norms import L1
from holdfast.options import TERMINAL, read_loss
from holdfast.runs import results
from holdfast.runs.answers import Answers
from holdfast.runs.audit import MEASURES, MISSING, NO_TARGET, RoundLog, blame, by_measure
from holdfast.runs.checkpoint import (
    CHECKPOINT,
    EarlierState,
    Times,
    checkpoint_files,
    load_checkpoint,
    read_times,
)
from holdfast.runs.checkpoint_tree import CheckpointTree
from holdfast.runs.compile_choice import CompileChoice
from holdfast.runs.config import Config, read_config
from holdfast.runs.folder import Folder
from holdfast.runs.manifest import STATES, TREE, part_name
from holdfast.runs.model import RowMeasure, errors_of, margins_of, predictions_of, targets_of
from holdfast.runs.recorded import Changed, Recorded
from holdfast.runs.results import result_files, write_metrics
from holdfast.runs.source_records import SourceRecord
from holdfast.runs.trace import Skips, Trace
from holdfast.steady import Steady

_INTERPRETED = 500  # rounds in Python, before the clock and the signals are checked again
_INTERPRETED_KEYS = 20_000  # the same with keys, because it takes time to restore the state of each key


class Run:
    """A run. `sources` has a record for each of its sources, `parts` is the number of checkpoints."""

    def __init__(self, folder: Folder, config: Config) -> None:
        self.folder, self.config = folder, config
        settings, layout, target = config.settings, config.layout, config.target
        self.settings, self.layout, self.target = settings, layout, target
        self.regression = target.regression
        self.loss = read_loss(settings.loss, self.regression, TERMINAL)
        self.player = settings.player(self.regression, layout)
        labels, keyed = target.model_names(), settings.key is not None
        figures = (self.player, layout.feature_count(), self.loss, labels, layout.is_sparse())
        self.games = Games(*figures, keyed=keyed)
        self.upkeep: Upkeep | None = None
        if keyed:
            self.upkeep = Upkeep(self.games, partial(Games, *figures), settings.has_prior(), settings.evict)
        self.states, self.tree = StateParts(), CheckpointTree()
        by_target, core = self.regression and settings.scale, self.player.core()
        checks = self.player.check_names()
        recorded = settings.sizes and keyed and settings.evict is None and len(labels) == 1
        self.log = RoundLog(
            labels, checks, by_target, settings.sizes, keyed, core.learns_little(), layout.time(), recorded
        )
        # If not None, only games of these keys are played; the others may be as after an earlier round.
        self.changed: Changed | None = None
        self.trace = Trace(0 if keyed else layout.feature_count())
        self.trace.wide &= not keyed
        self.sources: list[SourceRecord] = []
        self.parts, self.finished = 0, False
        self.keys, self.answers = KeySums(), Answers(len(target.labels))
        self.skips = Skips(layout, target)
        self.measure = row_measure(core)
        names = [] if layout.is_sparse() else layout.features()
        self._blame = partial(blame, np.array(names, object), target.name, self.regression)
        self.compiling = CompileChoice(self.games)
        self.times, self._since = Times(), -1.0  # when learning began, on the clock; negative before
        self._metrics_file: str | Path | None = None
        self._events: RowEvents | None = None
        self.modelled = 0  # rounds, when the model was written last

    # -- rounds

    def learn(self, piece: Piece, after: Callable[[Piece], bool], limit: Callable[[], int]) -> bool:
        """Play the rounds of a piece, at most `limit()` at a time. Stop if `after(piece)` is true."""
        start = 0
        while start < len(piece.y):
            most = _INTERPRETED if self.settings.key is None else _INTERPRETED_KEYS
            count = len(piece.y) - start if self.compiling.compiled else min(len(piece.y) - start, most)
            count = min(count, limit())
            snapshot = self.trace.next_snapshot()
            count = min(count, self.tree.next_round(self.trace.rounds) - self.trace.rounds)
            if self.trace.wide:
                count = min(count, snapshot - self.trace.rounds)
            upkeep = next_upkeep(self.trace.rounds)
            if self.upkeep is not None:
                count = min(count, upkeep - self.trace.rounds)
            self._play(piece, start, start + count)
            if self.upkeep is not None and self.trace.rounds == upkeep:
                self.keys.take(self.upkeep.after_round(upkeep))
            if self.trace.wide and self.trace.rounds == snapshot:
                self.trace.add_snapshot(self.games.weights((0, 0)))
            start += count
            done, last = piece.done(start), int(piece.rows[start - 1]) - piece.record.base
            self.note_source(piece.place, piece.record._replace(done=done, last=last))
            if self.tree.next_round(self.trace.rounds - 1) == self.trace.rounds and not self.changed:
                self.take_state()
            if after(piece):
                return True
        return False

    def take_state(self) -> None:
        """Add the state of now to the earlier ones."""
        state = EarlierState.of(self)
        self.tree.add(self, state, state.byte_count())

    def note_source(self, place: int, record: SourceRecord) -> None:
        """Replace the record of a source, or add it."""
        self.sources[place:] = [record]

    def source_records(self) -> list[SourceRecord]:
        """The records of the sources, in the order of their rows; that of the first, if none was read yet."""
        return self.sources or [SourceRecord(self.config.source, self.config.source_begins)]

    def _play(self, piece: Piece, start: int, stop: int) -> None:
        features, y, rows = piece.features.part(start, stop), piece.y[start:stop], piece.rows[start:stop]
        known, recorded = y, piece.recorded and piece.recorded.part(start, stop)
        faults = {i - start: fault for i, fault in piece.faults.items() if start <= i < stop}
        missing = {int(i): MISSING for i in np.flatnonzero(features.missing())}
        missing |= {int(i): NO_TARGET for i in np.flatnonzero(np.isnan(y))}
        if faults or missing:
            lost = list(faults) + [i for i, why in missing.items() if why == NO_TARGET]
            features, y = features.with_nan(lost), y.copy()
            y[list(faults)] = np.nan
        if not self.games.scaled:
            features = features.with_constant()
        names, times = (
            None if cells is None else cells.slice(start, stop - start) for cells in (piece.keys, piece.times)
        )
        keys = self._key_indices(names, len(y))
        rounds = self.trace.rounds + 1 + np.arange(len(y))
        near, refused = np.ones(len(y), bool), self.player.check_names()
        outcomes, kept = np.full((len(y), len(self.games.labels)), np.nan), np.ones(len(y), bool)
        measures, warm = np.empty((2, len(MEASURES), len(y))), np.zeros(len(y), bool)
        targets = targets_of(self.target, y)
        first = np.argmax(~np.isnan(targets), axis=0)  # the game, of those that learn from a row

        if self.upkeep is not None:
            self.keys.extend(len(self.games.keys))
            self.games.table.touch(keys, rounds)
            self.upkeep.play(keys, self.keys.sums, targets, features, self.compiling.compiled)
        for label, target in enumerate(targets):
            columns = self._answers_of(recorded, keys, label, features, target)
            blamed = partial(self._blame, features, y, columns.farthest)
            outcomes[:, label] = columns.predictions
            kept &= columns.kept
            near &= np.isfinite(with_near_rows(np.ones(len(y)), columns.refused_by, refused))
            mine = first == label
            both = [by_measure(each, self.log.checks) for each in (columns.sizes, columns.thresholds)]
            measures[..., mine] = np.array(both)[..., mine]
            noted = (columns, rounds, rows, target, faults, missing, label, names, blamed, times)
            warm[self.log.add(*noted, *([recorded.describe] if recorded else ()))] = True
            self.log.add_forecasts(columns, rows, known)
        margins, thresholds = margins_of(self.target, outcomes), measures[1, 0]
        predicted = predictions_of(self.target, margins)
        errors = errors_of(self.target, margins, predicted, y)
        self.trace.add(errors, kept, warm, measures[0], measures[1], predicted, y)
        self.answers.add(margins, predicted, y, kept, near)
        self.skips.add(rows, known, kept, warm)
        for names_of_skipped in self.log.take_blamed():
            self.skips.blame(names_of_skipped)
        if self._events is not None:
            cells = features.X if isinstance(features, DenseRows) and names is None else None
            of_keys = None if names is None else names.to_pylist()
            self._events.add(kept | warm, cells, self.log.about_skipped(rows), rows, of_keys)
        if len(targets) > 1:  # a pair of rare labels has none yet
            thresholds = np.where(np.isinf(thresholds), np.nan, thresholds)
        self.keys.set_thresholds(len(self.games.keys), keys, thresholds)
        if names is not None:
            self.keys.add(len(self.games.keys), keys, errors, kept, warm)

    def _answers_of(
        self, recorded: Recorded | None, keys: np.ndarray, label: int, features: Any, y: np.ndarray
    ) -> Any:
        """The columns of these rounds: as recorded, or played."""
        if recorded is None:
            return self.games.play(keys, label, features, y, self.compiling.compiled)
        self.games.begin()
        columns, again = recorded.columns(self.log.checks), np.flatnonzero(recorded.again)
        if len(again):
            some = (keys[again], label, features.take(again), y[again], self.compiling.compiled)
            played = self.games.play(*some)
            for name in KEEP:
                getattr(columns, name)[again] = getattr(played, name)
        return columns

    def learn_released(self, piece: Piece, places: np.ndarray, player: Any) -> np.ndarray:
        """Learn from these rows of a piece with another player; return those learned from.

        They are no rounds: they change no count, no error and no audit.
        """
        found, counts = [], self.games.counts.copy()
        for place in places:
            features, y = piece.features.part(place, place + 1), piece.y[place : place + 1]
            features = features if self.games.scaled else features.with_constant()
            names = None if piece.keys is None else piece.keys.slice(place, 1)
            keys = self._key_indices(names, 1)
            self.games.table.change(keys)
            learned = [
                self.games.play(keys, label, features, target, False, player).kept[0]
                for label, target in enumerate(targets_of(self.target, y))
            ]
            found += [place] if all(learned) else []
        self.games.counts = counts
        return np.array(found, np.int64)

    def _key_indices(self, names: Any, count: int) -> np.ndarray:
        if names is None:
            return np.full(count, self.games.indices([""])[0])
        coded = pc.dictionary_encode(names)
        return self.games.indices(coded.dictionary.to_pylist())[coded.indices.to_numpy()]

    # -- the folder

    def start_clock(self) -> None:
        """Count the seconds of learning from here on."""
        self._since = time.monotonic()

    def _add_times(self) -> None:
        seconds, now = self.times.seconds, time.monotonic()
        if self._since >= 0.0:
            seconds, self._since = seconds + now - self._since - self.compiling.seconds, now
            self.compiling.seconds = 0.0
        saved = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
        self.times = Times(round(seconds, 3), saved)

    def checkpoint(self, last: bool = False) -> None:
        """Write everything that is needed to resume from here, and the results so far."""
        results = result_files(self, last) if self.trace.rounds else ()
        self._add_times()
        gone = self._gone() + [part_name(TREE, number) for number in self.tree.drop(self.trace.rounds)]
        self.folder.write(itertools.chain(results, checkpoint_files(self)), gone)
        self.states.settle(self.games.table.parts)
        self.parts += 1
        self.log.clear()
        if self._metrics_file is not None:
            write_metrics(self, self._metrics_file)

    def save(self) -> None:
        self.checkpoint(last=True)
        if self.finished:  # no process reads parts that this checkpoint does not need
            self.folder.write((), self._gone())
            self.states.gone = []
        self.folder.write_manifest()

    def _gone(self) -> list[str]:
        return [part_name(STATES, number) for number in self.states.gone]

    def write_metrics_to(self, path: str | Path) -> None:
        """Write the figures for Prometheus to this file, now and at each checkpoint."""
        self._metrics_file = path
        write_metrics(self, path)

    def tell_events_to(self, on_event: Callable[[Event], Any]) -> None:
        """Call this function with each event from here on; frozen columns are looked for without keys."""
        sparse = self.layout.is_sparse() or self.settings.key is not None
        self._events = RowEvents([] if sparse else self.layout.features(), on_event)

    def restore(self) -> "Run":
        """Continue from the last checkpoint."""
        header = load_checkpoint(self)
        self.parts, self.finished, self.log.counts = header.parts, header.finished, header.counts
        self.sources, self.times = header.sources, read_times(self.folder)
        self.modelled = self.trace.rounds
        self.tree.load(header.tree)
        self.folder.replaced = tuple(header.replaced)
        self.folder.check_parts(self.parts)
        return self

    def check_states(self) -> None:
        """Raise RunError if a state of the checkpoint is not valid."""
        self.games.check()
        if self.upkeep is not None:
            self.upkeep.check()

    def clean_up(self) -> None:
        """Remove what a killed process left after the last checkpoint."""
        needed = {STATES: self.states.bytes, TREE: [node.number for node in self.tree.nodes]}
        self.folder.clean_up(self.parts, needed)

    def read(self, table: str, columns: Sequence[str] | None = None, since: int = 0) -> Iterator[pa.Table]:
        """The parts of `audit`, `sizes` or `released`, one by one, from this number on."""
        return self.folder.read_parts(table, self.parts, self.log.schema(table), columns, since)

    # -- results

    model, metrics, certificate = results.model, results.metrics, results.certificate


def open_run(to: str | Path, folder: Folder | None = None) -> Run:
    """The run in a folder, as of its last checkpoint; as of its beginning if there is none."""
    folder = folder or Folder(to)
    run = Run(folder, read_config(folder))
    return run.restore() if folder.has(CHECKPOINT) else run


def row_measure(guard: Any) -> RowMeasure:
    if isinstance(guard, Steady):
        return RowMeasure(True, None, constant=False)
    clip = guard.learner.clip if isinstance(guard.learner, Scaled) else None
    return RowMeasure(isinstance(guard.norm, L1), clip)
