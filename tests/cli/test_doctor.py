"""holdfast doctor: what it says of installations that are whole, slow and broken."""

import json
import os

import pytest
from cli.conftest import output

from holdfast._compiled import prebuilt
from holdfast.cli import doctor
from holdfast.cli.main import main


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder from which prebuilt games are loaded, at first an empty one."""
    monkeypatch.setattr(prebuilt, "FOLDER", tmp_path / "_prebuilt")
    monkeypatch.delenv("HOLDFAST_PREBUILT", raising=False)
    prebuilt.library.cache_clear()
    (tmp_path / "_prebuilt").mkdir()
    yield tmp_path / "_prebuilt"
    prebuilt.library.cache_clear()


def described(capsys):
    return json.loads(output(capsys, "doctor", "--json"))


def test_it_names_versions_and_every_extra_of_users(capsys, place):
    found = described(capsys)
    assert found["versions"]["Python"] and found["versions"]["numpy"]
    assert found["extras"]["packages"]["pandas"]["pandas"]
    assert not {"test", "docs", "heavy"} & found["extras"]["packages"].keys()
    assert found["broken"] == []


def test_a_missing_package_comes_with_the_line_that_installs_it(capsys, place, monkeypatch):
    version = doctor._version
    monkeypatch.setattr(doctor, "_version", lambda name: None if name == "river" else version(name))
    assert "without river: pip install 'holdfast[river]'" in output(capsys, "doctor")


def test_without_prebuilt_games_it_says_so_and_how_to_get_them(capsys, place):
    printed = output(capsys, "doctor")
    assert "not prebuilt: this installation was made without them" in printed
    assert "python -m holdfast._compiled.prebuild" in printed


def test_it_knows_why_a_wheel_was_built_without_games(capsys, place):
    (place / "not_built.txt").write_text("no C compiler\n")
    assert described(capsys)["games"]["reason"] == "no C compiler"


def test_a_variable_that_turns_them_off_is_named(capsys, place, monkeypatch):
    monkeypatch.setenv("HOLDFAST_PREBUILT", "0")
    games = described(capsys)["games"]
    assert games["remedy"] == "unset HOLDFAST_PREBUILT" and not games["broken"]


NO_LIBRARY = b"not a library"


def index(**changes):
    whole = {
        "libraries": {each: {"file": "games.so", "bytes": len(NO_LIBRARY)} for each in ("fast", "any")},
        "symbols": {},
        "programs": {},
        "sources": [],
    }
    return json.dumps(whole | {"digest": prebuilt.digest_of([])} | changes)


def test_games_of_other_sources_are_not_broken(capsys, place):
    (place / "index.json").write_text(index(digest="another"))
    games = described(capsys)["games"]
    assert "sources have changed" in games["reason"] and not games["broken"]


def test_a_library_that_cannot_be_loaded_is_broken(capsys, place):
    (place / "index.json").write_text(index())
    (place / "games.so").write_bytes(NO_LIBRARY)
    assert main(["doctor"]) == 1
    printed = capsys.readouterr().out
    assert "BROKEN: not prebuilt: they cannot be loaded" in printed
    assert "Broken: games." in printed


def test_games_are_named_in_words_whatever_else_the_index_has(place):
    symbols = {
        "a": "holdfast_numbers",
        "b": {"symbol": "holdfast_wide_labels_1", "release": "holdfast_release"},
    }
    (place / "index.json").write_text(index(programs=symbols | {"c": "holdfast_new_kind_0"}))
    assert doctor._names() == [
        "RobustRegressor and holdfast learn",
        "RobustClassifier for more than 300 columns",
        "new kind",
    ]


def test_numba_that_cannot_be_imported_is_broken(capsys, place, monkeypatch):
    broken = {"version": "0.68.1", "broken": True, "path": None, "reason": "ImportError('a part is missing')"}
    monkeypatch.setattr(doctor, "numba", lambda: broken)
    assert main(["doctor"]) == 1
    assert "BROKEN: 0.68.1 cannot be imported" in capsys.readouterr().out


def test_without_numba_it_says_what_runs_in_python(capsys, place, monkeypatch):
    version = doctor._version
    monkeypatch.setattr(doctor, "_version", lambda name: None if name == "numba" else version(name))
    assert "not installed: games that are not prebuilt run in Python" in output(capsys, "doctor")


@pytest.mark.skipif(os.name == "nt", reason="folders have other permissions")
def test_a_cache_that_cannot_be_written_to_is_named(capsys, place, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOLDFAST_CACHE_DIR", str(tmp_path / "file" / "cache"))
    printed = output(capsys, "doctor")
    assert "no folder can be written to" in printed and "set HOLDFAST_CACHE_DIR" in printed


def test_the_cache_and_what_is_in_it_are_shown(capsys, place, monkeypatch, tmp_path):
    monkeypatch.setenv("HOLDFAST_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "a.nbc").write_bytes(b"0" * 1000)
    assert described(capsys)["cache"] == {
        "folder": str(tmp_path / "cache"),
        "tried": [str(tmp_path / "cache")],
        "files": 1,
        "bytes": 1000,
    }


def test_the_check_compares_machine_code_with_python(monkeypatch):
    """Here both are played in Python, by a game that says it is native."""
    from holdfast.continuing import Game

    assert doctor._gives_the_same_bits() in (None, True)
    played = Game._play_in_python
    monkeypatch.setattr(Game, "_play_native", lambda self, batch, kind: played(self, batch))
    monkeypatch.setattr("holdfast.continuing.choose", lambda *_: True)
    assert doctor._gives_the_same_bits() is True

    def other(self, batch, kind):
        counts = played(self, batch)
        self._w += 1.0
        return counts

    monkeypatch.setattr(Game, "_play_native", other)
    assert doctor._gives_the_same_bits() is False
