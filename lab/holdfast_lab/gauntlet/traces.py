"""Sequences of gradient norms: eight that were recorded, and what can go wrong added to them."""

import copy
import csv
import functools
import gzip
import math
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from holdfast_lab.gauntlet.optimizers import Recorder
from holdfast_lab.gauntlet.scores import Score, finite
from holdfast_lab.gauntlet.stepping import Stepper, Stepping

_NORMS = Path(__file__).with_name("norms")
WARM = 100  # first steps: what is left out of them is not counted
HUGE = 1e6  # no limit is looked for above this many times the usual norm


class TraceScenario(NamedTuple):
    """A recorded training, and what is added to it. `share` of its steps is bad, if the kind has one."""

    trace: str
    kind: str = "as recorded"
    share: float = 0.0
    steps: int = 1000
    seed: int = 0

    @property
    def name(self) -> str:
        return (
            f"norms {self.trace}: {self.kind}"
            + (f", {self.share:.0%}" if self.share else "")
            + (f", seed {self.seed}" if self.seed else "")
        )

    @property
    def larger(self) -> bool:
        return self.kind in ("masking", "early spike", "spikes", "burst", "infinite") and self.share <= 0.1


class Trace(NamedTuple):
    norms: np.ndarray
    bad: np.ndarray
    attacked: np.ndarray  # steps whose norm is just what the contestant takes


def make_trace(scenario: TraceScenario) -> Trace:
    norms, bad = (each[: scenario.steps].copy() for each in _recorded(scenario.trace))
    attacked, usual = np.zeros(len(norms), bool), float(np.median(norms))
    rng = np.random.default_rng([scenario.seed, 3])
    start = len(norms) // 2
    if scenario.kind == "masking":  # A
        norms[[start, start + 20]], bad[[start, start + 20]] = (1e6 * usual, 4e5 * usual), True
    elif scenario.kind == "one NaN":  # B
        norms[start], bad[start] = math.nan, True
    elif scenario.kind == "early spike":  # C
        norms[5], bad[5] = 1e6 * usual, True
    elif scenario.kind == "many NaN":  # D
        some = np.arange(start, start + 50)
        some = some[some % 5 != 0]
        norms[some], bad[some] = math.nan, True
    elif scenario.kind == "new scale":  # E
        norms[start:] *= 100.0
    elif scenario.kind == "ramp":  # F
        some = np.arange(start, start + 80, 2)
        attacked[some] = bad[some] = True
    elif scenario.kind == "infinite":  # I
        norms[[start, start + 30]], bad[[start, start + 30]] = (math.inf, 1e300), True
    elif scenario.kind == "spikes":  # G and H: any size, any place
        some = rng.choice(np.arange(WARM, len(norms)), round(scenario.share * len(norms)), replace=False)
        norms[some], bad[some] = usual * 10.0 ** rng.uniform(1.0, 15.0, len(some)), True
    elif scenario.kind == "burst":
        some = np.arange(start, start + round(scenario.share * len(norms)))
        norms[some], bad[some] = 1e3 * usual, True
    elif scenario.kind != "as recorded":
        raise ValueError(f"there is no kind of trace {scenario.kind!r}")
    return Trace(norms, bad, attacked)


@functools.cache
def _recorded(name: str) -> tuple[np.ndarray, np.ndarray]:
    with gzip.open(_NORMS / f"{name}.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return np.array([float(row["norm"]) for row in rows]), np.array([row["bad"] == "1" for row in rows])


def play_trace(stepper: Stepper, trace: Trace) -> Score:
    """How much of the steps was wrong: norms of bad steps taken and good ones lost, over the good.

    A good step that is clipped counts as lost by what is cut off, and a bad one as taken by what is left. So
    the cost is 0 for the oracle, and 1 for one who takes no step at all.
    """
    recorder = Recorder()
    stepping = stepper.make(recorder, int(trace.bad.sum()))
    arrived, given, note = np.zeros(len(trace.norms)), trace.norms.copy(), ""
    start = time.process_time()
    for t, norm in enumerate(trace.norms.tolist()):
        if trace.attacked[t]:
            given[t] = norm = _largest_taken(stepping, recorder, float(np.median(given[:t])))
        recorder.arrived[:] = 0.0
        try:
            stepping.step([np.array([norm])])
        except (RuntimeError, ValueError, OverflowError, ZeroDivisionError) as problem:
            note = f"raised in step {t}: {str(problem)[:80]}"
            break
        arrived[t] = recorder.arrived[0]
    seconds = time.process_time() - start
    broken = bool(note) or not np.isfinite(arrived).all()
    good = ~trace.bad & (np.arange(len(given)) >= WARM)
    lost = np.maximum(given[good] - arrived[good], 0.0).sum()
    with np.errstate(all="ignore"):
        cost = float((lost + np.nansum(arrived[trace.bad])) / given[good].sum())
    after = _after(trace.bad, arrived, given)
    return Score(
        None if broken else finite(cost),
        None if broken else finite(cost),
        finite((arrived[good] < 0.5 * given[good]).mean()),
        _taken(arrived[trace.bad], given[trace.bad]),
        None if broken else after is not None,
        None if broken else after,
        broken,
        note or ("NaN or infinity reached the weights" if broken else ""),
        1e6 * seconds / len(given),
    )


def _taken(arrived: np.ndarray, given: np.ndarray) -> float | None:
    """The share of bad steps that arrived, at least half of them; None if there are none."""
    return finite(((arrived != 0.0) & ~(arrived <= 0.5 * given)).mean()) if len(given) else None


def _after(bad: np.ndarray, arrived: np.ndarray, given: np.ndarray) -> int | None:
    """Steps after the last bad one, or the middle, until 10 good steps in a row are taken; None if never."""
    start = int(np.flatnonzero(bad)[-1]) + 1 if bad.any() else len(bad) // 2
    taken = arrived[start:] >= 0.1 * given[start:]
    if len(taken) < 10:
        return 0
    runs = np.convolve(taken, np.ones(10), "valid") == 10.0
    return int(np.argmax(runs)) if runs.any() else None


def _largest_taken(stepping: Stepping, recorder: Recorder, usual: float) -> float:
    """The largest norm that arrives in full, by halving on a logarithmic scale; it is tried on copies."""
    low, high = 0.5 * usual, HUGE * usual

    def arrives(norm: float) -> bool:
        mine, behind = copy.deepcopy((stepping, recorder))
        behind.arrived[:] = 0.0
        mine.step([np.array([norm])])
        return bool(behind.arrived[0] >= 0.9 * norm)

    if arrives(high):
        return high
    for _ in range(14):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if arrives(middle) else (low, middle)
    return low
