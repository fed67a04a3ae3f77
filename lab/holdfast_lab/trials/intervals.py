"""`holdfast trials --intervals`: how many good rows intervals miss, and how wide they are.

The forecasts are those of the default, as asked. Each method gives a width for every row of a batch before
the batch is known. Rows are bad in 0, 5 or 10 % of the rounds.
"""

import bisect
import itertools
import math
from typing import NamedTuple

import numpy as np

import holdfast as hf
from holdfast.defaults import recommended, recommended_loss
from holdfast.intervals import Tracker
from holdfast.intervals.widths import NUMBERS, with_near_rows
from holdfast.terminal import overwrite, tell
from holdfast_lab.bench.table import put_between_markers
from holdfast_lab.trials.about import delay_option, written_by
from holdfast_lab.trials.corruptions import SPARED, CorruptedTable, features, target, untouched
from holdfast_lab.trials.data import available, load
from holdfast_lab.trials.table import Goal

MARKERS = ("<!-- holdfast trials --intervals: begin -->", "<!-- holdfast trials --intervals: end -->")
COVERAGE = 0.9
DELAYS = (1, 50, 500)
KINDS = {"targets x -1000": target, "features x1000": features}
SHARES = (0.05, 0.1)
OURS, ORACLE = "ours", "oracle"
_FIRST = 200  # rows, before which no method is judged
_LATER = 1_000  # good rows, of the worst stretch
_MOST = 15_000  # rows of a stream
_WINDOW, _ACI_WINDOW, _ACI_STEP = 1_000, 500, 0.005


class IntervalCell(NamedTuple):
    """One stream, corruption and delay: by method the share missed, that of the worst 1,000 good rows, and
    the mean width over that of the oracle.
    """

    data: str
    kind: str
    delay: int
    missed: dict[str, float]
    worst: dict[str, float]
    widths: dict[str, float]


def follow_widths(tracker, state, scores, widths):
    """Write the largest width before each score."""
    for i in range(len(scores)):
        widths[i] = state.widths[len(state.widths) - 1]
        state = tracker.follow(state, float(scores[i]))
    return state


def tracked(tracker):
    def widths(scores, good):
        from holdfast._compiled import call

        found = np.full(len(scores), math.inf)
        call(follow_widths, tracker, tracker.begin(), scores, found)
        return found

    return widths


def rolling(scores, good):
    """The quantile of the last 1,000 errors, whatever they are."""
    import pandas as pd

    past = pd.Series(scores).rolling(_WINDOW, min_periods=20).quantile(COVERAGE).shift(1)
    return past.fillna(math.inf).to_numpy()


def oracle(scores, good):
    """The same of the good rows."""
    found = np.full(len(scores), np.nan)
    found[good] = rolling(scores[good], good)
    places = np.maximum.accumulate(np.where(np.isnan(found), 0, np.arange(len(found))))
    return found[places]


def adaptive(scores, good):
    """Adaptive conformal inference: the level of the quantile of the last 500 errors follows the misses."""
    alpha = level = 1.0 - COVERAGE
    ordered: list[float] = []
    past: list[float] = []
    found = np.full(len(scores), math.inf)
    for t, score in enumerate(scores.tolist()):
        if len(ordered) >= 20 and level > 0.0:
            rank = min(math.ceil((1.0 - level) * (len(ordered) + 1)), len(ordered))
            found[t] = ordered[max(rank, 1) - 1] if level < 1.0 else 0.0
        level += _ACI_STEP * (alpha - (score > found[t]))
        if not math.isfinite(score):
            continue
        bisect.insort(ordered, score)
        past.append(score)
        if len(past) > _ACI_WINDOW:
            del ordered[bisect.bisect_left(ordered, past[-_ACI_WINDOW - 1])]
    return found


METHODS = {
    OURS: tracked(Tracker(np.array([COVERAGE]), NUMBERS.step)),
    "without a filter": tracked(Tracker(np.array([COVERAGE]), NUMBERS.step, hf.Everything())),
    "rolling quantile": rolling,
    "ACI": adaptive,
    ORACLE: oracle,
}


def scores_of(table, delay):
    """The errors of the default, as asked; NaN where it refused the row before its target was known."""
    player, replay = recommended(True, delay=delay), hf.Replay(table.X, table.y, recommended_loss(True))
    record = hf.play(player, replay, keep=("predictions", "refused_by"), compiled=True)
    return with_near_rows(np.abs(table.y - record.predictions), record.refused_by, player.check_names())


def corrupted(table, kind, share, seed):
    """A copy with this share of bad rows."""
    if share == 0.0:
        return untouched(table)
    bad = np.random.default_rng(seed).random(table.rounds) < share
    bad[:SPARED] = False
    copy = table._replace(X=table.X.copy(), y=table.y.copy())
    return CorruptedTable(KINDS[kind](copy, bad, None), bad, table.y)


