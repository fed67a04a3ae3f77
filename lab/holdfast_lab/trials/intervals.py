"""`holdfast trials --intervals`: how many good rows intervals miss, and how wide they are.

The forecasts are those of the default, as asked. Each method gives a width for every row of a batch before
the batch is known. Rows are bad in 0, 5 or 10 % of the rounds. For labels the width decides which labels are
in the set, and the number of labels in it takes the place of the width.
"""

import bisect
import importlib.util
import itertools
import math
import warnings
from typing import Any, NamedTuple

import numpy as np

import holdfast as hf
from holdfast.defaults import recommended, recommended_loss
from holdfast.intervals import Tracker
from holdfast.intervals.widths import LABELS, NUMBERS, label_scores, with_near_rows
from holdfast.terminal import overwrite, tell
from holdfast_lab.bench.table import put_between_markers
from holdfast_lab.trials.about import delay_option, written_by
from holdfast_lab.trials.corruptions import SPARED, CorruptedTable, features, target, untouched
from holdfast_lab.trials.data import available, load
from holdfast_lab.trials.table import Goal

MARKERS = ("<!-- holdfast trials --intervals: begin -->", "<!-- holdfast trials --intervals: end -->")
COVERAGE = 0.9
DELAYS = (1, 50, 500)


def flipped(table, bad, rng):
    """Labels flipped."""
    table.y[bad] *= -1.0
    return table


KINDS = {"targets x -1000": target, "features x1000": features}
LABEL_KINDS = {"labels flipped": flipped, "features x1000": features}
SHARES = (0.05, 0.1)
OURS, ORACLE = "ours", "oracle"
_FIRST = 200  # rows, before which no method is judged
_LATER = 1_000  # good rows, of the worst stretch
_LEAST = 1_500  # rows of a stream
_MOST = 15_000  # rows of a stream
_WINDOW, _ACI_WINDOW, _ACI_STEP = 1_000, 500, 0.005


class Scored(NamedTuple):
    """The rows of a stream: the scores of their forecasts, as asked, and what is known of each.

    A score is NaN where the default refused the row before its target was known. `kept` says which rows it
    kept then, `good` which were right, and `other` is the score that the other label would have had; None for
    numbers.
    """

    scores: np.ndarray
    good: np.ndarray
    kept: np.ndarray
    other: np.ndarray | None = None

    def cost(self, widths):
        """The width of each row, or how many labels are in its set."""
        return widths if self.other is None else 1.0 + (self.other <= widths)


class IntervalCell(NamedTuple):
    """One stream, corruption and delay: by method the share missed, that of the worst 1,000 good rows, and
    the mean width, or number of labels, over that of the oracle.
    """

    data: str
    kind: str
    delay: int
    missed: dict[str, float]
    worst: dict[str, float]
    widths: dict[str, float]
    regression: bool = True

    def near(self, name):
        """Whether the share missed is within 2 points of what was said.

        Sets of labels may miss fewer: each has at least one label.
        """
        over = self.missed[name] - 1.0 + COVERAGE
        return over <= 0.02 and (not self.regression or over >= -0.02)


def follow_widths(tracker, state, scores, widths):
    """Write the largest width before each score."""
    for i in range(len(scores)):
        widths[i] = state.widths[len(state.widths) - 1]
        state = tracker.follow(state, float(scores[i]))
    return state


def tracked(tracker):
    def widths(rows):
        from holdfast._compiled import call

        found = np.full(len(rows.scores), math.inf)
        call(follow_widths, tracker, tracker.begin(), rows.scores, found)
        return found

    return widths


def rolling(rows):
    """The quantile of the last 1,000 errors, whatever they are."""
    import pandas as pd

    past = pd.Series(rows.scores).rolling(_WINDOW, min_periods=20).quantile(COVERAGE).shift(1)
    return past.fillna(math.inf).to_numpy()


def rolling_among(rows, chosen):
    """The same of the last 1,000 of some rows."""
    found = np.full(len(rows.scores), np.nan)
    found[chosen] = rolling(rows._replace(scores=rows.scores[chosen]))
    places = np.maximum.accumulate(np.where(np.isnan(found), 0, np.arange(len(found))))
    return np.where(np.isnan(found[places]), math.inf, found[places])


def rolling_kept(rows):
    """The same of the rows that the default kept."""
    return rolling_among(rows, rows.kept)


