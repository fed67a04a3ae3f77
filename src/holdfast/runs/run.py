"""A run: its folder, its games, and how far it is. It can be killed at any moment and resumed."""

import dataclasses
import datetime
import itertools
import json
import time
from functools import partial

import numpy as np
import pyarrow.compute as pc
from safetensors.numpy import save

from holdfast import background
from holdfast.compiling import WORTH_COMPILING
from holdfast.flatten import digest
from holdfast.learners import Scaled
from holdfast.norms import L1
from holdfast.runs.answers import Answers
from holdfast.runs.audit import MISSING, NO_TARGET, RELEASED, RoundLog, sizes_of, thresholds_of
from holdfast.runs.blame import Blame
from holdfast.runs.checkpoint import (
    CHECKPOINT,
    FORMAT,
    TIMES,
    CheckpointHeader,
    Times,
    read_checkpoint,
    read_config,
    read_times,
    table_layout,
)
from holdfast.runs.files import RunError, damaged, of_another_layout
from holdfast.runs.folder import Folder, table_bytes
from holdfast.runs.games import Games, play_groups
from holdfast.runs.manifest import part_name
from holdfast.runs.metrics_file import metrics_writer
from holdfast.runs.model import FILE, Model, RowMeasure, read_model
from holdfast.runs.older import older_metrics
from holdfast.runs.settings import loss_for
from holdfast.runs.source_records import SourceRecord
from holdfast.runs.state_parts import StateParts
from holdfast.runs.trace import KeySums, Trace
from holdfast.runs.upkeep import Upkeep, next_upkeep
from holdfast.terminal import as_json

_INTERPRETED = 500  # rounds in Python, before the clock and the signals are checked again
_INTERPRETED_KEYS = 20_000  # the same with keys, because it takes time to restore the state of each key
_COMPILING = 0.5  # seconds to wait for the compiler after so many rounds in Python
_FEW_KEYS = 10_000  # up to so many, each checkpoint writes the model
_MANY_KEYS = 1_000  # in one piece; with more, the game is compiled
_WORTH_LOADING = 8_000  # rounds; in Python they take longer than to load numba
_MOST_CERTIFICATES, _MOST_WORDS = 1_000, 10  # games with a certificate, and in a sentence