def measure(data, kind, share, delay, streams, methods):
    """The cell of all streams of a data set."""
    good_missed: dict[str, list[np.ndarray]] = {name: [] for name in methods}
    ratios: dict[str, list[float]] = {name: [] for name in methods}
    for seed, table in enumerate(streams):
        overwrite(f"{data}: {share:.0%} {kind}, delay {delay}")
        stream = corrupted(table, kind, share, seed)
        with np.errstate(all="ignore"):
            scores = scores_of(stream.table, delay)
        judged = stream.good & np.isfinite(scores)
        judged[: max(_FIRST, 2 * delay)] = False
        blocks = np.arange(len(scores)) // delay * delay
        mean = {}
        for name, method in methods.items():
            asked = method(scores, stream.good)[blocks]
            good_missed[name].append((scores > asked)[judged])
            mean[name] = float(asked[judged].mean())
        for name in methods:
            ratios[name].append(mean[name] / mean[ORACLE] if mean[ORACLE] > 0.0 else math.nan)
    missed = {name: float(np.concatenate(parts).mean()) for name, parts in good_missed.items()}
    worst = {name: max(map(_worst, parts)) for name, parts in good_missed.items()}
    widths = {name: float(np.nanmedian(parts)) for name, parts in ratios.items()}
    said = "clean" if share == 0.0 else f"{share:.0%} {kind}"
    return IntervalCell(data, said, delay, missed, worst, widths)


def _worst(missed):
    """The largest share of misses in 1,000 rows that follow each other."""
    sums = np.concatenate([[0], np.cumsum(missed)])
    span = min(_LATER, len(missed))
    return float((sums[span:] - sums[:-span]).max() / span) if span else 0.0


def hold_interval_trials(folder, quick=False, page=None, only=(), delays=DELAYS, methods=METHODS):
    """Measure and print; with `page`, write the table into that file."""
    cells = []
    tell(_header(methods))
    for data in only or available(folder):
        streams = [table.first(_MOST) for table in load(folder, data) if table.regression]
        streams = [table for table in streams if table.rounds >= 2 * _LATER]
        if not streams:
            continue
        kinds = [("", 0.0), *itertools.product(KINDS, SHARES)]
        for delay, (kind, share) in itertools.product(delays, kinds[:3] if quick else kinds):
            cells.append(measure(data, kind, share, delay, streams, methods))
            tell(_line(cells[-1]))
    tell("", *map(str, goals(cells)))
    if page is not None:
        options = ["--data FOLDER", "--intervals", *["--quick"] * quick, *delay_option(delays)]
        about = written_by(f"holdfast trials {' '.join(options)} --write {page.name}")
        put_between_markers(page, markdown(cells, about), MARKERS)


def goals(cells):
    """What is claimed, for ours."""
    alpha = 1.0 - COVERAGE

    def short(holds):
        return [f"{cell.data}, {cell.kind}, delay {cell.delay}" for cell in cells if not holds(cell)]

    return [
        Goal(
            "the share of good rows missed is within 2 points of 10 %",
            len(cells),
            short(lambda cell: abs(cell.missed[OURS] - alpha) <= 0.02),
            0.9,
        ),
        Goal(
            "at most 30 % of the worst 1,000 good rows are missed",
            len(cells),
            short(lambda cell: cell.worst[OURS] <= 3.0 * alpha),
        ),
        Goal(
            "the mean width is at most 1.15 of the oracle's",
            len(cells),
            short(lambda cell: cell.widths[OURS] <= 1.15),
        ),
    ]


def summary(cells):
    """By method: the median share missed, the share of cells within 2 points, the median and the largest of
    the worst stretches, the median width and that of the 90th percentile.
    """
    for name in cells[0].missed:
        missed, worst, widths = (
            np.array([getattr(cell, part)[name] for cell in cells]) for part in ("missed", "worst", "widths")
        )
        near = float((np.abs(missed - 1.0 + COVERAGE) <= 0.02).mean())
        yield (
            name,
            np.median(missed),
            near,
            np.median(worst),
            worst.max(),
            np.median(widths),
            np.quantile(widths, 0.9),
        )


def _header(methods):
    return f"{'':20}{'':20}{'delay':>6}" + "".join(f"{name:>26}" for name in methods)


def _line(cell):
    figures = "".join(
        f"{cell.missed[name]:>10.3f}{cell.worst[name]:>7.3f}{cell.widths[name]:>9.3g}" for name in cell.missed
    )
    return f"{cell.data:20}{cell.kind:20}{cell.delay:>6}{figures}"


def markdown(cells, about):
    lines = [
        f"Of {len(cells)} cells, 90 % intervals; good rows only:",
        "",
        "| method | missed, median | cells within 2 points | worst 1,000 rows: median | largest | "
        "mean width over the oracle's: median | 90th percentile |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, missed, near, worst, largest, width, wide in summary(cells):
        lines.append(
            f"| {name} | {missed:.3f} | {near:.0%} | {worst:.3f} | {largest:.3f} | {width:.3g} | {wide:.3g} |"
        )
    return "\n".join([*lines, "", *(f"- {goal}." for goal in goals(cells)), "", about, ""])
