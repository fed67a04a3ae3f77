"""The zoo: tables with one awkward column, or with an awkward target.

The first column of each table is an ordinary one. Unless the animal is about the target, that is linear in
the columns plus noise, or a label: whether this is above the median.
"""

import zlib
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from holdfast_lab.trials import zoo_columns as columns
from holdfast_lab.trials.zoo_columns import YEARS
from holdfast_lab.trials.zoo_targets import TARGETS

START = 1_600_000_000  # seconds since 1970


class Animal(NamedTuple):
    """A kind of table, and how it is measured.

    `make(rng, rows)` returns the columns and the part of the target that they explain; or, if `labels` is
    false, the target itself.
    """

    make: Callable
    labels: bool = True  # there is a version with labels
    rows: int = 6_000
    few: int = 3_000  # rows of the quick version
    spared: int = 2_000  # the first rows of a stream are not predicted; in the quick version as large a share
    timed: bool = False  # rows are in the order of time: `fit` gets the earlier ones
    old: bool = False  # predict rows that were learned from
    remark: str = ""  # why there is no goal


class ZooTable(NamedTuple):
    """Columns and targets; labels are the integers 0 and 1."""

    X: np.ndarray
    y: np.ndarray

    @property
    def labels(self):
        return self.y.dtype == np.int64


def make(name, labels=False, quick=False):
    """The table of an animal, the same in each call."""
    animal, rng = ZOO[name], np.random.default_rng([zlib.crc32(name.encode()), 1])
    X, y = animal.make(rng, animal.few if quick else animal.rows)
    noise = rng.standard_normal(len(y))
    if labels:
        low, high = np.quantile(y, (0.25, 0.75))
        noisy = y + 0.4 * (high - low) * noise  # about 15 % of the labels are on the wrong side
        return ZooTable(X, (noisy > np.median(noisy)).astype(np.int64))
    return ZooTable(X, y + noise if animal.labels else y)


def _near_equal():
    for share in (0.6, 0.8):
        for noise in ("1e-15", "1e-9", "1e-3", "1e-2"):
            make = partial(columns.near_equal, share=share, noise=float(noise))
            yield f"{share:.0%} 0 + {noise}", Animal(make)


def _times():
    """Each animal twice: new rows are predicted, and rows that were learned from."""
    kinds = {
        "counter": (0, 1, 0.0),
        "counter, trend": (0, 1, 10.0),
        "epoch seconds": (START, 3600, 10.0),
        "nanoseconds": (START * 10**9, 3600 * 10**9, 0.0),
    }
    for kind, (start, step, trend) in kinds.items():
        animal = Animal(partial(columns.times, start=start, step=step, trend=trend), timed=True)
        yield f"{kind}: new rows", animal
        yield f"{kind}: old rows", animal._replace(old=True)


ZOO = {
    "rare 0/1": Animal(columns.rare),
    "months and hours": Animal(
        columns.calendar, rows=YEARS, few=YEARS // 5, spared=YEARS // 2, timed=True
    ),  # the first year is spared: else errors are those of months never seen
    **dict(_near_equal()),
    "max(sin, 0)": Animal(columns.daylight, timed=True),
    "rain": Animal(columns.rain),
    "rain in spells": Animal(columns.rain_in_spells, timed=True),
    "stuck": Animal(columns.stuck, rows=12_000, timed=True),
    **dict(_times()),
    "collinear": Animal(columns.collinear),
    "codes": Animal(columns.codes),
    "lognormal, values": Animal(partial(columns.lognormal, logs=False)),
    "lognormal, logs": Animal(partial(columns.lognormal, logs=True)),
    **{name: Animal(target, labels=False) for name, target in TARGETS.items()},
}
