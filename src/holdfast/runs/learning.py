"""Learn from a source into a folder, so that it can be stopped or killed at any moment and go on."""

import dataclasses
import json
import time
from typing import Any

import numpy as np
import pyarrow.compute as pc
from safetensors.numpy import save

from holdfast.flatten import digest
from holdfast.io.sources import SourceError
from holdfast.play import WORTH_COMPILING
from holdfast.runs.audit import MISSING, NO_TARGET, REASONS, RoundLog, sizes_of, thresholds_of
from holdfast.runs.folder import damaged, of_another_layout, table_bytes
from holdfast.runs.games import TENSORS as GAMES
from holdfast.runs.games import Games
from holdfast.runs.keys import COLUMNS as KEYS
from holdfast.runs.keys import KeySums
from holdfast.runs.manifest import part_name
from holdfast.runs.model import FILE, Model, read_tensors
from holdfast.runs.read_ahead import ReadAhead
from holdfast.runs.settings import loss_for
from holdfast.runs.trace import TENSORS as TRACE
from holdfast.runs.trace import Trace
from holdfast.terminal import OutputLost, as_json

CHECKPOINT, CONFIG = "checkpoint.safetensors", "config.json"
FORMAT = "holdfast checkpoint"  # no number: digests tell the layouts apart
_AT_ONCE = 500  # rounds that are interpreted between two looks at the clock
_OF_KEYS = 20_000  # the same, where each key is taken up and put away again
_MANY_KEYS = 1_000  # of which each is taken up and put away in Python: then it is time to compile
_WORTH_LOADING = 8_000  # rounds: interpreting them takes longer than it does to start numba
_WAITING = 500_000  # rounds written down at the latest
_LOOKED_AT = 1 << 16  # bytes, more than any source looks at to recognise itself
_PROVEN, _TOLD = 1_000, 10  # certificates, of the first games, and of these in words


