"""The disk cache: never stale, shared by all programs, and never in the way. Each program is a process."""

import os
import pathlib
import subprocess
import sys
import threading

import numba
import numpy as np
import pytest

from holdfast import OGD, Ball, Filtered, TopK
from holdfast._compiled import _entries, call, storing
from holdfast._compiled.storing import has_an_address
from holdfast.rule import rule

SOURCE = pathlib.Path(__file__).parents[2] / "src"

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
    """What the program prints, with these files in its folder and a cache that all tests here share."""
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    variables = {
        "PYTHONPATH": f"{SOURCE}{os.pathsep}{folder}",
        "NUMBA_CACHE_DIR": str(folder.parent / "cache"),
    }
    done = subprocess.run(
        [sys.executable, folder / "program.py"], env=os.environ | variables, capture_output=True, text=True
    )
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
def test_a_change_is_seen_by_the_next_process(original, tmp_path, changed, printed):
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


def test_a_damaged_file_is_compiled_anew(original):
    for file in (original.parent / "cache").rglob("*.nbc"):
        file.write_bytes(file.read_bytes()[:100])
    assert run(original) == ["20.5", "40.5"]
    assert any(file.stat().st_size > 1000 for file in (original.parent / "cache").rglob("*.nbc"))


def test_a_rule_of_a_script_compiles_and_leaves_nothing_behind(original):
    script = "\n".join(
        [MINE.replace("from scales import scaled", SCALES), PROGRAM.replace("from mine import Mine", "")]
    )
    before = stored(original)
    assert run(original.parent / "script", program=script) == ["20.5", "40.5"]
    assert stored(original) == before


def test_only_what_another_process_can_import_is_stored():
    @rule
    class Local:
        k: float = 1.0

        def init(self, dim):
            return 0.0

        def decide(self, state, size):
            return state, self.k, size <= self.k

    assert has_an_address(numba.typeof(Filtered(OGD(Ball(1.0)), TopK(1))))
    assert not has_an_address(numba.typeof(Filtered(OGD(Ball(1.0)), Local())))
    Local.__qualname__ = "Local"  # which this module does not have
    assert not has_an_address(numba.typeof((1.0, Local())))


def test_without_a_folder_to_write_to_every_process_compiles_for_itself(monkeypatch):
    def nowhere(function):
        raise RuntimeError("no locator available")

    monkeypatch.setattr("holdfast._compiled.Cache", nowhere)
    assert call(lambda x: x + 1.0, 1.0) == 2.0


def test_a_full_disk_is_no_mistake_of_the_game(monkeypatch):
    def full(self, name, data):
        raise OSError("no space left on device")

    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile._save_data", full)
    assert call(lambda x: x + 2.0, 1.0) == 3.0


def test_the_oldest_files_go_when_there_are_many(tmp_path, monkeypatch):
    monkeypatch.setattr(storing, "_MOST", 3)
    for i in range(5):
        (tmp_path / f"{i}.nbc").touch()
        os.utime(tmp_path / f"{i}.nbc", (i, i))
    storing._forget_the_oldest(tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["2.nbc", "3.nbc", "4.nbc"]


def test_threads_that_compile_at_once_do_not_mix_up_their_games():
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
    assert len(_entries[powers].overloads) == 3