def oracle(rows):
    """The same of the good rows."""
    return rolling_among(rows, rows.good)


def adaptive(rows):
    """Adaptive conformal inference: the level of the quantile of the last 500 errors follows the misses."""
    scores = rows.scores
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


def _zero():
    """A model of scikit-learn that predicts 0: then the errors are the targets."""
    from sklearn.dummy import DummyRegressor

    return DummyRegressor(strategy="constant", constant=0.0).fit(np.zeros((1, 1)), np.zeros(1))


def _for_mapie(rows):
    """Infinite widths, the first row after 500 finite errors, and these errors; None if there are fewer."""
    finite = np.flatnonzero(np.isfinite(rows.scores))
    first = int(finite[_ACI_WINDOW - 1]) + 1 if len(finite) > _ACI_WINDOW else None
    return np.full(len(rows.scores), math.inf), first, rows.scores[finite[:_ACI_WINDOW]]


def mapie_split(rows):
    """`SplitConformalRegressor` of MAPIE, from the first 500 errors."""
    from mapie.regression import SplitConformalRegressor

    found, first, errors = _for_mapie(rows)
    if first is None:
        return found
    split = SplitConformalRegressor(_zero(), confidence_level=COVERAGE, prefit=True)
    split.conformalize(np.zeros((_ACI_WINDOW, 1)), errors[:_ACI_WINDOW])
    found[first:] = split.predict_interval(np.zeros((1, 1)))[1][0, 1, 0]
    return found


def mapie_adaptive(rows):
    """`TimeSeriesRegressor(method="aci")` of MAPIE, which is told each error as soon as it is known."""
    from mapie.regression import TimeSeriesRegressor

    found, first, errors = _for_mapie(rows)
    if first is None:
        return found
    series = TimeSeriesRegressor(_zero(), method="aci", cv="prefit")
    series.fit(np.zeros((_ACI_WINDOW, 1)), errors[:_ACI_WINDOW])
    one = np.zeros((1, 1))
    for t in range(first, len(found)):
        ends = series.predict(one, confidence_level=COVERAGE, allow_infinite_bounds=True)[1]
        found[t] = ends[0, 1, 0]
        if math.isfinite(rows.scores[t]):
            error = rows.scores[t : t + 1]
            series.adapt_conformal_inference(one, error, gamma=_ACI_STEP, confidence_level=COVERAGE)
            series.update(one, error)
    return found


METHODS = {
    OURS: tracked(Tracker(np.array([COVERAGE]), NUMBERS.step)),
    "without a filter": tracked(Tracker(np.array([COVERAGE]), NUMBERS.step, hf.Everything())),
    "rolling quantile": rolling,
    "the same, kept rows": rolling_kept,
    "ACI": adaptive,
    ORACLE: oracle,
}
PEERS = {"MAPIE split": mapie_split, "MAPIE ACI": mapie_adaptive}
OF_LABELS = METHODS | {OURS: tracked(Tracker(np.array([COVERAGE]), LABELS.step, LABELS.filter, LABELS.least))}
del OF_LABELS["without a filter"]  # ours has none


def methods_for(regression):
    """The methods for numbers or for labels; with MAPIE if it is installed. It has none for fixed margins."""
    if not regression:
        return OF_LABELS
    found = dict(METHODS)
    if importlib.util.find_spec("mapie") is not None:
        found = {name: METHODS[name] for name in METHODS if name != ORACLE} | PEERS | {ORACLE: oracle}
    return found


def scored(stream, delay):
    """The scores of the default for a stream, as asked."""
    table = stream.table
    player = recommended(table.regression, delay=delay)
    replay = hf.Replay(table.X, table.y, recommended_loss(table.regression))
    record: Any = hf.play(player, replay, keep=("predictions", "refused_by"), compiled=True)
    kept = np.asarray(record.refused_by) < 0
    if table.regression:
        scores, other = np.abs(table.y - record.predictions), None
    else:
        scores = label_scores(table.y * record.predictions)
        other = label_scores(-np.abs(record.predictions))
    return Scored(with_near_rows(scores, record.refused_by, player.check_names()), stream.good, kept, other)


def corrupted(table, kind, share, seed):
    """A copy with this share of bad rows."""
    if share == 0.0:
        return untouched(table)
    bad = np.random.default_rng(seed).random(table.rounds) < share
    bad[:SPARED] = False
    copy = table._replace(X=table.X.copy(), y=table.y.copy())
    return CorruptedTable((KINDS | LABEL_KINDS)[kind](copy, bad, None), bad, table.y)


