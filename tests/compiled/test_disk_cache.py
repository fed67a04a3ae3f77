"""The disk cache: never out of date, shared by all programs, with a warning if it cannot be used."""

import os
import pathlib
import subprocess
import sys
import threading
from typing import NamedTuple

import numpy as np
import pytest
from compiled.subprocesses import SOURCE

from holdfast._compiled import disk_cache
from holdfast._compiled.calls import _programs, call

PROGRAM = """
import numpy as np
from holdfast._compiled import call
from mine import Mine

def decisions(filter, state, sizes):
    kept = np.zeros(len(sizes))
    for i in range(len(sizes)):
        state, kept[i], keep = filter.decide(state, sizes[i])
    return kept

print(*call(decisions, Mine(), Mine().init(1), np.array([1.0, 2.0])))
"""

MINE = """
import holdfast
from scales import scaled

PLUS = 0.5

@holdfast.rule
class Mine:
    k: float = 1.0

    def init(self, dim):
        return len({"sets", "of", "words", "have", "no", "order"})

    def decide(self, state, size):
        return state, 2.0 * scaled(size) + PLUS, True
"""

SCALES = "def scaled(x):\n    return 10.0 * x\n"


def run(folder, **files):
    """The words that the program prints, with these files in its folder. All tests here share one cache."""
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    variables = {
        "PYTHONPATH": f"{SOURCE}{os.pathsep}{folder}",
        "HOLDFAST_CACHE_DIR": str(folder.parent / "cache"),
    }
    command = [sys.executable, "-W", "error::RuntimeWarning", folder / "program.py"]
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split()


