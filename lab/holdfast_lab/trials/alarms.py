"""`holdfast trials --alarms`: which known faults of real streams `Level` finds, how late, and false alarms.

A fault is a stretch of rows. It is found if an event has a row in it. Its delay is the number of rows from
its begin, or from the instant that its source gives, until the event was told. Events elsewhere are false
alarms, but for those within `patience` rows after a fault: that is the way back.
"""

from typing import NamedTuple

import numpy as np

import holdfast as hf
from holdfast.terminal import overwrite, tell
from holdfast_lab.bench.table import put_between_markers
from holdfast_lab.trials.about import written_by

MARKERS = ("<!-- holdfast trials --alarms: begin -->", "<!-- holdfast trials --alarms: end -->")
KINDS = ("glitch", "change", "frozen")
PATIENCE = 20
_CLEAN_ROWS = 20_000
_FROZEN = 24  # rows in which all of the weather stands still
_MOST, _DIFFERENT = 40_000, 8  # rows and different values of a column
_ALARMS, _COVERAGE = 1e-3, 0.9  # of `Level()`


class Stream(NamedTuple):
    """A stream of numbers and its faults: first row, last row, and the row in which each can be seen."""

    name: str
    values: np.ndarray
    faults: list[tuple[int, int, int]]
    what: str = "nothing"
    season: int = 0


class AlarmCell(NamedTuple):
    """What was told of a stream: by fault the kind and the delay, and of the rest the events by kind."""

    stream: Stream
    found: list[tuple[str, int]]
    others: dict[str, int]
    odd: float  # the share of the values outside of faults

    def false_alarms(self):
        """Events a thousand rows that belong to no fault."""
        return 1_000.0 * sum(self.others.values()) / len(self.stream.values)


def measure(stream):
    """Follow a stream, one value at a time."""
    overwrite(stream.name)
    level, told = hf.Level(season=stream.season), []
    kept = np.ones(len(stream.values), bool)
    for row, value in enumerate(stream.values.tolist(), start=1):
        kept[row - 1] = level.update(value).kept
        told += [(row, event) for event in level.events()]
    finite = np.isfinite(stream.values)
    rows = np.concatenate([[0], np.flatnonzero(finite) + 1])  # events count finite values
    hits: dict[int, tuple[str, int]] = {}
    others = dict.fromkeys(KINDS, 0)
    for row, event in told:
        begin, end = int(rows[event.begin]), int(rows[event.end]) if event.end else row
        near = [
            i for i, (first, last, _) in enumerate(stream.faults) if begin <= last + PATIENCE and end >= first
        ]
        inside = [i for i in near if begin <= stream.faults[i][1]]
        for i in inside:
            hits.setdefault(i, (event.kind, max(row - stream.faults[i][2], 0)))
        if not near and not (event.kind == "frozen" and event.end):
            others[event.kind] += 1
    clean = finite.copy()
    for first, last, _ in stream.faults:
        clean[first - 1 : last + PATIENCE] = False
    return AlarmCell(stream, [hits[i] for i in sorted(hits)], others, float((~kept)[clean].mean()))


def stretches(marked, gap=0):
    """The first and the last row of each stretch of marked rows, counted from 1, and the first again."""
    places = np.flatnonzero(marked)
    if not len(places):
        return []
    cuts = np.flatnonzero(np.diff(places) > gap + 1)
    firsts, lasts = places[np.append(0, cuts + 1)], places[np.append(cuts, len(places) - 1)]
    return [(int(a) + 1, int(b) + 1, int(a) + 1) for a, b in zip(firsts, lasts, strict=True)]


def standing(columns, least=_FROZEN):
    """Which rows are in a stretch of at least so many in which none of the columns changes."""
    same = np.concatenate([[False], (np.diff(columns, axis=0) == 0.0).all(axis=1)])
    found = np.zeros(len(same), bool)
    for first, last, _ in stretches(same):
        if last - first + 2 >= least:
            found[first - 2 : last] = True
    return found


def faulty_streams(folder):
    """Streams with faults that their sources mark, or that a rule finds."""
    import pandas as pd

    def read(name):
        path = folder / name / "data.csv.gz"
        return pd.read_csv(path) if path.is_file() else None

    if (nab := read("nab_streams")) is not None:
        for name, part in nab.groupby("series", sort=False):
            windows = stretches(part["outlier"].to_numpy(bool))
            points = np.flatnonzero(part["anomaly_point"].to_numpy(bool)) + 1
            faults = [(a, b, next((int(p) for p in points if a <= p <= b), a)) for a, b, _ in windows]
            yield Stream(f"NAB: {name}", part["y"].to_numpy(float), faults, "anomalies of its authors")
            if name == "nyc_taxi":
                yield Stream(f"NAB: {name}, season=336", part["y"].to_numpy(float), faults, "the same", 336)
    if (weather := read("barcelona_weather")) is not None:
        pressure = weather["x_pressure"].to_numpy(float)
        pascal = stretches((pressure < 900.0) | (pressure > 1_100.0), gap=PATIENCE)
        yield Stream("weather: pressure", pressure, pascal, "Pa, and lost or doubled digits")
        still = weather[["x_temp", "x_humidity", "x_pressure", "x_wind_speed"]].to_numpy(float)
        yield Stream("weather: temperature", still[:, 0], stretches(standing(still)), "the feed stands still")
    if (air := read("air_quality")) is not None:
        for column in ("x_T", "x_RH", "x_AH", "x_PT08_S1_CO", "x_PT08_S4_NO2"):
            values = air[column].to_numpy(float)
            yield Stream(f"air quality: {column[2:]}", values, stretches(values == -200.0), "runs of -200")


