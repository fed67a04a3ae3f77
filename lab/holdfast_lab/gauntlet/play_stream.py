"""Play a contestant on a stream: predict a batch, then learn it; and score it beside the oracle."""

import itertools
import math
import time
from typing import NamedTuple

import numpy as np

from holdfast_lab.gauntlet.adaptive import Adversary
from holdfast_lab.gauntlet.learners import LEARNERS, PANEL, Known, Model, nothing_known
from holdfast_lab.gauntlet.scores import Score, finite, recovery
from holdfast_lab.gauntlet.streams import Stream

FIRST = 50  # rows of the first batch, which nobody predicts
FAILURES = (ValueError, OverflowError, ZeroDivisionError, FloatingPointError, RuntimeError, TypeError)


class Played(NamedTuple):
    """The predictions of a stream, which rows were used if the contestant says so, and what went wrong."""

    predictions: np.ndarray
    kept: np.ndarray | None
    note: str
    seconds: float  # of the processor


def play(model: Model, stream: Stream, delay: int, seed: int = 0, only: np.ndarray | None = None) -> Played:
    """Predict and learn in batches of `delay`. With `only`, no other row is learned from: an oracle.

    Where a contestant raises, it has failed for the rest of the stream.
    """
    rounds, note = len(stream.y), ""
    predictions, kept = nothing_known(rounds), np.full(rounds, -1)
    adversary, learned = Adversary(stream.regression, seed), False
    X, y, spent = stream.X.copy(), stream.y.copy(), 0.0
    start = max(FIRST, delay)
    bounds = [0, *range(start, rounds, delay), rounds]
    for first, last in itertools.pairwise(bounds):
        if stream.adaptive and only is None and first >= 100:
            good = ~stream.bad[:first]
            for t in first + np.flatnonzero(stream.bad[first:last]):
                X[t], y[t] = adversary.replace(model, X[t], float(y[t]), (X[:first][good], y[:first][good]))
        rows = np.arange(first, last) if only is None else first + np.flatnonzero(only[first:last])
        begin = time.process_time()
        try:
            with np.errstate(all="ignore"):
                if learned:
                    asked = stream.X[first:last] if stream.adaptive else X[first:last]
                    predictions[first:last] = model.predict(asked)
                if len(rows):
                    model.partial_fit(X[rows], y[rows])
                    learned = True
        except FAILURES as problem:
            note = f"raised in row {first}: {type(problem).__name__}: {str(problem)[:80]}"
            break
        spent += time.process_time() - begin
        said = getattr(model, "kept", None)
        if said is not None and len(rows):
            kept[rows] = np.asarray(said, int)
    return Played(predictions, kept == 1 if (kept >= 0).any() else None, note, spent)


def errors_of(stream: Stream, predictions: np.ndarray) -> np.ndarray:
    """The error of each round: how far off, or whether the label is wrong; NaN stays NaN."""
    if stream.regression:
        with np.errstate(all="ignore"):
            return np.abs(predictions - stream.truth)
    wrong = (np.where(predictions > 0.0, 1.0, -1.0) != stream.truth).astype(float)
    return np.where(np.isnan(predictions), math.nan, wrong)


def oracle_errors(stream: Stream, delay: int) -> tuple[str, np.ndarray]:
    """The best contestant of the panel when it meets no bad row, and its errors."""
    known, best = Known(stream.regression, 0), ("", np.full(len(stream.y), math.inf))
    good = ~stream.bad & np.isfinite(stream.X).all(axis=1)
    for name in PANEL:
        if LEARNERS[name].numbers_only and not stream.regression:
            continue
        played = play(LEARNERS[name].make(known), stream, delay, only=good)
        errors = errors_of(stream, played.predictions)
        if errors[stream.scored].mean() < best[1][stream.scored].mean():
            best = name, errors
    return best


def score(stream: Stream, played: Played, oracle: np.ndarray) -> Score:
    """The score of a contestant. Mistakes of labels are counted from one on, so that no ratio is infinite."""
    errors, scored = errors_of(stream, played.predictions), stream.scored
    with np.errstate(all="ignore"):
        cost, least = errors[scored].mean(), oracle[scored].mean()
    more = 0.0 if stream.regression else 1.0 / scored.sum()
    broken = bool(played.note) or not math.isfinite(cost)
    bad = np.flatnonzero(stream.bad)
    lost = learned = recovered = after = None
    if played.kept is not None:
        good = ~stream.bad & np.isfinite(stream.X).all(axis=1)
        good[:100] = False
        lost = finite(1.0 - played.kept[good].mean())
        learned = finite(played.kept[bad].mean()) if len(bad) else None
    if len(bad):
        rest = scored & (np.arange(len(errors)) > bad[-1])
        recovered, after = recovery(errors[rest], oracle[rest])
    with np.errstate(all="ignore"):
        excess = (cost + more) / (least + more) - 1.0
    return Score(
        None if broken else finite(cost),
        None if broken else finite(excess),
        lost,
        learned,
        recovered and not broken if recovered is not None else None,
        None if broken else after,
        broken,
        played.note or ("NaN" if broken else ""),
        1e6 * played.seconds / len(errors),
    )