class Run:
    """A run. `sources` has a record for each of its sources, `parts` is the number of checkpoints."""

    def __init__(self, folder, source_name, settings, layout, target):
        self.folder, self.source_name, self.settings = folder, source_name, settings
        self.layout, self.target = layout, target
        self.regression = target.regression
        self.loss = loss_for(settings.loss, self.regression)
        self.player = settings.player(self.regression, layout)
        labels, keyed = target.modelled_labels() or ("",), settings.key is not None
        figures = (self.player, layout.feature_count(), self.loss, labels, layout.is_sparse())
        self.games = Games(*figures, keyed=keyed)
        self.upkeep = None
        if keyed:
            self.upkeep = Upkeep(self.games, partial(Games, *figures), settings.has_prior(), settings.evict)
        self.states = StateParts()
        self.log = RoundLog(labels, self.regression and settings.scale, settings.sizes, keyed)
        self.trace = Trace(0 if keyed else layout.feature_count())
        self.trace.wide &= not keyed
        self.sources: list[SourceRecord] = []
        self._older: dict | None = None  # the metrics, if the tables have another layout than in this version
        self.parts, self.finished = 0, False
        self.keys, self.answers = KeySums(), Answers(len(target.labels))
        self.measure = row_measure(self.player.core())
        names = [] if layout.is_sparse() else layout.features()
        self.blame = Blame(names, target.name, self.regression, self.measure.farthest)
        self.compiled, self.expected, self._looked_up = False, 0, False
        self.times, self.notes, self._since = Times(), [], None
        self._write_metrics = None
        self.in_background = True  # whether another process may compile
        self._compilation = None  # the arguments for which one does
        self._modelled = 0  # rounds, when the model was written last

    # -- rounds

    def choose_compiled(self, piece, progress):
        """Compile the next rounds if there are many, or if the disk cache has the compiled game."""
        if self.compiled:
            return
        rounds = max(self.expected, self.trace.rounds)
        many = rounds >= WORTH_COMPILING
        many |= piece.keys is not None and pc.count_distinct(piece.keys).as_py() > _MANY_KEYS
        if not many and (rounds < _WORTH_LOADING or self._looked_up):
            return
        if self._compilation is None:
            row = piece.features.part(0, 1)
            args = self.games.example(row if self.games.scaled else row.with_constant(), np.ones(1))
            stored, self._looked_up = _is_stored(args), True
            elsewhere = many and not stored and self.in_background and background.is_possible(args)
            self.compiled = stored or (many and not elsewhere)
            self._compilation = args if elsewhere else None
            if many and not stored:
                meanwhile = "; until then rounds are played in Python" if elsewhere else ""
                what = "compiling for this learner and these filters, once on this machine"
                progress.note(f"{what}: up to a minute{meanwhile} ...")

    def _take_compiled(self):
        """Let another process compile, so that this one needs less memory. Meanwhile play few rounds."""
        if self._compilation is None:
            return
        if background.compile_soon("call", play_groups, self._compilation):
            self.compiled, self._compilation = True, None  # if the other process failed, compile here
        else:
            background.wait(_COMPILING)

    def learn(self, piece, after, limit):
        """Play the rounds of a piece, at most `limit()` at a time. Stop if `after()` is true."""
        start = 0
        while start < len(piece.y):
            self._take_compiled()
            most = _INTERPRETED if self.settings.key is None else _INTERPRETED_KEYS
            count = len(piece.y) - start if self.compiled else min(len(piece.y) - start, most)
            count = min(count, limit())
            snapshot = self.trace.next_snapshot()
            if self.trace.wide:
                count = min(count, snapshot - self.trace.rounds)
            upkeep = next_upkeep(self.trace.rounds)
            if self.upkeep is not None:
                count = min(count, upkeep - self.trace.rounds)
            self._play(piece, start, start + count)
            if self.upkeep is not None and self.trace.rounds == upkeep:
                self.keys.take(self.upkeep.after_round(upkeep))
            if self.trace.wide and self.trace.rounds == snapshot:
                self.trace.add_snapshot(*self.games.weights_and_scale((0, 0)))
            start += count
            done, last = piece.first + start, int(piece.rows[start - 1]) - piece.record.base
            self.note_source(piece.place, piece.record._replace(done=done, last=last))
            if after():
                return True
        return False

    def note_source(self, place, record):
        """Replace the record of a source, or add it."""
        self.sources[place:] = [record]

    def _play(self, piece, start, stop):
        features, y, rows = piece.features.part(start, stop), piece.y[start:stop], piece.rows[start:stop]
        faults = {i - start: fault for i, fault in piece.faults.items() if start <= i < stop}
        missing = {int(i): MISSING for i in np.flatnonzero(features.missing())}
        missing |= {int(i): NO_TARGET for i in np.flatnonzero(np.isnan(y))}
        if faults or missing:
            lost = list(faults) + [i for i, why in missing.items() if why == NO_TARGET]
            features = features.with_nan(lost)
            y = np.where(np.isin(np.arange(len(y)), list(faults)), np.nan, y)
        if not self.games.scaled:
            features = features.with_constant()
        names = None if piece.keys is None else piece.keys.slice(start, stop - start)
        keys = self._key_indices(names, len(y))
        rounds = self.trace.rounds + 1 + np.arange(len(y))
        outcomes, kept = np.full((len(y), len(self.games.labels)), np.nan), np.ones(len(y), bool)
        measures = ()
        targets = [self._target_of(y, label) for label in range(len(self.games.labels))]

        def blame(reasons, skipped, thresholds):
            return self.blame.columns(reasons, features, y, skipped, self.trace.scale, thresholds)

        if names is not None:
            self.keys.extend(len(self.games.keys))
            self.games.table.touch(keys, rounds)
            self.upkeep.play(keys, self.keys.sums, targets, features, self.compiled)
        for label, target in enumerate(targets):
            columns = self.games.play(keys, label, features, target, self.compiled)
            outcomes[:, label] = columns.predictions
            kept &= columns.kept
            measures = measures or (sizes_of(columns), thresholds_of(columns))
            self.log.add(columns, rounds, rows, target, faults, missing, label, names, blame)
        predicted = self._predicted(outcomes)
        errors = self._errors(outcomes, predicted, y)
        self.trace.add(errors, kept, *measures, predicted, y)
        self.answers.add(outcomes, predicted, y, kept)
        self.keys.set_thresholds(len(self.games.keys), keys, measures[1][0])
        if names is not None:
            self.keys.add(len(self.games.keys), keys, errors, kept)

    def learn_released(self, piece, places, player):
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
                self.games.play(keys, label, features, self._target_of(y, label), False, player).kept[0]
                for label in range(len(self.games.labels))
            ]
            found += [place] if all(learned) else []
        self.games.counts = counts
        return np.array(found, np.int64)

    def _key_indices(self, names, count):
        """The index of the key of each round."""
        if names is None:
            return np.full(count, self.games.indices([""])[0])
        coded = pc.dictionary_encode(names)
        return self.games.indices(coded.dictionary.to_pylist())[coded.indices.to_numpy()]

    def _target_of(self, y, label):
        """The targets in the game of this label: numbers, or +1 for the label and -1 for all others."""
        if self.regression:
            return np.where(np.isfinite(y), y, np.nan)
        return np.where(y == (1.0 if len(self.target.labels) == 2 else float(label)), 1.0, -1.0)

    def _predicted(self, outcomes):
        """The prediction of each round: a number, or the index of a label."""
        if self.regression:
            return outcomes[:, 0]
        return (outcomes[:, 0] > 0.0 if outcomes.shape[1] == 1 else outcomes.argmax(axis=1)).astype(float)

    def _errors(self, outcomes, predicted, y):
        """The error of each prediction; NaN if it is unknown."""
        known = np.isfinite(outcomes).all(axis=1) & np.isfinite(y)
        with np.errstate(all="ignore"):
            errors = np.abs(predicted - y) if self.regression else predicted != y
        return np.where(known, errors, np.nan)

    # -- the folder

    def start_clock(self):
        """Count the seconds of learning from here on."""
        self._since = time.monotonic()

    def _add_times(self):
        seconds, now = self.times.seconds, time.monotonic()
        if self._since is not None:
            seconds, self._since = seconds + now - self._since, now
        saved = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
        self.times = Times(round(seconds, 3), saved)

    def checkpoint(self, last=False):
        """Write everything that is needed to resume from here, and the results so far.

        With many keys, the model is written with the `last` checkpoint, and if there were as many rows as
        keys since it was written.
        """
        results = self._result_files(last) if self.trace.rounds else ()
        self.folder.write(itertools.chain(results, self._checkpoint_files()), self.states.gone)
        self.states.settle(self.games.table.parts)
        self.parts += 1
        self.log.clear()
        if self._write_metrics is not None:
            self._write_metrics(self)

    def save(self):
        """Write the last checkpoint of this process."""
        self.checkpoint(last=True)
        if self.finished:  # no process reads parts that this checkpoint does not need
            self.folder.write((), self.states.gone)
            self.states.gone = []
        self.folder.write_manifest()

    def write_metrics_to(self, path):
        """Write the figures for Prometheus to this file, now and at each checkpoint."""
        self._write_metrics = metrics_writer(path)
        self._write_metrics(self)

    def _checkpoint_files(self):
        """Names and contents. The checkpoint comes last, because it counts the parts."""
        for name, table in self.log.tables().items():
            yield part_name(name, self.parts), table_bytes(table)
        self._add_times()
        yield TIMES, to_json(self.times._asdict())
        keyed = self.settings.key is not None
        if keyed:
            yield from self.states.next_files(self.games, self.keys.sums)
        keys, layout = [] if keyed else list(self.games.keys), self.games.layout
        sources = [record.to_json() for record in self.sources]
        header = CheckpointHeader(sources, self.parts + 1, self.finished, self.log.counts, keys, layout)
        formats = {"format": FORMAT, "table_layout": digest(table_layout())}
        tensors = {f"trace.{name}": np.array(array, order="C") for name, array in self.trace.state().items()}
        tensors |= {f"answers.{name}": array for name, array in self.answers.state().items()}
        if keyed:
            tensors |= self.states.tensors(self.games.table) | self.upkeep.tensors()
        else:
            tensors |= {f"games.{name}": array for name, array in self.games.state().items()}
            tensors |= {"keys": self.keys.sums}
        yield CHECKPOINT, save(tensors, {"holdfast": json.dumps(formats | dataclasses.asdict(header))})

    def restore(self):
        """Continue from the last checkpoint."""
        path = self.folder.path / CHECKPOINT
        try:
            header, tensors = read_checkpoint(self.folder)
            self.parts, self.finished, self.log.counts = header.parts, header.finished, header.counts
            if tensors is None:
                self._restore_older(header)
                return self
            self.trace.load(_with_prefix(tensors, "trace."))
            self.answers.load(_with_prefix(tensors, "answers."))
            if self.settings.key is None:
                self.games.load(header.keys, _with_prefix(tensors, "games."), path, header.state_layout)
                self.keys.load(tensors["keys"], len(header.keys))
            else:
                sums = self.states.read(self.folder, self.games, tensors, path, header.state_layout)
                self.keys.load(sums, len(self.games.keys))
                self.upkeep.load(_with_prefix(tensors, "prior."), path, header.state_layout)
            self.sources = header.records()
        except (ValueError, KeyError) as problem:
            raise problem if isinstance(problem, RunError) else damaged(path, problem) from None
        self.times = read_times(self.folder)
        self._modelled = self.trace.rounds
        self.folder.check_parts(self.parts)
        return self

    def _restore_older(self, header):
        """Read what a run of an earlier version and one of this version have in common."""
        self._older = older_metrics(self._read_results("metrics.json"), self.metrics())
        self.trace.rounds = self._older["rounds"]
        self.games.indices(header.keys)
        self.folder.check_parts(self.parts)

    def _read_results(self, name):
        """The content of metrics.json or certificate.json."""
        try:
            return json.loads(self.folder.read(name))
        except (ValueError, RecursionError) as problem:
            raise (
                problem
                if isinstance(problem, RunError)
                else damaged(self.folder.path / name, "it is no JSON")
            ) from None

    def is_older(self):
        """Whether tables or states have another layout than in this version, so that it cannot go on."""
        return self._older is not None or not self.games.is_current()

    def require_current(self):
        """Raise if the tables have another layout than in this version."""
        if self._older is not None:
            still = "; predict, inspect and audit still read this run"
            raise of_another_layout(self.folder.path / CHECKPOINT, "the tables", still)
        return self

    def check_states(self):
        """Raise RunError if a state of the checkpoint is not valid."""
        self.games.check()
        if self.upkeep is not None:
            self.upkeep.prior.check()

    def clean_up(self):
        """Remove what a killed process left after the last checkpoint."""
        self.folder.clean_up(self.parts, self.states.words)

    def read(self, table, columns=None):
        """The parts of `audit`, `sizes` or `released`, one by one."""
        older = self._older is not None
        return self.folder.read_parts(table, self.parts, self.log.schema(table), columns, older)

    # -- results

    def _result_files(self, last):
        """Names and contents of the model, the metrics and the certificate."""
        keyed = self.settings.key is not None
        keys = list(self.games.keys) if keyed else []
        new = self.trace.rounds - self._modelled
        if last or len(keys) <= _FEW_KEYS or new >= len(keys):
            yield FILE, self.model().to_bytes()
            if keyed:
                yield "keys.parquet", table_bytes(self.keys.table(keys))
            self._modelled = self.trace.rounds
        yield "metrics.json", to_json(self.metrics())
        yield "certificate.json", to_json(self.certificate())

    def model(self):
        """What predicts."""
        keyed = self.settings.key is not None
        parts = (self.layout, self.target, tuple(self.games.keys) if keyed else (), self.settings.key)
        prior = self.upkeep.ready_prior() if self.upkeep is not None else None
        more = (self.answers.recent, self.keys.thresholds(), self.measure)
        return Model(*parts, self.games.parameters(prior), prior is not None, *more)

    def parameters(self):
        """The parameters of the model by name, from the file if the states have another layout."""
        return read_model(self.folder).parameters if self.is_older() else self.games.parameters()

    def metrics(self):
        """The content of metrics.json."""
        if self._older is not None:
            return self._older
        error, kept_error = self.trace.errors()
        counts = dict(sorted(self.log.counts.items()))
        skipped = int(self.trace.sums[4])
        return {
            "task": "regression" if self.regression else "classification",
            "error_is": "mean absolute error" if self.regression else "share of mistakes",
            "rounds": self.trace.rounds,
            "kept": self.trace.rounds - skipped,
            "skipped": skipped,
            "released": counts.pop(RELEASED, 0),
            "skipped_by_reason": counts,
            "error": kept_error,
            "error_of_all_rounds": error,
            "baseline": self.answers.baseline_error(),
            "finished": self.finished,
        } | (self._key_metrics() if self.settings.key is not None else {})

    def _key_metrics(self):
        evicted = self.games.table.count - len(self.games.keys)
        return {"keys": self.keys.summary(list(self.games.keys)) | {"evicted": evicted}}

    def certificate(self):
        """The content of certificate.json: what the run proves, or why it proves nothing."""
        why, released = self.settings.why_no_certificate(), self.log.counts.get(RELEASED, 0)
        if released and not why:
            why = (
                f"There is no certificate: {released:,} rows that a filter had refused were released and "
                "learned from, and no theorem covers that."
            )
        if why:
            return {"proves": None, "words": why}
        if self.is_older():
            found = self._read_results("certificate.json")
            words = found.get("words") if isinstance(found, dict) else None
            return {"proves": None, "words": str(words)}
        k, keys, proofs = self.player.k, list(self.games.keys), {}
        for key, label in self.games.names()[:_MOST_CERTIFICATES]:
            proof = self.games.certificate((key, label), k)
            name = " ".join(filter(None, (keys[key], self.games.labels[label]))) or self.target.name
            proofs[name] = {
                "k": k,
                "sizes": proof.sizes.tolist(),
                "bounds": proof.bounds.tolist(),
                "doubts": list(proof.doubts),
                "words": str(proof),
            }
        words = [p["words"] if len(proofs) == 1 else f"{name}: {p['words']}" for name, p in proofs.items()]
        if len(words) > _MOST_WORDS:
            words[_MOST_WORDS:] = [
                f"certificate.json has the certificates of {len(proofs):,} games of {len(keys):,} keys."
            ]
        return {"proves": proofs, "words": " ".join(words)}


def open_run(to, folder=None, older=False):
    """The run in a folder, as of its last checkpoint; as of its beginning if there is none.

    With `older`, also a run of an earlier version, of which only metrics, certificate and audit can be read.
    """
    folder = folder or Folder(to)
    config = read_config(folder)
    run = Run(folder, config["source"], config["settings"], config["layout"], config["target"])
    run.notes = config["notes"]
    run = run.restore() if folder.has(CHECKPOINT) else run
    return run if older else run.require_current()


def _is_stored(args):
    """Whether the disk cache has the compiled games for these arguments."""
    from holdfast._compiled import is_stored

    return is_stored(play_groups, *args)


def row_measure(guard):
    """How the feature filter of a guarded player measures a row."""
    clip = guard.learner.clip if isinstance(guard.learner, Scaled) else None
    return RowMeasure(isinstance(guard.norm, L1), clip)


def to_json(found):
    return as_json(found, indent=2) + "\n"


def _with_prefix(tensors, prefix):
    return {name.removeprefix(prefix): a for name, a in tensors.items() if name.startswith(prefix)}