class Run:
    """A run: its folder, what it was told, and how far it is."""

    def __init__(self, folder, source_name, settings, layout, target):
        self.folder, self.source_name, self.settings = folder, source_name, settings
        self.layout, self.target = layout, target
        self.regression = target.regression
        self.loss = loss_for(settings.loss, self.regression)
        self.player = settings.player(self.regression)
        labels = target.games() or ("",)
        self.games = Games(self.player, layout.breadth(), self.loss, labels, layout.is_sparse())
        keyed = settings.key is not None
        self.books = RoundLog(labels, self.regression and settings.scale, settings.sizes, keyed)
        self.trace = Trace(layout.breadth() if settings.key is None else 0)
        self.trace.wide &= settings.key is None
        self.mark, self.done, self.parts, self.finished = None, 0, 0, False
        self.keys = KeySums()
        self.compiled, self.expected, self._asked = False, 0, False

    # -- the rounds

    def choose(self, piece, progress):
        """Whether to compile the rounds from here on: if there are many, or it was done before."""
        if self.compiled:
            return
        most = max(self.expected, self.trace.rounds)
        many = most >= WORTH_COMPILING
        many |= piece.keys is not None and pc.count_distinct(piece.keys).as_py() > _MANY_KEYS
        if not many and (most < _WORTH_LOADING or self._asked):
            return
        self._asked, stored = True, self.games.is_stored(*self._example(piece))
        self.compiled = stored or many
        if self.compiled and not stored:
            progress.note(
                "compiling for this learner and these filters, once on this machine: up to a minute ..."
            )

    def _example(self, piece):
        row = piece.features.part(0, 1)
        return row if self.games.scaled else row.with_constant(), np.ones(1)

    def learn(self, piece, after):
        """Play the rounds of a piece, a few at a time, until `after()` them says to stop."""
        start = 0
        while start < len(piece.y):
            left = len(piece.y) - start
            count = left if self.compiled else min(left, _AT_ONCE if self.settings.key is None else _OF_KEYS)
            snapshot = self.trace.next_snapshot()
            if self.trace.wide:
                count = min(count, snapshot - self.trace.rounds)
            self._play(piece, start, start + count)
            if self.trace.wide and self.trace.rounds == snapshot:
                self.trace.remember(self.games.weights((0, 0)))
            start += count
            self.mark, self.done = piece.mark, piece.first + start
            if after():
                return True
        return False

    def _play(self, piece, start, stop):
        features, y, rows = piece.features.part(start, stop), piece.y[start:stop], piece.rows[start:stop]
        faults = {i - start: fault for i, fault in piece.faults.items() if start <= i < stop}
        missing = {int(i): MISSING for i in np.flatnonzero(features.missing())}
        missing |= {int(i): NO_TARGET for i in np.flatnonzero(np.isnan(y))}
        if faults or missing:
            lost = list(faults) + [i for i, why in missing.items() if why == NO_TARGET]
            features = features.spoiled(lost)
            y = np.where(np.isin(np.arange(len(y)), list(faults)), np.nan, y)
        if not self.games.scaled:
            features = features.with_constant()
        names = None if piece.keys is None else piece.keys.slice(start, stop - start)
        keys = self._keys_of(names, len(y))
        rounds = self.trace.rounds + 1 + np.arange(len(y))
        outcomes, kept = np.full((len(y), len(self.games.labels)), np.nan), np.ones(len(y), bool)
        measures = ()
        for place in range(len(self.games.labels)):
            goal = self._goal(y, place)
            columns = self.games.play(keys, place, features, goal, self.compiled)
            outcomes[:, place] = columns.predictions
            kept &= columns.kept
            measures = measures or (sizes_of(columns), thresholds_of(columns))
            self.books.add(columns, rounds, rows, goal, faults, missing, place, names)
        errors = self._errors(outcomes, y)
        self.trace.add(errors, kept, *measures)
        if names is not None:
            self.keys.add(len(self.games.keys), keys, errors, kept)

    def _keys_of(self, names, count):
        """The place of the key of each round."""
        if names is None:
            return np.full(count, self.games.slots([""])[0])
        coded = pc.dictionary_encode(names)
        return self.games.slots(coded.dictionary.to_pylist())[coded.indices.to_numpy()]

    def _goal(self, y, place):
        """The target of the rounds in a game: numbers, or +1 for its label and -1 for the others."""
        if self.regression:
            return np.where(np.isfinite(y), y, np.nan)
        label = 1.0 if len(self.target.labels) == 2 else float(place)
        return np.where(y == label, 1.0, -1.0)

    def _errors(self, outcomes, y):
        """How wrong each prediction was; NaN where that cannot be said."""
        known = np.isfinite(outcomes).all(axis=1) & np.isfinite(y)
        with np.errstate(all="ignore"):
            if self.regression:
                errors = np.abs(outcomes[:, 0] - y)
            elif len(self.target.labels) == 2:
                errors = ((outcomes[:, 0] > 0.0) != (y > 0.0)).astype(float)
            else:
                errors = (outcomes.argmax(axis=1) != y).astype(float)
        return np.where(known, errors, np.nan)

    # -- the folder

    def checkpoint(self):
        """Write down everything, so that a process that is killed from now on can go on from here."""
        self.folder.write(self._checkpointed())
        self.parts += 1
        self.books.clear()

    def _checkpointed(self):
        """The files of a checkpoint, by name; the checkpoint itself, which counts the parts, comes last."""
        for name, table in zip(("audit", "sizes"), self.books.tables(), strict=True):
            if table is not None:
                yield part_name(name, self.parts), table_bytes(table)
        about = {
            "format": FORMAT,
            "table_layout": digest(table_layout()),
            "state_layout": self.games.layout,
            "mark": self.mark,
            "done": self.done,
            "parts": self.parts + 1,
            "finished": self.finished,
            "counts": self.books.counts,
            "keys": list(self.games.keys),
        }
        tensors = {f"trace.{name}": np.array(array, order="C") for name, array in self.trace.state().items()}
        tensors |= {f"games.{name}": array for name, array in self.games.state().items()}
        tensors |= {"keys": self.keys.sums}
        yield CHECKPOINT, save(tensors, metadata={"holdfast": json.dumps(about)})

    def restore(self):
        """Go on from the last checkpoint; nothing in it is used before it was checked."""
        path = self.folder.path / CHECKPOINT
        about, tensors = read_tensors(path, self.folder.read(CHECKPOINT), FORMAT)
        if about.get("table_layout") != digest(table_layout()):
            raise of_another_layout(path, "the tables", "; predict still reads this run")
        try:
            told = CheckpointHeader.from_json(
                {name: about.get(name) for name in CheckpointHeader.__dataclass_fields__}
            )
            if set(tensors) != set(_COLUMNS):
                raise ValueError("its tensors are not those of a checkpoint")
            self.trace.load(_part(tensors, "trace."))
            self.games.load(told.keys, _part(tensors, "games."), path, told.state_layout)
            self.keys.load(tensors["keys"], len(told.keys) if self.settings.key is not None else 0)
        except ValueError as problem:
            raise damaged(path, problem) from None
        self.mark, self.done, self.parts, self.finished = told.mark, told.done, told.parts, told.finished
        self.books.counts = told.counts
        self.folder.check_parts(self.parts)
        return self

    def read(self, table, columns=None):
        """The parts of `audit` or `sizes`, one by one."""
        return self.folder.read_parts(table, self.parts, self.books.schema(table), columns)

    def model(self):
        parameters = self.games.parameters()
        keys = tuple(self.games.keys) if self.settings.key is not None else ()
        return Model(self.layout, self.target, keys, self.settings.key, parameters)

    def metrics(self):
        """What there is to say in numbers."""
        error, kept_error = self.trace.errors()
        skipped = int(self.trace.sums[4])
        return {
            "task": "regression" if self.regression else "classification",
            "error_is": "mean absolute error" if self.regression else "share of mistakes",
            "rounds": self.trace.rounds,
            "kept": self.trace.rounds - skipped,
            "skipped": skipped,
            "skipped_by_reason": dict(sorted(self.books.counts.items())),
            "error": kept_error,
            "error_of_all_rounds": error,
            "finished": self.finished,
        } | ({"keys": self.keys.summary(list(self.games.keys))} if self.settings.key is not None else {})

    def certificate(self):
        """What the run proves, in words, and in numbers where there are any."""
        why = self.settings.why_no_certificate()
        if why:
            return {"proves": None, "words": why}
        k, keys, proofs = self.player.k, list(self.games.keys), {}
        for key, place in self.games.names()[:_PROVEN]:
            proof = self.games.certificate((key, place), k)
            name = " ".join(filter(None, (keys[key], self.games.labels[place]))) or self.target.name
            proofs[name] = {
                "k": k,
                "sizes": proof.sizes.tolist(),
                "bounds": proof.bounds.tolist(),
                "doubts": list(proof.doubts),
                "words": str(proof),
            }
        words = [p["words"] if len(proofs) == 1 else f"{name}: {p['words']}" for name, p in proofs.items()]
        if len(words) > _TOLD:
            words[_TOLD:] = [f"certificate.json has those of {len(proofs):,} games of {len(keys):,} keys."]
        return {"proves": proofs, "words": " ".join(words)}

    def write_results(self):
        """The model, the metrics and the certificate as of now."""
        self.folder.write(self._results())
        self.folder.settle()

    def _results(self):
        yield FILE, self.model().to_bytes()
        if self.settings.key is not None:
            yield "keys.parquet", table_bytes(self.keys.table(list(self.games.keys)))
        yield "metrics.json", to_json(self.metrics())
        yield "certificate.json", to_json(self.certificate())