def clean_streams(folder):
    """Streams without known faults: made ones, and columns of real sets."""
    import pandas as pd

    rng = np.random.default_rng(1)
    made = {
        "normal": rng.normal(50.0, 2.0, _CLEAN_ROWS),
        "heavy tails (t, 3)": rng.standard_t(3, _CLEAN_ROWS),
        "exponential": rng.exponential(size=_CLEAN_ROWS),
        "random walk": np.cumsum(rng.normal(size=_CLEAN_ROWS)),
        "counts (Poisson, 3)": rng.poisson(3.0, _CLEAN_ROWS).astype(float),
    }
    yield from (Stream(name, values, []) for name, values in made.items())
    for data, columns in {
        "beijing_pm25": ("x_dewp", "x_temp", "x_pres", "x_wind_hours_speed", "y"),
        "metro_traffic": ("x_clouds_all", "y"),
        "barcelona_weather": ("x_humidity", "x_wind_speed", "y"),
        "occupancy_detection": ("x_temperature", "x_humidity", "x_light", "x_co2"),
    }.items():
        path = folder / data / "data.csv.gz"
        frame = pd.read_csv(path) if path.is_file() else pd.DataFrame()
        for column in columns:
            if column in frame:
                values = frame[column].to_numpy(float)
                yield Stream(f"{data}: {column.removeprefix('x_')}", values, [])


class Column(NamedTuple):
    """A column of a data set as a stream: which share begins to be odd, and which is in its interval."""

    data: str
    begun: float
    covered: float


def every_column(folder):
    """All columns of numbers of all data sets, whatever is wrong in them."""
    import pandas as pd

    for path in sorted(folder.glob("*/data.csv.gz")):
        frame = pd.read_csv(path).head(_MOST)
        for name in frame:
            if (name == "y" or name.startswith("x_")) and pd.api.types.is_numeric_dtype(frame[name]):
                values = frame[name].to_numpy(float)
                values = values[np.isfinite(values)]
                if len(np.unique(values)) >= _DIFFERENT:
                    overwrite(f"{path.parent.name}: {name}")
                    found = hf.Level().update_many(values)
                    begun = ~found.kept & np.append(True, found.kept[:-1])
                    inside = (found.low <= values) & (values <= found.high)
                    yield Column(path.parent.name, float(begun.mean()), float(inside.mean()))


def of_columns(columns):
    """A sentence about all columns."""
    rate, near = (
        sum(column.begun <= _ALARMS for column in columns),
        sum(abs(column.covered - _COVERAGE) <= 0.02 for column in columns),
    )
    far = min((column.covered for column in columns), default=np.nan)
    return (
        f"All {len(columns)} columns of numbers of {len({column.data for column in columns})} data sets with "
        f"at least {_DIFFERENT} different values, whatever is wrong in them: in {rate} at most one value in "
        f"1,000 begins to be odd, and in {near} the 90 % intervals cover 88 to 92 % of all values; {far:.0%} "
        "at least."
    )


def hold_alarm_trials(folder, page=None):
    """Measure and print; with `page`, write the tables into that file."""
    cells = [measure(stream) for make in (faulty_streams, clean_streams) for stream in make(folder)]
    lines = [*markdown(cells), "", of_columns(list(every_column(folder)))]
    tell(*lines)
    if page is not None:
        about = written_by(f"holdfast trials --data FOLDER --alarms --write {page.name}")
        put_between_markers(page, "\n".join([*lines, "", about, ""]), MARKERS)


def markdown(cells):
    """The lines of the tables."""
    with_faults = [cell for cell in cells if cell.stream.faults]
    clean = [cell for cell in cells if not cell.stream.faults]
    return [
        "| stream | rows | what is wrong | found | told as | delay in rows: median | largest | false "
        "alarms per thousand rows |",
        "|---|--:|---|--:|---|--:|--:|--:|",
        *map(_faulty_line, with_faults),
        "",
        "| stream without known faults | rows | glitches | changes | frozen | events per thousand rows | odd "
        "values per thousand |",
        "|---|--:|--:|--:|--:|--:|--:|",
        *map(_clean_line, clean),
    ]


def _faulty_line(cell):
    stream, delays = cell.stream, [delay for _, delay in cell.found]
    kinds = [kind for kind, _ in cell.found]
    told = ", ".join(f"{kinds.count(kind)} {kind}" for kind in KINDS if kind in kinds) or "–"
    late = (f"{np.median(delays):.0f}", f"{max(delays):,}") if delays else ("–", "–")
    return (
        f"| {stream.name} | {len(stream.values):,} | {stream.what} | {len(delays)} of {len(stream.faults)} | "
        f"{told} | {late[0]} | {late[1]} | {cell.false_alarms():.2g} |"
    )


def _clean_line(cell):
    counts = " | ".join(str(cell.others[kind]) for kind in KINDS)
    stream = cell.stream
    return (
        f"| {stream.name} | {len(stream.values):,} | {counts} | {cell.false_alarms():.2g} | "
        f"{1_000.0 * cell.odd:.2g} |"
    )