def stored(folder):
    return {file.name for file in (folder.parent / "cache").rglob("*.nbc")}


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A folder in which the program has run once."""
    folder = tmp_path_factory.mktemp("programs") / "original"
    assert run(folder, program=PROGRAM, mine=MINE, scales=SCALES) == ["20.5", "40.5"]
    return folder


@pytest.mark.parametrize(
    ("changed", "printed"),
    [
        ({"mine": MINE.replace("2.0 *", "3.0 *")}, ["30.5", "60.5"]),
        ({"mine": MINE.replace("PLUS = 0.5", "PLUS = 0.0")}, ["20.0", "40.0"]),
        ({"scales": SCALES.replace("10.0", "100.0")}, ["200.5", "400.5"]),
    ],
    ids=["method", "constant", "helper in another file"],
)
def test_the_next_process_runs_changed_code(original, tmp_path, changed, printed):
    files = {"program": PROGRAM, "mine": MINE, "scales": SCALES} | changed
    assert run(original.parent / tmp_path.name, **files) == printed


def test_the_same_code_is_compiled_once(original, monkeypatch):
    before = stored(original)
    monkeypatch.setenv("PYTHONHASHSEED", "123")
    assert run(original, mine="# a comment\n" + MINE) == ["20.5", "40.5"]
    assert stored(original) == before


def test_programs_with_other_rules_share_the_cache(original):
    program = PROGRAM.replace("mine", "yours")
    before = stored(original)
    other = original.parent / "other"
    assert run(other, program=program, yours=MINE, scales=SCALES) == ["20.5", "40.5"]
    assert len(stored(original) - before) == 1
    assert run(other) == run(original) == ["20.5", "40.5"]


def test_a_damaged_file_is_compiled_again(original):
    for file in (original.parent / "cache").rglob("*.nbc"):
        file.write_bytes(file.read_bytes()[:100])
    assert run(original) == ["20.5", "40.5"]
    assert any(file.stat().st_size > 1000 for file in (original.parent / "cache").rglob("*.nbc"))


def test_a_rule_of_a_script_is_stored_too(original):
    script = "\n".join(
        [MINE.replace("from scales import scaled", SCALES), PROGRAM.replace("from mine import Mine", "")]
    )
    before, other = stored(original), original.parent / "script"
    assert run(other, program=script) == ["20.5", "40.5"]
    after = stored(original)
    assert len(after - before) == 1
    assert run(other) == ["20.5", "40.5"] and stored(original) == after
    assert run(other, program=script.replace("2.0 *", "3.0 *")) == ["30.5", "60.5"]


def test_stored_games_are_loaded_without_numba(original):
    without = "import sys\nsys.modules['numba'] = None  # as if it were not installed\n" + PROGRAM
    assert run(original.parent / "without", program=without, mine=MINE, scales=SCALES) == ["20.5", "40.5"]


def test_a_game_with_two_classes_of_one_name_is_compiled_but_not_stored(tmp_path, monkeypatch):
    """They could be confused."""
    monkeypatch.setenv("HOLDFAST_CACHE_DIR", str(tmp_path))

    def made(unit):
        class Local(NamedTuple):
            x: float

            def times(self):
                return unit * self.x

        return Local(1.0)

    def total(a, b):
        return a.times() + b.times(), a, b

    a, b = made(2.0), made(3.0)
    assert call(total, a, b) == (5.0, a, b) and type(call(total, a, b)[2]) is type(b)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def no_warning_yet(monkeypatch):
    monkeypatch.setattr(disk_cache, "_warned", [])


@pytest.mark.parametrize("variable", ["HOLDFAST_CACHE_DIR", "NUMBA_CACHE_DIR"])
def test_a_folder_that_is_not_writable_gives_one_warning_with_the_remedy(
    variable, tmp_path, monkeypatch, no_warning_yet
):
    (tmp_path / "file").touch()
    monkeypatch.delenv("HOLDFAST_CACHE_DIR", raising=False)
    monkeypatch.setenv(variable, str(tmp_path / "file"))
    with pytest.warns(RuntimeWarning, match=rf"not kept on disk.*{tmp_path}/file.*Set HOLDFAST_CACHE_DIR"):
        assert call(lambda x: x + 1.0, 1.0) == 2.0
    assert call(lambda x: x + 2.0, 1.0) == 3.0  # a second warning would be an error here


def test_a_full_disk_gives_a_warning_and_the_game_continues(tmp_path, monkeypatch, no_warning_yet):
    def full(self, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setenv("HOLDFAST_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(pathlib.Path, "write_bytes", full)
    with pytest.warns(RuntimeWarning, match="No space left on device"):
        assert call(lambda x: x + 3.0, 1.0) == 4.0


def test_a_stored_function_that_does_not_load_is_reported(tmp_path, monkeypatch, no_warning_yet):
    def broken(*args):
        raise ValueError("another layout")

    monkeypatch.setenv("HOLDFAST_CACHE_DIR", str(tmp_path))

    def add(x):
        return x + 4.0

    call(add, 1.0)
    monkeypatch.setattr("holdfast._compiled.calls._programs", {})
    monkeypatch.setattr("holdfast._compiled.object_files.ObjectFile.unpacked", broken)
    with pytest.warns(RuntimeWarning, match=r"add-.* cannot be loaded .*another layout"):
        assert call(add, 1.0) == 5.0


def test_files_are_read_from_every_folder_and_written_to_the_first_that_allows_it(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(disk_cache, "folders", lambda: [tmp_path / "file", tmp_path / "second"])
    store = disk_cache.Store("<game>", ())
    assert not store.exists()
    store.save(b"code")
    assert [path.name for path in (tmp_path / "second").iterdir()] == [store.file]
    assert store.exists() and store.load(bytes) == b"code"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has no such rights")
@pytest.mark.parametrize("what", ["folder", "file"])
def test_what_others_can_write_to_is_not_run(tmp_path, monkeypatch, no_warning_yet, what):
    monkeypatch.setattr(disk_cache, "folders", lambda: [tmp_path / "cache"])
    store = disk_cache.Store("game", ())
    store.save(b"code")
    assert store.load(bytes) == b"code"
    (tmp_path / "cache" / (store.file if what == "file" else "")).chmod(0o777)
    assert store.load(bytes) is None
    if what == "folder":
        with pytest.warns(RuntimeWarning, match="others can write to it"):
            store.save(b"code")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has no such rights")
def test_what_belongs_to_another_user_is_not_run(tmp_path, monkeypatch):
    monkeypatch.setattr(disk_cache, "folders", lambda: [tmp_path])
    store = disk_cache.Store("game", ())
    store.save(b"code")
    own = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: own + 1)
    assert store.load(bytes) == (b"code" if own == 0 else None)  # what the administrator has made is


def test_the_folder_can_be_set(tmp_path, monkeypatch):
    monkeypatch.delenv("HOLDFAST_CACHE_DIR", raising=False)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    assert disk_cache.folders()[0].name == "__pycache__" and disk_cache.folders()[1].name == "holdfast"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert disk_cache.folders() == [tmp_path / "holdfast"]
    monkeypatch.setenv("HOLDFAST_CACHE_DIR", str(tmp_path / "own"))
    assert disk_cache.folders() == [tmp_path / "own"]


def test_the_oldest_files_are_removed_when_there_are_many(tmp_path, monkeypatch):
    monkeypatch.setattr(disk_cache, "_MAX_FILES", 3)
    for i in range(5):
        (tmp_path / f"{i}.nbc").touch()
        os.utime(tmp_path / f"{i}.nbc", (i, i))
    disk_cache._remove_oldest(tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["2.nbc", "3.nbc", "4.nbc"]


def test_threads_can_compile_at_the_same_time():
    def powers(x):
        return x * x

    results = {}

    def work(i):
        results[i] = [
            call(powers, value).tolist()
            for value in (np.full(2, i), np.full(2, float(i)), np.full((2, 1), i))
        ]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {i: [[i * i] * 2, [i * i] * 2, [[i * i]] * 2] for i in range(4)}
    assert len([function for _, function, _ in _programs if function is powers]) == 3
