"""Learn from a source into a folder, so that it can be stopped or killed at any moment and go on."""

import json
import time

import numpy as np
from safetensors.numpy import save

from holdfast.runs.audit import MISSING, NO_TARGET, Books
from holdfast.runs.games import Games
from holdfast.runs.model import FILE, Model, read_tensors
from holdfast.runs.reading import Ahead
from holdfast.runs.settings import loss_for
from holdfast.runs.trace import Trace
from holdfast.sources import SourceError
from holdfast.stream import WORTH_COMPILING

CHECKPOINT, CONFIG = "checkpoint.safetensors", "config.json"
FORMAT = "holdfast checkpoint 1"
_AT_ONCE = 500  # rounds that are interpreted between two looks at the clock
_OF_KEYS = 20_000  # the same, where each key is taken up and put away again
_WAITING = 500_000  # rounds written down at the latest


class Run:
    """A run: its folder, what it was told, and how far it is."""

    def __init__(self, folder, source_name, settings, layout, target):
        self.folder, self.source_name, self.settings = folder, source_name, settings
        self.layout, self.target = layout, target
        self.regression = target.regression
        self.loss = loss_for(settings.loss, self.regression)
        self.player = settings.player(self.regression)
        labels = target.games() or ("",)
        self.games = Games(self.player, len(layout.features()), self.loss, labels)
        self.books = Books(
            labels, self.regression and settings.scale, settings.key is not None, settings.sizes
        )
        self.trace = Trace(len(layout.features()) if settings.key is None else 0)
        self.trace.wide &= settings.key is None
        self.mark, self.done, self.parts, self.finished = None, 0, 0, False
        self.key_sums: dict[str, list] = {}
        self.compiled = False

    # -- the rounds

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
        X, y, rows = piece.X[start:stop], piece.y[start:stop], piece.rows[start:stop]
        faults = {i - start: fault for i, fault in piece.faults.items() if start <= i < stop}
        missing = {int(i): MISSING for i in np.flatnonzero(np.isnan(X).any(axis=1))}
        missing |= {int(i): NO_TARGET for i in np.flatnonzero(np.isnan(y))}
        if faults or missing:
            X = X.copy()
            X[list(faults) + [i for i, why in missing.items() if why == NO_TARGET]] = np.nan
            y = np.where(np.isin(np.arange(len(y)), list(faults)), np.nan, y)
        if not self.games.scaled:
            X = np.column_stack([X, np.ones(len(X))])
        rounds = self.trace.rounds + 1 + np.arange(len(y))
        games = len(self.games.labels)
        outcomes, kept = np.full((len(y), games), np.nan), np.ones(len(y), bool)
        columns = np.full((6, len(y)), np.nan)
        for key, places in self._by_key(piece.keys, start, stop):
            for place in range(games):
                goal = self._goal(y[places], place)
                record = self.games.play(key, place, X[places], goal, self.compiled or None)
                outcomes[places, place] = record.predictions
                kept[places] &= record.kept
                if place == 0:
                    columns[:, places] = (
                        *(record.feature_sizes, record.target_sizes, record.sizes),
                        *(record.feature_thresholds, record.target_thresholds, record.thresholds),
                    )
                mine, lost = _within(faults, places), _within(missing, places)
                self.books.add(record, rounds[places], rows[places], goal, mine, lost, place, key)
        errors = self._errors(outcomes, y)
        self.trace.add(errors, kept, columns[:3], columns[3:])
        if self.settings.key is not None:
            self._count_keys(piece.keys[start:stop], errors, kept)

    def _by_key(self, keys, start, stop):
        if keys is None:
            return [("", slice(None))]
        names, codes = np.unique(keys[start:stop].astype(str), return_inverse=True)
        order = np.argsort(codes, kind="stable")
        cuts = np.searchsorted(codes[order], np.arange(len(names) + 1))
        first = [(order[cuts[i]], i) for i in range(len(names))]
        return [(str(names[i]), order[cuts[i] : cuts[i + 1]]) for _, i in sorted(first)]

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

    def _count_keys(self, keys, errors, kept):
        for key, places in self._by_key(keys, 0, len(keys)):
            total = self.key_sums.setdefault(key, [0, 0, 0.0, 0])
            counted = np.isfinite(errors[places]) & kept[places]
            total[0] += len(places)
            total[1] += int(kept[places].sum())
            for error in errors[places][counted].tolist():
                total[2] += error
            total[3] += int(counted.sum())

    # -- the folder

    def checkpoint(self):
        """Write down everything, so that a process that is killed from now on can go on from here."""
        skipped, sizes = self.books.tables()
        for name, table in (("audit", skipped), ("sizes", sizes)):
            if table is not None:
                self.folder.write_part(name, self.parts, table)
        about = {
            "format": FORMAT,
            "mark": self.mark,
            "done": self.done,
            "parts": self.parts + 1,
            "finished": self.finished,
            "counts": self.books.counts,
            "keys": list(self.games.keys),
            "key_sums": self.key_sums,
        }
        trace = {f"trace.{name}": array for name, array in self.trace.state().items()}
        tensors = {name: np.array(array, order="C") for name, array in (self.games.state() | trace).items()}
        self.folder.write(CHECKPOINT, save(tensors, metadata={"holdfast": json.dumps(about)}))
        self.parts += 1
        self.books.clear()

    def restore(self):
        """Go on from the last checkpoint."""
        about, tensors = read_tensors(self.folder.path / CHECKPOINT, FORMAT)
        self.mark, self.done, self.parts = about["mark"], about["done"], about["parts"]
        self.books.counts, self.key_sums = about["counts"], about["key_sums"]
        self.trace.load(
            {name.removeprefix("trace."): a for name, a in tensors.items() if name.startswith("trace.")}
        )
        self.games.load(about["keys"], {name: a for name, a in tensors.items() if name.startswith("games.")})
        self.finished = about["finished"]
        return self

    def model(self):
        found = [self.games.parameters(name) for name in self.games.names()]
        parameters = {name: np.stack([one[name] for one in found]) for name in (found[0] if found else ())}
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
        } | ({"keys": self.key_table()} if self.settings.key is not None else {})

    def key_table(self):
        return {
            key: {"rounds": total[0], "kept": total[1], "error": total[2] / total[3] if total[3] else None}
            for key, total in self.key_sums.items()
        }

    def certificate(self):
        """What the run proves, in words, and in numbers where there are any."""
        why = self.settings.why_no_certificate()
        if why:
            return {"proves": None, "words": why}
        k = self.player.k
        proofs = {}
        for key, place in self.games.names():
            proof = self.games.certificate((key, place), k)
            name = (
                " ".join(filter(None, (list(self.games.keys)[key], self.games.labels[place])))
                or self.target.name
            )
            proofs[name] = {
                "k": k,
                "sizes": proof.sizes.tolist(),
                "bounds": proof.bounds.tolist(),
                "doubts": list(proof.doubts),
                "words": str(proof),
            }
        words = [p["words"] if len(proofs) == 1 else f"{name}: {p['words']}" for name, p in proofs.items()]
        return {"proves": proofs, "words": " ".join(words)}

    def write_results(self):
        """The model, the metrics and the certificate as of now."""
        self.folder.write(FILE, self.model().to_bytes())
        self.folder.write_json("metrics.json", self.metrics())
        self.folder.write_json("certificate.json", self.certificate())


def learn(run, source, rows, every, progress, stopped):
    """Learn until there are no more rows or `stopped()`; a checkpoint every so many rounds or seconds."""
    ahead, last, since = Ahead(rows), time.monotonic(), run.trace.rounds
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
            run.compiled |= run.trace.rounds >= WORTH_COMPILING
            if run.learn(piece, after):
                break
        run.finished = not stopped()
    except SourceError:
        _save(run)  # the rest of the source cannot be read, but this much was learned
        raise
    finally:
        ahead.leave()
    _save(run)
    return run


def _save(run):
    run.checkpoint()
    if run.trace.rounds:
        run.write_results()


def _within(found, places):
    """What is known of some rounds, by their places among these."""
    if isinstance(places, slice) or not found:
        return found
    return {i: found[place] for i, place in enumerate(places.tolist()) if place in found}
