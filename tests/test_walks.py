"""The walks of docs/design.md name the files that a row crosses: what was called is compared with them.

`spark/test_processor.py` compares that of a stream.
"""

import re
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from runs.small import called

from holdfast._compiled import compiling, prebuilt
from holdfast.sklearn import RobustClassifier, RobustRegressor

ROOT = Path(__file__).parent.parent
SOURCE = str(ROOT / "src" / "holdfast") + "/"
PAGE = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
WALKS = [
    re.findall(r"^\| \d+ \| `([\w/.]+)` \|", part, flags=re.MULTILINE)
    for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)
]
OF_RUN, OF_ESTIMATOR, OF_STREAM, OF_ROUND = (set(walk) for walk in WALKS if walk)
OF_ROUND -= {"rounds.py"}  # a tuple is made without a call
# How games are run, small parts of the default, what roles do by default, how arrays are made read-only, and
# rows with names.
OTHERS = r"_compiled/|steady/|(protocols|rule)\.py|sklearn/(regressor|journaled)\.py"


def crossed(action):
    """The files of holdfast whose functions an action has called, on any thread."""
    files = set()

    def note(frame, event, argument):
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(SOURCE):
            files.add(name.removeprefix(SOURCE))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return files


@pytest.fixture
def interpreted(monkeypatch, tmp_path):
    """Games in Python: in machine code there are no calls to see."""
    monkeypatch.setattr(prebuilt, "library", lambda: prebuilt.Library(None, {}, "a test"))
    monkeypatch.setenv("HOLDFAST_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(compiling, "_is_stored", lambda *args: False)  # another test may have compiled it


def table(rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 3))
    return X, X @ [1.0, 2.0, 3.0] + rng.normal(size=rows)


def test_a_row_of_partial_fit_crosses_the_files_of_its_walk(interpreted):
    X, y = table(400)
    files = set()
    two = (RobustRegressor(), y, {}), (RobustClassifier(), y > 0, {"classes": [0, 1]})
    for model, target, how in two:
        model.partial_fit(X[:399], target[:399], **how)
        files |= crossed(
            lambda model=model, target=target: (model.partial_fit(X[399:], target[399:]), model.coef_)
        )
    walk = OF_ESTIMATOR | OF_ROUND
    assert sorted(walk - files) == []
    assert sorted(name for name in files - walk if not re.match(OTHERS, name)) == []


def test_a_row_of_a_run_crosses_the_files_of_its_walk(interpreted, tmp_path):
    X, y = table(300)
    source = tmp_path / "rows.csv"
    np.savetxt(source, np.column_stack([X, y]), delimiter=",", header="a,b,c,y", comments="")
    args = ("--target", "y", "--quiet", "--to", tmp_path / "run")
    files = crossed(lambda: called("learn", source, *args))
    assert sorted(OF_RUN - files) == []
