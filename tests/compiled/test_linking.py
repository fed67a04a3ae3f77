"""`holdfast._compiled.linking`: which compiler links, and a library that can be called."""

import ctypes
import shutil
import subprocess
import sys

import pytest

from holdfast._compiled import linking


def test_a_variable_chooses_the_compiler(monkeypatch):
    monkeypatch.setenv("CC", "zig cc -target x86_64-linux-gnu.2.17")
    assert linking.compiler() == ["zig", "cc", "-target", "x86_64-linux-gnu.2.17"]


def test_without_any_compiler_the_message_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(linking.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="install cc or clang, or pip install ziglang"):
        linking.compiler()


def test_a_compiler_that_fails_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", f"{sys.executable} -c raise(SystemExit(1))")
    with pytest.raises(SystemExit, match=r"did not link games-fast"):
        linking.link([], [], tmp_path / linking.library_name("fast"))


@pytest.mark.skipif(sys.platform == "win32" or not shutil.which("cc"), reason="no cc to compile a trial with")
def test_a_library_has_its_functions(tmp_path, monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    source, compiled = tmp_path / "game.c", tmp_path / "game.o"
    source.write_text("int holdfast_game(int x) { return 2 * x; }")
    subprocess.run(["cc", "-c", "-fPIC", source, "-o", compiled], check=True)
    path = tmp_path / linking.library_name("any")
    linking.link([compiled], ["holdfast_game"], path)
    library = ctypes.CDLL(str(path))
    assert library.holdfast_game(21) == 42
