"""Read data sets from a folder: NAME/data.csv.gz, one row a round."""

from typing import NamedTuple

import numpy as np

NAMES = (
    "metro_traffic",
    "air_quality",
    "nab_streams",
    "covid_deaths",
    "eeg_eye",
    "spambase",
    "kddcup99",
    "barcelona_weather",
    "beijing_pm25",
    "occupancy_detection",
    "room_occupancy",
)
_CLASSES = ("room_occupancy",)  # more than two of them


class Table(NamedTuple):
    """One stream: rows, targets or labels -1 and +1, and the rounds its source marks as outliers."""

    X: np.ndarray
    y: np.ndarray
    marked: np.ndarray
    regression: bool
    unit: float = 1.0  # errors are divided by it

    @property
    def rounds(self):
        return len(self.y)

    def first(self, rounds):
        return self._replace(X=self.X[:rounds], y=self.y[:rounds], marked=self.marked[:rounds])


def available(folder):
    """The names of the data sets in the folder; raises if there is none."""
    names = [name for name in NAMES if (folder / name / "data.csv.gz").is_file()]
    if not names:
        raise FileNotFoundError(f"{folder} holds no NAME/data.csv.gz, NAME one of {', '.join(NAMES)}")
    return names


def load(folder, name):
    """The streams of a data set: one, or one for each value of its column `series`.

    Features are the columns x_* and e_*, the target is y; `outlier`, if there, marks rounds. Errors of a set
    of several series are divided by the mean absolute change of y from one round of the series to the next.
    Of several classes, the most frequent becomes -1 and all others +1.
    """
    import pandas as pd

    frame = pd.read_csv(folder / name / "data.csv.gz")
    if name in _CLASSES:
        frame["y"] = np.where(frame["y"] == frame["y"].mode()[0], -1.0, 1.0)
    if "series" not in frame:
        return [_table(frame)]
    parts = [_table(part) for _, part in frame.groupby("series", sort=False)]
    return [part._replace(unit=float(np.abs(np.diff(part.y)).mean())) for part in parts]


def _table(frame):
    features = [column for column in frame.columns if column.startswith(("x_", "e_"))]
    if not features or "y" not in frame:
        raise ValueError(f"expected columns x_* or e_*, and y: got {', '.join(frame.columns)}")
    y = frame["y"].to_numpy(np.float64)
    marked = frame["outlier"].to_numpy(bool) if "outlier" in frame else np.zeros(len(frame), bool)
    X = np.ascontiguousarray(frame[features].to_numpy(np.float64))
    return Table(X, y, marked, regression=bool(np.any(np.abs(y) != 1.0)))
