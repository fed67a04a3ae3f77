"""Games that were compiled when the package was built; `prebuild` makes them here."""

import contextlib
import json
import subprocess
import sys

import numpy as np
import pytest

import holdfast as hf
from holdfast import continuing
from holdfast._compiled import compiling, prebuild, prebuilt, programs
from holdfast.adversaries import Replay
from holdfast.defaults import recommended, recommended_loss
from holdfast.fleet.games import Games
from holdfast.fleet.grouped_rounds import play_groups
from holdfast.intervals.widths import LABELS, NUMBERS, Widths, follow_each
from holdfast.io.rows import DenseRows
from holdfast.levels.level import follow_values
from holdfast.sklearn import RobustClassifier, RobustRegressor

HOSTILE = ["plain", "missing", "changed", "stuck", "inf", "1e300", "1e150", "5e-324", "-1e9"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the usual games, for two levels of processors."""
    folder = tmp_path_factory.mktemp("prebuilt")
    command = [sys.executable, "-m", "holdfast._compiled.prebuild", str(folder), "--levels", "fast,any"]
    subprocess.run(command, check=True)
    return folder


@pytest.fixture
def use(monkeypatch):
    """Lets games use the library of a folder; None: they are played in Python, whatever is on disk."""

    def chosen(folder, level=None):
        found = prebuilt.Library(None, {}, "a test")
        if folder:
            with monkeypatch.context() as patch:
                patch.setattr(prebuilt, "level", lambda: level or "fast")
                found = prebuilt._loaded(folder)
            assert found.reason == ""
        monkeypatch.setattr(prebuilt, "library", lambda: found)
        monkeypatch.setattr(prebuilt, "_known", {})
        monkeypatch.setattr(compiling, "_is_stored", lambda *_: False)
        monkeypatch.setattr(continuing, "choose", compiling.choose if folder else lambda *_: False)

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


def bits(value):
    """The bytes of all numbers in a value."""
    return [(leaf.dtype.str, leaf.shape, leaf.tobytes()) for leaf in leaves(value)]


def is_prebuilt(model):
    return all(isinstance(game._native, programs.State) for game in model._games)


def fitted(make, X, y):
    model = make(random_state=0).fit(X, y)
    for i in range(0, 300, 70):
        model.partial_fit(X[i : i + 70], y[i : i + 70])
    states = [game.state for game in model._games]
    return bits((*states, model.coef_, model.predict(X[:50]))), is_prebuilt(model)


@pytest.mark.slow
@pytest.mark.parametrize("make", [RobustRegressor, RobustClassifier])
@pytest.mark.parametrize("kind", HOSTILE)
def test_prebuilt_and_interpreted_games_have_the_same_bits(folder, use, make, kind):
    X, z = table(1, kind)
    y = z if make is RobustRegressor else (z > 0.0) * 1
    use(None)
    python, native = fitted(make, X, y)
    assert not native
    for level in ("fast", "any"):
        use(folder, level)
        machine, native = fitted(make, X, y)
        assert native
        assert machine == python


def learned(regression, kind, compiled):
    """The games of `holdfast learn` with three keys."""
    X, z = table(2, kind)
    y = z if regression else np.where(z > 0.0, 1.0, -1.0)
    games = Games(recommended(regression), 5, recommended_loss(regression), [""], keyed=True)
    games.indices(["a", "b", "c"])
    columns = games.play(np.arange(len(X)) % 3, 0, DenseRows(X), y, compiled)
    return bits((*columns, games.counts, *(games._state((key, 0)) for key in range(3))))


@pytest.mark.slow
@pytest.mark.parametrize("regression", [True, False])
@pytest.mark.parametrize("kind", HOSTILE)
def test_learned_games_have_the_same_bits(folder, use, regression, kind, monkeypatch):
    use(folder)
    monkeypatch.setattr("holdfast._compiled.calls._made", None)
    assert learned(regression, kind, True) == learned(regression, kind, False)
    assert [key for key in prebuilt._known if key[0] is play_groups]


def sizes(kind):
    drawn = np.random.default_rng(3).exponential(size=3000)
    drawn[::9] = {"plain": 0.0, "missing": np.nan, "changed": 1e3, "stuck": drawn[0]}.get(kind, 0.0)
    with contextlib.suppress(ValueError):
        drawn[5::9] = abs(float(kind))
    return drawn


@pytest.mark.slow
@pytest.mark.parametrize("filter", prebuild._filters(), ids=repr)
@pytest.mark.parametrize("kind", HOSTILE)
def test_gates_decide_the_same(folder, use, filter, kind, monkeypatch):
    use(folder)
    monkeypatch.setattr("holdfast._compiled.calls._made", None)
    fast, slow, given = hf.Gate(filter, compiled=True), hf.Gate(filter, compiled=False), sizes(kind)
    assert isinstance(fast._compiled_keep, programs.State)
    assert fast.keep_many(given).tolist() == slow.keep_many(given).tolist()
    for size in given[:200]:
        assert repr(fast.decide(size)) == repr(slow.decide(size))  # NaN is not equal to itself
    assert fast.state_dict() == slow.state_dict()


@pytest.mark.slow
@pytest.mark.parametrize("kind", HOSTILE)
def test_levels_and_widths_have_the_same_bits(folder, use, kind, monkeypatch):
    monkeypatch.setattr("holdfast._compiled.calls._made", None)
    found = []
    for chosen in (folder, None):
        use(chosen)
        level, widths = hf.Level(season=12), [Widths(tracker) for tracker in (NUMBERS, LABELS)]
        readings = [level.update_many(part) for part in np.split(sizes(kind), 3)]
        for each in widths:
            each.add_forecasts(np.zeros(3000), sizes(kind))
        found.append(bits((*map(tuple, readings), level._state, *(each.numbers() for each in widths))))
        used = {key[0] for key, program in prebuilt._known.items() if program is not None}
        assert ({follow_values, follow_each} <= used) == (chosen is not None)
    assert found[0] == found[1]


TEXTBOOK = [
    (args[0], args[1])
    for group in ("textbook_ogd", "textbook_adagrad")
    for form, _, args in prebuild.GROUPS[group]()
    if form == "call" and isinstance(args[1], Replay)
]


@pytest.mark.slow
@pytest.mark.parametrize("player, replay", TEXTBOOK, ids=repr)
@pytest.mark.parametrize("kind", ["plain", "missing", "inf", "1e300", "5e-324"])
def test_textbook_games_have_the_same_bits(folder, use, player, replay, kind, monkeypatch):
    use(folder)
    monkeypatch.setattr("holdfast._compiled.calls._made", None)
    X, z = table(4, kind)
    replay = hf.Replay(X, np.where(z > 0.0, 1.0, -1.0), replay.loss)
    fast, slow = (
        hf.play(player, replay, keep=("losses", "sizes", "kept", "average"), compiled=c)
        for c in (True, False)
    )
    for name in ("losses", "sizes", "kept", "average", "final", "state"):
        assert bits((getattr(fast, name),)) == bits((getattr(slow, name),))


@pytest.mark.slow
@pytest.mark.parametrize("filter", [hf.TopK(3), hf.TopShare(0.1), hf.Quantile(0.9, horizon=100)], ids=repr)
def test_players_play_the_same_rounds(folder, use, filter, monkeypatch):
    use(folder)
    monkeypatch.setattr("holdfast._compiled.calls._made", None)
    X, z = table(5, "inf")
    fast, slow = (hf.Player(hf.Filtered(hf.OGD(hf.Ball(1.0)), filter), 5, compiled=c) for c in (True, False))
    for x, y in zip(X[:200], np.sign(z[:200]), strict=True):
        assert repr(fast.observe(x)) == repr(slow.observe(x))
        assert repr(fast.learn(x, y, hf.Logistic())) == repr(slow.learn(x, y, hf.Logistic()))
        assert bits((fast.predict(),)) == bits((slow.predict(),))
    assert bits(fast.state) == bits(slow.state)


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
@pytest.mark.filterwarnings("ignore::holdfast.audit.HoldfastWarning")
def test_no_input_ends_the_process(folder, use):
    """Wrong shapes raise; all others are learned from or skipped, with the bits of Python."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(400, 6))
    X[rng.random(X.shape) < 0.1] = rng.choice([np.nan, np.inf, -np.inf, 1e300, -1e308, 5e-324, 0.0])
    y = rng.choice([1.0, -1e100, 5e-324, 0.0, 3.0], size=400)
    frozen = X.copy()
    frozen.flags.writeable = False
    given = [
        X[:0],
        X[:1],
        X[::-1],
        X[::3],
        np.asfortranarray(X),
        frozen,
        X.astype(np.float32),
        X[:, :0],
        X[:, :3],
        X[0],
    ]
    models = []
    for chosen in (folder, None):
        use(chosen)
        model = RobustRegressor(random_state=0).fit(X[:50], y[:50])
        for rows in given:
            with contextlib.suppress(ValueError):
                model.partial_fit(rows, y[: len(rows)])
            with contextlib.suppress(ValueError):
                model.predict(rows)
        models.append(bits((model.coef_, model._games[0].state)))
    assert models[0] == models[1]


@pytest.mark.slow
def test_changed_sources_turn_the_library_off(folder, tmp_path):
    index = json.loads((folder / "index.json").read_text())
    (tmp_path / "index.json").write_text(json.dumps(index | {"digest": "0"}))
    assert "sources have changed" in prebuilt._loaded(tmp_path).reason
    (tmp_path / "index.json").write_text(json.dumps(index))
    assert "cannot be loaded" in prebuilt._loaded(tmp_path).reason  # no library beside it


def test_a_part_of_a_library_and_one_elsewhere_are_not_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr(prebuilt, "level", lambda: "fast")
    for name, size in (("games.so", 3), ("../games.so", 4)):
        index = {"libraries": {"fast": {"file": name, "bytes": size}}, "sources": [], "programs": {}}
        (tmp_path / "index.json").write_text(json.dumps(index | {"digest": prebuilt.digest_of([])}))
        (tmp_path / "games.so").write_bytes(b"game")
        found = prebuilt._loaded(tmp_path)
        assert found.code is None and ("damaged" in found.reason) == (size == 3)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"sources": [], "digest": 3}', '{"sources": ["../../x"]}'])
def test_a_broken_index_turns_the_library_off(tmp_path, text):
    (tmp_path / "index.json").write_text(text)
    assert prebuilt._loaded(tmp_path).code is None


def test_without_a_library_or_if_turned_off_there_is_a_reason(tmp_path, monkeypatch):
    assert prebuilt._loaded(tmp_path).reason == "this installation was made without them"
    monkeypatch.setenv("HOLDFAST_PREBUILT", "0")
    assert prebuilt._loaded(tmp_path).reason == "HOLDFAST_PREBUILT=0"