def measure(data, kind, share, delay, streams, methods):
    """The cell of all streams of a data set."""
    good_missed: dict[str, list[np.ndarray]] = {name: [] for name in methods}
    ratios: dict[str, list[float]] = {name: [] for name in methods}
    for seed, table in enumerate(streams):
        overwrite(f"{data}: {share:.0%} {kind}, delay {delay}")
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of MAPIE, about few calibration rows and infinite widths
            rows = scored(corrupted(table, kind, share, seed), delay)
            judged = rows.good & np.isfinite(rows.scores)
            judged[: max(_FIRST, 2 * delay)] = False
            places = np.arange(len(rows.scores))
            mean = {}
            for name, method in methods.items():
                asked = method(rows)[places // delay * delay]
                if not table.regression:
                    asked = np.maximum(asked, 1.0)  # the predicted label is always in the set
                begun = judged & (places >= np.argmax(asked < math.inf))  # MAPIE waits for 500 errors
                good_missed[name].append((rows.scores > asked)[begun])
                mean[name] = float(rows.cost(asked)[begun].mean())
        for name in methods:
            ratios[name].append(mean[name] / mean[ORACLE] if mean[ORACLE] > 0.0 else math.nan)
    missed = {name: float(np.concatenate(parts).mean()) for name, parts in good_missed.items()}
    worst = {name: max(map(_worst, parts)) for name, parts in good_missed.items()}
    widths = {name: float(np.nanmedian(parts)) for name, parts in ratios.items()}
    said = "clean" if share == 0.0 else f"{share:.0%} {kind}"
    return IntervalCell(data, said, delay, missed, worst, widths, streams[0].regression)


def _worst(missed):
    """The largest share of misses in 1,000 rows that follow each other."""
    sums = np.concatenate([[0], np.cumsum(missed)])
    span = min(_LATER, len(missed))
    return float((sums[span:] - sums[:-span]).max() / span) if span else 0.0


def hold_interval_trials(folder, quick=False, page=None, only=(), delays=DELAYS):
    """Measure and print; with `page`, write the table into that file."""
    cells, left_out = [], []
    for data in only or available(folder):
        streams = [table.first(_MOST) for table in load(folder, data)]
        streams = [table for table in streams if table.rounds >= _LEAST]
        if not streams:
            left_out.append(data)
            continue
        regression = streams[0].regression
        methods = methods_for(regression)
        tell(_header(methods))
        kinds = [("", 0.0), *itertools.product(KINDS if regression else LABEL_KINDS, SHARES)]
        for delay, (kind, share) in itertools.product(delays, kinds[:3] if quick else kinds):
            cells.append(measure(data, kind, share, delay, streams, methods))
            tell(_line(cells[-1]))
    if left_out:
        tell(f"fewer than {_LEAST:,} rows: {', '.join(left_out)}")
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
            "the share of good rows missed is within 2 points of 10 %, or below for sets of labels",
            len(cells),
            short(lambda cell: cell.near(OURS)),
            0.9,
        ),
        Goal(
            "at most 30 % of the worst 1,000 good rows are missed",
            len(cells),
            short(lambda cell: cell.worst[OURS] <= 3.0 * alpha),
        ),
        Goal(
            "the mean width, or number of labels, is at most 1.15 of the oracle's",
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
        near = float(np.mean([cell.near(name) for cell in cells]))
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
    lines = []
    for regression, said in ((True, "90 % intervals"), (False, "sets of labels for 90 %")):
        some = [cell for cell in cells if cell.regression == regression]
        if some:
            sets = len({cell.data for cell in some})
            lines += [
                f"{len(some)} cells of {sets} data sets, {said}; good rows only:",
                "",
                *_table(some),
                "",
            ]
    return "\n".join([*lines, *(f"- {goal}." for goal in goals(cells)), "", about, ""])


def _table(cells):
    what = "mean width" if cells[0].regression else "labels in a set"
    yield "| method | missed, median | cells within 2 points | worst 1,000 rows: median | largest | " + (
        f"{what} over the oracle's: median | 90th percentile |"
    )
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for name, missed, near, worst, most, width, wide in summary(cells):
        yield f"| {name} | {missed:.3f} | {near:.0%} | {worst:.3f} | {most:.3f} | {width:.3g} | {wide:.3g} |"
