"""The streams: tables with bad rows of a kind, a size, a share, at a place; and with a delay of their labels.

Bad rows are in the first three quarters of a stream, so that the last quarter shows who comes back.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from holdfast_lab.trials.data import Table, load

SHIPPED = Path(__file__).with_name("data")  # tables that are part of the laboratory
SPARED = 100  # first rounds, not scored, and not bad unless the stream starts badly
_BLOCK = 40  # rounds of a burst, if so many are bad


class StreamScenario(NamedTuple):
    """A table, its bad rows, and the delay. `size` is a factor of features, or standard deviations of y."""

    data: str
    kind: str = "clean"
    size: float = 1.0
    share: float = 0.0
    place: str = "even"
    delay: int = 50
    rounds: int = 1500
    seed: int = 0

    @property
    def name(self) -> str:
        share = f", {self.share:.0%} {self.place}" if self.share else ""
        seed = f", seed {self.seed}" if self.seed else ""
        return f"{self.data}: {_sized(self.kind, self.size)}{share}, delay {self.delay}{seed}"

    @property
    def larger(self) -> bool:
        """Whether the bad rows are larger than the good ones, and at most 10 %: what the default is for."""
        return self.kind in LARGER and self.size >= 10.0 and 0.0 < self.share <= 0.1


class Stream(NamedTuple):
    """What a contestant meets, which rows are bad, and what is scored."""

    X: np.ndarray
    y: np.ndarray
    bad: np.ndarray  # added, or marked by the source
    truth: np.ndarray
    scored: np.ndarray
    regression: bool
    adaptive: bool  # the bad rows are made while it is played


LARGER = ("rows", "cell", "target", "both", "adaptive")


def make_stream(scenario: StreamScenario, folder: Path | None = None) -> Stream:
    """The stream of a scenario; the seed decides which rows are bad. `folder` has the tables not shipped."""
    table = load_table(scenario.data, folder).first(scenario.rounds)
    X, y = table.X.copy(), table.y.copy()
    bad = _places(scenario, table.rounds)
    truth = y.copy()
    if scenario.kind == "clean":
        keep = ~table.marked
        X, y, truth, bad = X[keep], y[keep], truth[keep], bad[keep]
        marked = np.zeros(len(y), bool)
    else:
        marked = table.marked
        if scenario.kind not in ("natural", "adaptive"):
            with np.errstate(over="ignore"):
                _KINDS[scenario.kind](X, y, truth, bad, scenario, table)
    scored = ~(bad | marked) & np.isfinite(X).all(axis=1)
    first = len(y) // 4 if scenario.place == "start" else SPARED
    scored[: max(first, scenario.delay)] = False  # the first batch is predicted by nobody
    return Stream(X, y, bad | marked, truth, scored, table.regression, scenario.kind == "adaptive")


def load_table(name: str, folder: Path | None) -> Table:
    """A table that is shipped, one of the folder, or one that is made here."""
    if name == "linear":
        return _linear()
    if (SHIPPED / name).is_dir():
        return load(SHIPPED, name)[0]
    if folder is None:
        raise FileNotFoundError(
            f"the table {name} is not part of the laboratory: give its folder with --data"
        )
    return load(folder, name)[0]


def _linear() -> Table:
    """y = <w, x> + noise: what each contestant should learn."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 6))
    y = X @ np.array([3.0, -2.0, 1.0, 0.5, 0.0, 0.0]) + 10.0 + rng.standard_normal(6000)
    return Table(X, y, np.zeros(6000, bool), regression=True)


def _places(scenario: StreamScenario, rounds: int) -> np.ndarray:
    rng, bad = np.random.default_rng([scenario.seed, 7]), np.zeros(rounds, bool)
    first, last = SPARED, rounds * 3 // 4
    count = round(scenario.share * (last - first))
    if count == 0:
        return bad
    if scenario.place == "start":
        bad[:count] = True
    elif scenario.place == "bursts":
        length = min(_BLOCK, count)
        blocks = np.arange(first, last - length, length)
        for start in rng.permutation(blocks)[: round(count / length)]:
            bad[start : start + length] = True
    else:
        bad[rng.choice(np.arange(first, last), count, replace=False)] = True
    return bad


def _rows(X, y, truth, bad, scenario, table):
    """All features of the row times the size."""
    X[bad] *= scenario.size


def _cell(X, y, truth, bad, scenario, table):
    """A wrong unit in the column with the fewest zeros."""
    X[bad, int(np.argmax((table.X != 0.0).mean(axis=0)))] *= scenario.size


def _target(X, y, truth, bad, scenario, table):
    """The target plus so many standard deviations."""
    y[bad] += scenario.size * y.std()


def _both(X, y, truth, bad, scenario, table):
    """Features times the size, and the target or the label on the other side."""
    X[bad] *= scenario.size
    _flip(X, y, truth, bad, scenario, table)


