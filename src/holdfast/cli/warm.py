"""holdfast warm: compile in advance what estimators and the command line will need."""

import importlib.util
import math
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from functools import partial
from typing import Any

from holdfast._compiled.calls import has_numba
from holdfast._compiled.disk_cache import writable
from holdfast.cli.arguments import describe
from holdfast.terminal import DONE, WRONG, print_error, tell

_MODELS = ("regressor", "classifier")
_ROWS = ("dense", "sparse")


def add(parser: ArgumentParser) -> None:
    describe(
        parser,
        run,
        "Compile what will be needed, and store it on disk, so that later processes need not: when an\n"
        "image is built, in a CI job, before a service starts. What is stored depends on the versions\n"
        "of holdfast, Python and numba and on the kind of processor. It does not depend on the data:\n"
        "it serves any number of rows and columns, float64 and float32. HOLDFAST_CACHE_DIR says where\n"
        "it is stored; set it to the same folder later. What is there is not compiled again, nor is\n"
        "what came with holdfast. Without scikit-learn, it compiles what `holdfast learn` needs. This\n"
        "needs numba: pip install 'holdfast[compile]'.",
        [
            "holdfast warm                                   # the default estimators",
            "HOLDFAST_CACHE_DIR=/opt/holdfast holdfast warm  # in an image; set the variable there, too",
            "holdfast warm --only classifier --rows dense    # less",
            "holdfast warm --loss hinge --only classifier    # another loss",
            "holdfast warm --learn                           # also what holdfast learn needs",
        ],
        exits=None,
    )
    parser.add_argument(
        "--only", choices=_MODELS, help="one of the two estimators (default: both, with their default losses)"
    )
    parser.add_argument("--rows", choices=_ROWS, help="dense or sparse rows (default: both)")
    parser.add_argument("--loss", metavar="NAME", help="a loss of the estimator, such as hinge or huber")
    parser.add_argument("--learner", metavar="NAME", help="a learner by name, such as ogd")
    parser.add_argument(
        "--outliers", default="auto", metavar="HOW MANY", help="auto, a share such as 1%%, a count or none"
    )
    parser.add_argument(
        "--learn", action="store_true", help="also compile what `holdfast learn` needs for dense rows"
    )


def run(options: Namespace) -> int:
    if options.loss and not options.only:
        print_error("a loss is for one estimator: add --only regressor or --only classifier")
        return WRONG
    folder = writable()
    if folder is None:
        print_error("no cache folder can be written to: set HOLDFAST_CACHE_DIR to one that can")
        return WRONG
    if not has_numba():
        print_error("only what came with holdfast is compiled; for more: pip install 'holdfast[compile]'")
        return WRONG
    estimators = importlib.util.find_spec("sklearn") is not None
    if not estimators:
        named = [name for name in ("rows", "loss", "learner") if getattr(options, name) is not None]
        if named:
            print_error(
                f"--{named[0]} is for the estimators of scikit-learn: pip install 'holdfast[sklearn]'"
            )
            return WRONG
        tell("scikit-learn is not installed: compiling what `holdfast learn` needs only")
    from holdfast.options import TERMINAL, read_learner, read_loss, read_outliers

    models = [options.only] if options.only else _MODELS
    read_outliers(options.outliers, TERMINAL)
    for model in models:
        loss = read_loss(options.loss, model == "regressor", TERMINAL)
        read_learner(options.learner, loss, TERMINAL)
    tell(f"Into {folder}:")
    for model in models:
        if estimators:
            for rows in [options.rows] if options.rows else _ROWS:
                _timed(f"{model}, {rows} rows", partial(_fit, model, rows, options))
        if options.learn or not estimators:
            _timed(f"holdfast learn, {model}", partial(_learn, model))
    return DONE


def _timed(name: str, work: Callable[[], None]) -> None:
    start = time.perf_counter()
    work()
    tell(f"  {name:48}{time.perf_counter() - start:6.1f} s")


def _table(model: str) -> tuple[Any, Any]:
    import numpy as np

    X = np.arange(20.0).reshape(10, 2) % 7.0
    return X, np.arange(10) % 2 if model == "classifier" else X[:, 0]


def _fit(model: str, rows: str, options: Namespace) -> None:
    from scipy.sparse import csr_array

    from holdfast._compiled.compiling import expecting
    from holdfast.sklearn import RobustClassifier, RobustRegressor

    X, y = _table(model)
    chosen = {"loss": options.loss} if options.loss else {}
    make = {"regressor": RobustRegressor, "classifier": RobustClassifier}[model]
    with expecting(math.inf):
        made: Any = make(options.outliers, learner=options.learner, n_epochs=1, **chosen)
        made.fit(csr_array(X) if rows == "sparse" else X, y)


def _learn(model: str) -> None:
    """Learn from a small file with the default settings, compiled."""
    import tempfile
    from pathlib import Path

    import numpy as np

    from holdfast._compiled.compiling import WORTH_COMPILING, expecting
    from holdfast.cli.progress import progress_for
    from holdfast.intervals.widths import LABELS, NUMBERS, Widths
    from holdfast.runs.beginning import learned
    from holdfast.runs.config import Settings

    X, y = _table(model)
    settings = Settings("y", task="classification" if model == "classifier" else "regression")
    with tempfile.TemporaryDirectory() as folder:
        path, to = Path(folder) / "rows.csv", Path(folder) / "run"
        np.savetxt(path, np.column_stack([X, y]), delimiter=",", header="a,b,y", comments="")
        learned(path, settings, to, progress_for(quiet=True), WORTH_COMPILING).folder.close()
    with expecting(math.inf):  # what `holdfast serve` needs besides
        widths = Widths(NUMBERS if model == "regressor" else LABELS)
        widths.add(np.ones(2))
        widths.table()
