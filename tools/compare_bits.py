"""Play recorded games and compare their results, bit for bit, with tools/recorded_bits.json.

    python tools/compare_bits.py                # with what this installation uses: machine code or Python
    python tools/compare_bits.py --machine-code # fail unless all games were played by prebuilt machine code
    python tools/compare_bits.py --level any    # with the machine code for older processors
    python tools/compare_bits.py --write        # record them again, after a change of the algorithms

The workflow `wheels.yml` does this with each wheel, on the system that it is for. Rows are sums and products
of numbers from a generator of integers: they are the same everywhere. What may differ is the library of
mathematical functions of a system, whose last bits are its own.
"""

import hashlib
import json
import platform
import sys
from argparse import ArgumentParser
from pathlib import Path

import numpy as np

import holdfast as hf
from holdfast._compiled import prebuilt

RECORDED = Path(__file__).with_name("recorded_bits.json")
ROWS = 300


def table(columns=5):
    """Features, a number and a label for each row. Some rows and numbers are wrong, some cells missing."""
    rng = np.random.default_rng(7)
    X = rng.random((ROWS, columns)) + rng.random((ROWS, columns)) - 1.0
    y = rng.random(ROWS) - 0.5
    for j in range(columns):
        y = y + (j - 1.5) * X[:, j]  # no product of matrices: its sums have an order of their own
    labels = (y > 0.0).astype(np.int64)
    X[rng.random(ROWS) < 0.03] *= 1e6
    y[rng.random(ROWS) < 0.03] = -1e9
    X[rng.random(X.shape) < 0.02] = np.nan
    return X, y, labels


def fitted(label, columns=5, weights=False, sparse=False):
    """The weights and decisions of an estimator that fits a table and goes on with half of it."""
    from holdfast.sklearn import RobustClassifier, RobustRegressor

    X, y, labels = table(columns)
    target = labels if label else y
    options = {"sample_weight": np.arange(ROWS) % 3 + 0.5} if weights else {}
    if sparse:
        from scipy.sparse import csr_array

        X = csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    model = (RobustClassifier if label else RobustRegressor)(random_state=0)
    model.fit(X, target, **options)
    kept = model.kept_mask_
    half = slice(0, ROWS // 2)
    model.partial_fit(X[half], target[half])
    return [model.coef_, model.intercept_, kept]


def played(learner, filter, loss, labelled=False):
    X, y, labels = table()
    X = np.nan_to_num(X)
    y = 2.0 * labels - 1.0 if labelled else y
    record = hf.play(hf.Filtered(learner, filter), hf.Replay(X, y, loss))
    return [record.final, record.kept]


def gated(filter):
    gate, (X, _, _) = hf.Gate(filter), table()
    return [gate.keep_many(np.abs(X[:, 0]))]


def levelled(season):
    """The levels of a stream with outliers, a change and a frozen part."""
    _, y, _ = table()
    y[100:150] = y[100]
    y[200:] += 50.0
    readings = hf.Level(season=season).update_many(y)
    return [readings.level, readings.low, readings.high, readings.kept]


def widths(label):
    """The widths of intervals for recorded scores."""
    from holdfast.intervals.widths import LABELS, NUMBERS, Widths

    X, y, _ = table()
    found = Widths(LABELS if label else NUMBERS)
    found.add_forecasts(np.nan_to_num(X[:, 0]), y)
    return [found.table()]


GAMES = {
    "numbers": lambda: fitted(label=False),
    "labels": lambda: fitted(label=True),
    "numbers, weighted": lambda: fitted(label=False, weights=True),
    "labels, weighted": lambda: fitted(label=True, weights=True),
    "numbers, wide": lambda: fitted(label=False, columns=301),
    "labels, wide": lambda: fitted(label=True, columns=301),
    "numbers, sparse": lambda: fitted(label=False, sparse=True),
    "labels, sparse": lambda: fitted(label=True, sparse=True),
    "OGD, TopK, logistic": lambda: played(hf.OGD(hf.Ball(5.0)), hf.TopK(20), hf.Logistic(), labelled=True),
    "AdaGrad, TopShare, squared": lambda: played(
        hf.AdaGrad(hf.Box(-5.0, 5.0)), hf.TopShare(0.1), hf.Squared()
    ),
    "OGD, Quantile, squared": lambda: played(
        hf.OGD(hf.Ball(5.0)), hf.Quantile(0.9, horizon=ROWS), hf.Squared()
    ),
    "gate, TopK": lambda: gated(hf.TopK(10)),
    "gate, Quantile": lambda: gated(hf.Quantile(0.9)),
    "level": lambda: levelled(season=0),
    "level, season": lambda: levelled(season=24),
    "intervals": lambda: widths(label=False),
    "intervals, labels": lambda: widths(label=True),
}


def digest(arrays):
    """A digest of the bits of arrays, in one order of bytes."""
    found = hashlib.sha256()
    for array in map(np.ascontiguousarray, arrays):
        array = array.astype(array.dtype.newbyteorder("<"))
        found.update(f"{array.dtype.str} {array.shape}".encode() + array.tobytes())
    return found.hexdigest()[:32]


def main(arguments):
    parser = ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--machine-code", action="store_true", help="fail unless prebuilt games are used")
    parser.add_argument("--write", action="store_true", help="record the bits again")
    parser.add_argument("--level", choices=("fast", "any"), help="the machine code for these processors")
    options = parser.parse_args(arguments)
    if options.level:
        prebuilt.level = lambda: options.level
    recorded = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {}
    found, wrong = {}, []
    for name, game in GAMES.items():
        prebuilt._known.clear()
        found[name] = digest(game())
        codes = [code is not None for code in prebuilt._known.values()]
        how = "machine code" if codes and all(codes) else "partly" if any(codes) else "Python"
        same = options.write or found[name] == recorded.get(name)
        if not same or (options.machine_code and how != "machine code"):
            wrong.append(name)
        print(f"{name:30}{how:14}{'same bits' if same else 'OTHER BITS'}")
    if options.write:
        RECORDED.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if wrong:
        print(f"{platform.platform()}: {', '.join(wrong)}; {prebuilt.library().reason}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