def _flip(X, y, truth, bad, scenario, table):
    """The other label; the target on the other side of the median. Nothing is larger than before."""
    y[bad] = 2.0 * np.median(y) - y[bad] if table.regression else -y[bad]


def _nan(X, y, truth, bad, scenario, table):
    """One cell is NaN."""
    rows = np.flatnonzero(bad)
    X[rows, np.random.default_rng([scenario.seed, 8]).integers(X.shape[1], size=len(rows))] = np.nan


def _infinite(X, y, truth, bad, scenario, table):
    """One cell is infinite."""
    rows = np.flatnonzero(bad)
    X[rows, np.random.default_rng([scenario.seed, 8]).integers(X.shape[1], size=len(rows))] = np.inf


def _change(X, y, truth, bad, scenario, table):
    """From 40 % of the stream on, all targets are so many standard deviations higher. No row is bad."""
    start, by = len(y) * 2 // 5, scenario.size * y.std()
    y[start:] += by
    truth[start:] += by


_KINDS = {
    "rows": _rows,
    "cell": _cell,
    "target": _target,
    "both": _both,
    "flip": _flip,
    "NaN": _nan,
    "inf": _infinite,
    "change": _change,
}


def _sized(kind: str, size: float) -> str:
    return (
        f"{kind} x{size:g}"
        if kind in ("rows", "cell", "both")
        else (f"{kind} +{size:g} sd" if kind in ("target", "change") else kind)
    )


S = StreamScenario
QUICK = [
    S("air_quality"),
    S("air_quality", "natural"),
    S("air_quality", "rows", 1e3, 0.05, delay=1, rounds=1000),
    S("air_quality", "rows", 1e15, 0.1, "bursts"),
    S("air_quality", "cell", 1e3, 0.1, delay=500),
    S("air_quality", "target", 1e6, 0.1),
    S("air_quality", "target", 10.0, 0.2),
    S("air_quality", "flip", 1.0, 0.1),
    S("air_quality", "both", 30.0, 0.1),
    S("air_quality", "NaN", 1.0, 0.05),
    S("barcelona_weather", "natural", delay=1, rounds=1000),
    S("barcelona_weather", "rows", 1e6, 0.1, "start"),
    S("barcelona_weather", "cell", 1e15, 0.1, "bursts", delay=1, rounds=2000, seed=1),
    S("air_quality", "target", 1e3, 0.1, "bursts"),
    S("linear", "adaptive", 1.0, 0.05),
    S("linear", "change", 5.0),
    S("spambase", "both", 100.0, 0.05, delay=1, rounds=1000),
    S("spambase", "rows", 1e9, 0.1, "bursts"),
    S("spambase", "flip", 1.0, 0.1, delay=500),
    S("spambase", "adaptive", 1.0, 0.05),
    S("occupancy_detection", "cell", 1e3, 0.1),
]
_TABLES = ("air_quality", "barcelona_weather", "linear", "spambase", "occupancy_detection")
_LABELS = ("spambase", "occupancy_detection")
LABELS_OF_DATA = ("eeg_eye", "kddcup99", "room_occupancy")  # tables of --data whose targets are labels
_FULL_SIZES = (10.0, 1e3, 1e6, 1e9, 1e15)


def full_scenarios(more: tuple[str, ...] = ()) -> list[StreamScenario]:
    """All of them: tables x kinds, with sizes, shares, places and delays in turn; `more` are of --data."""
    scenarios = list(QUICK)
    delays, places, shares = (1, 50, 500), ("even", "bursts", "start"), (0.01, 0.05, 0.1, 0.2)
    turn = 0
    for table in (*_TABLES, *more):
        scenarios += [S(table, delay=delay, rounds=2000) for delay in (1, 50, 500)]
        scenarios += [S(table, "natural", rounds=2000)]
        for kind in ("rows", "cell", "target", "both", "flip", "NaN", "inf", "adaptive"):
            if kind == "target" and table in (*_LABELS, *LABELS_OF_DATA):
                continue
            for _ in range(3 if kind in ("rows", "cell", "target", "both") else 1):
                share = shares[(turn * 7 + 1) % 4] if kind != "adaptive" else shares[turn % 3]
                place = places[turn % 3] if kind not in ("adaptive", "NaN", "inf") else "even"
                size = _FULL_SIZES[turn % 5] if kind in ("rows", "cell", "target", "both") else 1.0
                delay = delays[(turn // 3) % 3]
                scenarios.append(S(table, kind, size, share, place, delay, rounds=2000, seed=1))
                turn += 1
    scenarios += [
        S("linear", "change", size, delay=delay, rounds=2000)
        for size in (1.0, 20.0, 1e3)
        for delay in (1, 50)
    ]
    return list({each.name: each for each in scenarios}.values())