@dataclasses.dataclass(frozen=True)
class CheckpointHeader:
    """What a checkpoint says beside its tensors."""

    mark: Any  # where the last block of the source begins; None before the first
    done: int  # rows of that block
    parts: int
    finished: bool
    counts: dict[str, int]  # skipped rounds by reason
    keys: list[str]
    state_layout: str  # digest of the states of the games; compared when one is first used

    @staticmethod
    def from_json(found):
        """The same from JSON; raises ValueError if it does not fit."""
        told = CheckpointHeader(**found)
        if not (_is_count(told.done) and _is_count(told.parts) and isinstance(told.finished, bool)):
            raise ValueError("done, parts and finished are not those of a checkpoint")
        if not (isinstance(told.counts, dict) and set(told.counts) <= set(REASONS)):
            raise ValueError("its reasons are not those of a checkpoint")
        if not all(map(_is_count, told.counts.values())):
            raise ValueError("its counts are not those of a checkpoint")
        texts = isinstance(told.keys, list) and all(isinstance(key, str) for key in told.keys)
        if not texts or len(set(told.keys)) < len(told.keys):
            raise ValueError("its keys are not those of a checkpoint")
        if told.mark is not None and not _is_mark(told.mark):
            raise ValueError("its mark is not that of a checkpoint")
        return told


# The columns of every tensor, by name; those of games.tape are what `state_layout` is a digest of.
_COLUMNS = {"keys": KEYS} | {f"trace.{name}": columns for name, columns in TRACE.items()}
_COLUMNS |= {f"games.{name}": columns for name, columns in GAMES.items()}


def table_layout():
    """What a checkpoint has beside the states of the games: entries of its header, tensors, their columns."""
    return [list(CheckpointHeader.__dataclass_fields__), _COLUMNS]


def _is_count(value):
    return type(value) is int and 0 <= value < 1 << 53


def _is_mark(mark):
    """Whether this tells a place in a source: two counts, and how the bytes there begin."""
    if not isinstance(mark, dict) or set(mark) != {"offset", "row", "begins"}:
        return False
    return (
        _is_count(mark["offset"]) and _is_count(mark["row"]) and mark["row"] > 0 and is_start(mark["begins"])
    )


def is_start(begins):
    """Whether this tells how something begins: a number of bytes, not many, and their CRC-32."""
    fits = isinstance(begins, dict) and set(begins) == {"bytes", "crc32"}
    return fits and all(map(_is_count, begins.values())) and begins["bytes"] <= _LOOKED_AT


def to_json(found):
    return as_json(found, indent=2) + "\n"


def learn(run, source, rows, every, progress, stopped):
    """Learn until there are no more rows or `stopped()`; a checkpoint every so many rounds or seconds."""
    ahead, last, since = ReadAhead(rows), time.monotonic(), run.trace.rounds
    rounds, seconds = every

    def after():
        nonlocal last, since
        due = run.trace.rounds - since >= rounds or time.monotonic() - last >= seconds
        if due or run.books.waiting >= _WAITING:
            run.checkpoint()
            last, since = time.monotonic(), run.trace.rounds
        progress(run, source, piece.read)
        return stopped()

    try:
        while not stopped():
            piece = ahead.next(stopped)
            if piece is None:
                break
            run.choose(piece, progress)
            if run.learn(piece, after):
                break
        run.finished = not stopped()
    except (SourceError, OutputLost):
        _save(run)  # the source cannot be read on, or nobody reads what is printed: keep what was learned
        raise
    finally:
        ahead.leave()
    _save(run)
    return run


def _save(run):
    run.checkpoint()
    if run.trace.rounds:
        run.write_results()


def _part(tensors, prefix):
    return {name.removeprefix(prefix): a for name, a in tensors.items() if name.startswith(prefix)}
