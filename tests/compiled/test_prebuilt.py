"""Games that were compiled when the package was built; `prebuild` makes them here."""

import json
import subprocess
import sys

import numpy as np
import pytest

from holdfast import continuing
from holdfast._compiled import compiling, prebuilt
from holdfast.sklearn import RobustClassifier, RobustRegressor


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the two default games."""
    folder = tmp_path_factory.mktemp("prebuilt")
    command = [sys.executable, "-m", "holdfast._compiled.prebuild", str(folder), "numbers", "labels"]
    subprocess.run(command, check=True)
    return folder


@pytest.fixture
def use(monkeypatch):
    """Lets games use the library of a folder; None: they are played in Python, whatever is on disk."""

    def chosen(folder):
        found = prebuilt._loaded(folder) if folder else prebuilt.Library(None, {}, "a test")
        monkeypatch.setattr(prebuilt, "library", lambda: found)
        monkeypatch.setattr(prebuilt, "_known", {})
        monkeypatch.setattr(continuing, "choose", compiling.choose if folder else lambda *_: False)
        return found

    return chosen


def table(seed, kind):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(700, 5))
    z = X @ rng.normal(size=5) + rng.normal(size=700)
    rows = rng.random(700) < 0.05
    if kind == "missing":
        X[rng.random(X.shape) < 0.05] = np.nan
    elif kind == "changed":
        X[350:], z[350:] = X[350:] * 40.0, z[350:] * 30.0 + 500.0
    elif kind == "stuck":
        X[100:400] = X[100]
    elif kind != "plain":
        X[rows] = float(kind)
        z[rows] = float(kind) if abs(float(kind)) < 1e200 else 0.0
    return X, z


def leaves(value):
    return [x for item in value for x in leaves(item)] if isinstance(value, tuple) else [np.asarray(value)]


def is_prebuilt(model):
    return all(isinstance(game._native, prebuilt.PrebuiltState) for game in model._games)


def fitted(make, X, y):
    model = make(random_state=0).fit(X, y)
    for i in range(0, 300, 70):
        model.partial_fit(X[i : i + 70], y[i : i + 70])
    states = [leaf for game in model._games for leaf in leaves(game.state)]
    bits = [(a.dtype.str, a.shape, a.tobytes()) for a in (*states, model.coef_, model.predict(X[:50]))]
    return bits, is_prebuilt(model)


@pytest.mark.slow
@pytest.mark.parametrize("make", [RobustRegressor, RobustClassifier])
@pytest.mark.parametrize(
    "kind", ["plain", "missing", "changed", "stuck", "inf", "1e300", "1e150", "5e-324", "-1e9"]
)
def test_prebuilt_and_interpreted_games_have_the_same_bits(folder, use, make, kind):
    X, z = table(1, kind)
    y = z if make is RobustRegressor else (z > 0.0) * 1
    use(None)
    python, native = fitted(make, X, y)
    assert not native
    for level in ("fast", "any"):
        found = use(folder)
        if level == "any":
            index = json.loads((folder / "index.json").read_text())
            code = prebuilt.ctypes.CDLL(str(folder / index["libraries"]["any"]))
            found = prebuilt.Library(code, found.symbols, "")
            prebuilt.library = lambda found=found: found  # `use` has patched it: undone after the test
        machine, native = fitted(make, X, y)
        assert native
        assert machine == python


@pytest.mark.slow
def test_rows_of_another_kind_are_played_without_a_library(folder, use):
    use(folder)
    X, y = table(2, "plain")
    model = RobustRegressor().fit(X, y)
    assert is_prebuilt(model)
    model.partial_fit(X[:20], y[:20], sample_weight=np.arange(1.0, 21.0))
    assert not is_prebuilt(model)
    model.partial_fit(X[:20], y[:20])
    assert is_prebuilt(model)


@pytest.mark.slow
def test_changed_sources_turn_the_library_off(folder, tmp_path):
    index = json.loads((folder / "index.json").read_text())
    (tmp_path / "index.json").write_text(json.dumps(index | {"digest": "0"}))
    assert "sources have changed" in prebuilt._loaded(tmp_path).reason
    (tmp_path / "index.json").write_text(json.dumps(index))
    assert "cannot be loaded" in prebuilt._loaded(tmp_path).reason  # no library beside it


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"sources": [], "digest": 3}', '{"sources": ["../../x"]}'])
def test_a_broken_index_turns_the_library_off(tmp_path, text):
    (tmp_path / "index.json").write_text(text)
    assert prebuilt._loaded(tmp_path).code is None


def test_without_a_library_or_if_turned_off_there_is_a_reason(tmp_path, monkeypatch):
    assert prebuilt._loaded(tmp_path).reason == "this installation was made without them"
    monkeypatch.setenv("HOLDFAST_PREBUILT", "0")
    assert prebuilt._loaded(tmp_path).reason == "HOLDFAST_PREBUILT=0"
