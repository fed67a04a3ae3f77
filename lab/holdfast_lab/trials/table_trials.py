"""`holdfast trials --tables FOLDER`: the default estimators on tables that nobody chose.

Rows come in random order, in batches of 50: each batch is predicted before it is learned from, and errors
count from row 100 on. First all rows are good, beside scikit-learn's `RidgeCV` or `LogisticRegression`, which
is fitted again on all rows so far every 500 rows. Then 10 % of the rows are bad, also of the first ones, and
the error on the good rows is compared with that of the same estimator without bad rows.
"""

import math
import warnings
import zlib
from typing import NamedTuple

import numpy as np

from holdfast._compiled.compiling import expecting
from holdfast.audit import HoldfastWarning
from holdfast.terminal import overwrite, tell
from holdfast_lab.bench.table import put_between_markers
from holdfast_lab.trials.about import written_by
from holdfast_lab.trials.tables import read_tables
from holdfast_lab.trials.zoo_measures import BATCH, Refitted, default_estimator

MARKERS = ("<!-- holdfast trials --tables: begin -->", "<!-- holdfast trials --tables: end -->")
SHARE, FIRST = 0.1, 100  # of bad rows; rows before errors count
PEER = "over the peer, no bad row"
LITTLE = 0.01  # of the spread of a target: some tables have no noise at all
_NAMED = 3  # the worst tables, by name
_HEAD = ("targets", "rows", "tables", "geometric mean", "up to 1.05", "up to 1.25", "worst")


def far_rows(X, y, bad, rng, labels):
    """All cells x 1000."""
    X[bad] *= 1000.0


def far_cells(X, y, bad, rng, labels):
    """One cell of each row x 1000."""
    X[bad, rng.integers(X.shape[1], size=len(bad))] *= 1000.0


def far_column(X, y, bad, rng, labels):
    """A column of which these rows are 1,000 times its largest value too large."""
    column = rng.integers(X.shape[1])
    X[bad, column] += 1000.0 * max(np.abs(X[:, column]).max(), 1.0)


def wrong_targets(X, y, bad, rng, labels):
    """Targets x -1000, or the other label."""
    y[bad] = 1.0 - y[bad] if labels else -1000.0 * y[bad]


KINDS = {
    "X x1000": far_rows,
    "a cell x1000": far_cells,
    "a far column": far_column,
    "wrong targets": wrong_targets,
}


class TableRow(NamedTuple):
    """Of one table, for the clean rows and each kind of bad ones, the ratio of two errors."""

    name: str
    labels: bool
    ratios: dict[str, float]


def hold_table_trials(folder, quick=False, page=None, estimator=default_estimator):
    """Measure and print; with `page`, write the table into that file."""
    rows = []
    with expecting(math.inf), warnings.catch_warnings():
        warnings.simplefilter("ignore", HoldfastWarning)
        for i, table in enumerate(read_tables(folder)):
            overwrite(table.name)
            if not quick or i % 10 == 0:
                rows.append(measure(table, estimator))
    if not rows:
        raise ValueError(f"{folder}: no CSV file with 300 rows or more and a target is in this folder")
    lines = summary(rows)
    tell(*("  ".join(f"{cell:>16}" for cell in line) for line in (_HEAD, *lines)))
    if page is not None:
        about = written_by(f"holdfast trials --tables FOLDER{' --quick' * quick} --write {page.name}")
        put_between_markers(page, markdown(lines, about), MARKERS)


def measure(table, estimator=default_estimator):
    """The row of a table; the same in each call."""
    alone = errors(estimator(table.labels), table, table.X, table.y)
    ratios = {PEER: ratio(table, alone, errors(Refitted(peer(table.labels)), table, table.X, table.y))}
    for kind, corrupt in KINDS.items():
        rng = np.random.default_rng([zlib.crc32(table.name.encode()), zlib.crc32(kind.encode())])
        bad = rng.choice(len(table.y), round(SHARE * len(table.y)), replace=False)
        X, y = table.X.copy(), table.y.copy()
        corrupt(X, y, bad, rng, table.labels)
        good = ~np.isin(np.arange(FIRST, len(y)), bad)
        ratios[kind] = ratio(table, errors(estimator(table.labels), table, X, y)[good], alone[good])
    return TableRow(table.name, table.labels, ratios)


def peer(labels):
    from sklearn.linear_model import LogisticRegression, RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = LogisticRegression(max_iter=500) if labels else RidgeCV(np.logspace(-3.0, 3.0, 7))
    return make_pipeline(StandardScaler(), model)


def errors(model, table, X, y):
    """How far off each forecast is from row 100 on, of a model that learns from these rows."""
    found, known = [], {"classes": [0.0, 1.0]} if table.labels else {}
    for start in range(0, len(y), BATCH):
        batch = slice(start, start + BATCH)
        if start >= FIRST:
            found.append(np.abs(model.predict(table.X[batch]) - table.y[batch]))
        model.partial_fit(X[batch], y[batch], **known)
    return np.concatenate(found)


def ratio(table, ours, others):
    """Mistakes over mistakes, one more of both; or mean errors, 1 % of the target's spread more of both."""
    more = 1.0 if table.labels else LITTLE * np.abs(table.y - np.median(table.y)).mean() * len(ours)
    return float((ours.sum() + more) / (others.sum() + more))


def summary(rows):
    """For numbers and labels and each kind of rows: how many tables, and how the ratios are spread."""
    lines = []
    for labels in (False, True):
        some = [row for row in rows if row.labels == labels]
        for kind in some[0].ratios if some else ():
            ratios = np.array([row.ratios[kind] for row in some])
            worst = [f"{some[i].name} {ratios[i]:.2f}" for i in np.argsort(-ratios)[:_NAMED]]
            within = (f"{100.0 * (ratios <= most).mean():.0f} %" for most in (1.05, 1.25))
            mean = f"{np.exp(np.log(ratios).mean()):.3f}"
            lines.append(
                ("labels" if labels else "numbers", kind, str(len(some)), mean, *within, ", ".join(worst))
            )
    return lines


def markdown(lines, about):
    head = f"| {' | '.join(_HEAD)} |\n|---|---|--:|--:|--:|--:|---|"
    return "\n".join([head, *(f"| {' | '.join(line)} |" for line in lines), "", about, ""])
