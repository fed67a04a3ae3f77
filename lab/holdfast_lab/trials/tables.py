"""The tables in a folder of CSV files, by rules that look at no result: nobody chooses columns or targets."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

FEWEST, MOST = 300, 4000  # rows: of a table, and of those that are used
NUMBERS, CATEGORIES = 9, 12  # values: of a column of numbers at least, of a category at most
COLUMNS, RAREST = 80, 0.1  # columns at most; the share of the rarer label at least


class NamedTable(NamedTuple):
    """Rows in random order, with a number or a label, 0 or 1, as target."""

    name: str
    labels: bool
    X: np.ndarray
    y: np.ndarray


def read_tables(folder):
    """All tables of the CSV files in a folder and its subfolders; the same columns are one table."""
    seen = set()
    for path in sorted(Path(folder).rglob("*.csv")):
        for table in tables_of(path):
            key = (table.X.shape, table.y.tobytes())
            if key not in seen:
                seen.add(key)
                yield table


def tables_of(path):
    """At most two tables of a file: the last column of numbers is the target of one, the last of two values
    that of the other.

    Columns with at least 9 different numbers are numbers, those with at most 12 values are 0/1 columns, one
    for each value but the first. The first column of a file is its index if it has no name. Rows with a
    missing cell are left out.
    """
    import pandas as pd

    try:
        frame = pd.read_csv(path)
    except (ValueError, OSError):  # it is no table
        return
    frame = frame[[column for column in frame if not str(column).startswith("Unnamed: ")]]
    counts = {column: frame[column].nunique() for column in frame}
    numbers = [c for c in frame if pd.api.types.is_numeric_dtype(frame[c]) and counts[c] >= NUMBERS]
    categories = [c for c in frame if c not in numbers and counts[c] <= CATEGORIES]
    frame = frame[numbers + categories].dropna()
    if len(frame) < FEWEST:
        return
    frame = frame.sample(frac=1.0, random_state=0)[:MOST]
    for target in numbers[-1:]:
        yield from _table(path.stem, frame, numbers, categories, target, labels=False)
    for target in [c for c in categories if frame[c].nunique() == 2][-1:]:
        yield from _table(path.stem, frame, numbers, categories, target, labels=True)


def _table(name, frame, numbers, categories, target, labels):
    import pandas as pd

    features = frame[[c for c in numbers + categories if c != target]]
    others = [c for c in categories if c != target]
    encoded = pd.get_dummies(features, columns=others, drop_first=True) if others else features
    X = encoded.to_numpy(np.float64)
    y = frame[target].to_numpy()
    y = (y == sorted(set(y), key=str)[1]).astype(np.float64) if labels else y.astype(np.float64)
    common = labels and not RAREST <= y.mean() <= 1.0 - RAREST
    if 1 <= X.shape[1] <= COLUMNS and not common and np.isfinite(X).all() and np.isfinite(y).all():
        yield NamedTable(f"{name}: {target}", labels, X, y)
