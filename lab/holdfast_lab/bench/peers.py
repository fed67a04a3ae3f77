"""Other libraries. One function for each makes a case that returns its seconds a round."""

import time
from collections.abc import Callable
from functools import partial
from importlib import metadata
from typing import Any

from holdfast_lab.bench.race import one_core, race
from holdfast_lab.bench.table import Row

PACKAGES = {"scikit-learn": "scikit-learn", "Vowpal Wabbit": "vowpalwabbit", "River": "river"}
AGAINST = "ours / this"
ABSENT = "not installed: pip install './lab[bench]'"
_RIVER_ROUNDS = 20_000  # as dictionaries they are larger than the caches, like all rounds


def version(name):
    """The installed version, or None."""
    try:
        return metadata.version(PACKAGES.get(name.partition(", ")[0], name))
    except metadata.PackageNotFoundError:
        return None


def scikit_learn(X, y, folder, shuffle=True):
    """`SGDClassifier.partial_fit` on the whole array, or on the whole CSR matrix.

    It shuffles the rows unless `shuffle` is False, and then its access to memory is random.
    """
    from sklearn.linear_model import SGDClassifier

    def case():
        model = SGDClassifier(loss="log_loss", penalty=None, shuffle=shuffle, random_state=0)
        start = time.perf_counter()
        model.partial_fit(X, y, classes=[-1.0, 1.0])
        return (time.perf_counter() - start) / X.shape[0]

    return case


def vowpal_wabbit(X, y, folder):
    """A run over its cache file. Reading and learning are timed, for which it has two threads.

    Before, the examples are converted once through a text file. Starting a workspace is not timed.
    """
    from vowpalwabbit import Workspace

    lines, cache = folder / "examples.txt", folder / f"{X.shape[0]}x{X.shape[1]}-{time.time_ns()}.cache"
    bits = max(18, (X.shape[1] - 1).bit_length())
    options = ["--cache_file", str(cache), "--bit_precision", str(bits), "--quiet"]
    options += ["--loss_function", "logistic", "--noconstant"]
    with lines.open("w") as file:
        file.writelines(_examples(X, y))
    Workspace(arg_list=["--data", str(lines), "--kill_cache", *options]).finish()
    lines.unlink()

    def case():
        workspace = Workspace(arg_list=options)
        start = time.perf_counter()
        workspace.run_parser()
        seconds = time.perf_counter() - start
        learned = workspace.get_weighted_examples()
        workspace.finish()
        if learned != X.shape[0]:
            raise RuntimeError(f"Vowpal Wabbit read {learned} of {X.shape[0]} examples from its cache")
        return seconds / X.shape[0]

    return case


def _examples(X, y):
    """Lines of Vowpal Wabbit's text format, with the number of a column as the name of a feature."""
    if hasattr(X, "indptr"):
        for i, label in enumerate(y):
            part = slice(X.indptr[i], X.indptr[i + 1])
            pairs = zip(X.indices[part].tolist(), X.data[part].tolist(), strict=True)
            yield f"{label:.0f} | " + " ".join([f"{j}:{value:.6g}" for j, value in pairs]) + "\n"
    else:
        form = "%d | " + " ".join(f"{j}:%.6g" for j in range(X.shape[1])) + "\n"
        for x, label in zip(X, y, strict=True):
            yield form % (label, *x.tolist())


def river(X, y, folder):
    """`LogisticRegression.learn_one` on dictionaries that are made before."""
    from river.linear_model import LogisticRegression

    rounds = [
        (dict(enumerate(x.tolist())), bool(label > 0.0))
        for x, label in zip(X[:_RIVER_ROUNDS], y, strict=False)
    ]

    def case():
        model = LogisticRegression()
        start = time.perf_counter()
        for x, label in rounds:
            model.learn_one(x, label)
        return (time.perf_counter() - start) / len(rounds)

    return case


PEERS: dict[str, Callable[..., Any]] = {
    "scikit-learn": scikit_learn,
    "scikit-learn, shuffle=False": partial(scikit_learn, shuffle=False),
    "Vowpal Wabbit": vowpal_wabbit,
    "River": river,
}


def contest(run, title, cases, X, y, goals):
    """Our cases and the peers named in `goals`: million rounds a second, and our first case over each peer.

    All have one core. The row of a peer that is not installed says so.
    """
    ours, *_ = cases
    names = [name for name in goals if version(name)]
    for name in names:
        run.show(f"{title}: preparing the examples for {name}")
        cases = cases | {name: PEERS[name](X, y, run.scratch)}
    with one_core():
        times = race(run, title, cases, run.amount(7, 5, 1))
    rows = [Row(what, 1e-6 / times.median(what)) for what in cases if what not in goals]
    for name, least in goals.items():
        if name in names:
            rate, ratio = 1e-6 / times.median(name), times.ratio(name, ours)
            package, *how = name.split(", ")
            label = ", ".join([f"{package} {version(name)}", *how])
            rows.append(Row(label, rate, ratio, least=least))
        else:
            rows.append(Row(name, least=least, note=ABSENT))
    return rows
