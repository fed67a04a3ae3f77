"""The sdist and the wheel work on their own, and what is written about versions and extras is true."""

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import dist_trial
import pytest

import holdfast

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PAGES = [*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")]


@pytest.mark.exhaustive
def test_sdist_and_wheel_work_in_empty_environments(tmp_path, capsys, monkeypatch):
    """Without machine code, which takes minutes to compile: `make test-dist` tries that."""
    monkeypatch.setenv("HOLDFAST_PREBUILD", "0")
    uv = shutil.which("uv", path=Path(sys.executable).parent) or pytest.skip("there is no uv")
    pins = ROOT / "constraints.txt"
    subprocess.run([uv, "build", "-q", "-b", str(pins), "--out-dir", str(tmp_path)], cwd=ROOT, check=True)
    assert dist_trial.main(tmp_path, pins) == 0
    assert capsys.readouterr().out.count(" passed") == 2


def test_the_version_is_the_same_everywhere():
    lab = tomllib.loads((ROOT / "lab" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (cited,) = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), flags=re.M)
    newest = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.M)[0]
    assert {holdfast.__version__, lab["version"], cited, newest} == {PROJECT["version"]}
    assert f"holdfast=={PROJECT['version']}" in lab["dependencies"]


def test_the_laboratory_is_not_in_the_wheel():
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    assert wheel["targets"]["wheel"]["packages"] == ["src/holdfast"]
    assert not list((ROOT / "src").rglob("lab"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_extras_on_the_pages_exist(page):
    named = re.findall(r"(?:holdfast|\.)\[([a-z,]+)\]'", page.read_text(encoding="utf-8"))
    assert {extra for extras in named for extra in extras.split(",")} <= set(PROJECT["optional-dependencies"])


def test_zensical_is_pinned():
    (pin,) = [name for name in PROJECT["optional-dependencies"]["docs"] if name.startswith("zensical==")]
    assert pin in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()


# -- hatch_build.py


def wheel_of(folder, monkeypatch, **variables):
    """Build a wheel in this process, without an environment of its own."""
    from hatchling.builders.wheel import WheelBuilder

    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    (path,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    return Path(path)


def in_wheel(path, name):
    with zipfile.ZipFile(path) as archive:
        return archive.read(name).decode()


def test_a_wheel_without_games_is_for_all_systems_and_says_why(tmp_path, monkeypatch):
    path = wheel_of(tmp_path, monkeypatch, HOLDFAST_PREBUILD="0")
    assert path.name.endswith("-py3-none-any.whl")
    assert in_wheel(path, "holdfast/_prebuilt/not_built.txt") == "it was built with HOLDFAST_PREBUILD=0\n"


def test_if_compiling_fails_the_wheel_says_why(tmp_path, monkeypatch):
    """The compiler is looked for before anything is compiled."""
    monkeypatch.delenv("HOLDFAST_PREBUILD", raising=False)
    path = wheel_of(tmp_path, monkeypatch, CC="", PATH="", PYTHONPATH=str(no_ziglang(tmp_path)))
    assert path.name.endswith("-py3-none-any.whl")
    assert "no C compiler" in in_wheel(path, "holdfast/_prebuilt/not_built.txt")


def no_ziglang(tmp_path):
    """A folder for PYTHONPATH in which ziglang, if it is installed, is not found."""
    folder = tmp_path / "path"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text("import sys\nsys.modules['ziglang'] = None\n")
    return folder


def test_an_editable_installation_compiles_nothing(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    from hatch_build import CustomBuildHook

    monkeypatch.setenv("CC", "a compiler that is not there")
    build_data = {}
    CustomBuildHook(str(ROOT), {}, None, None, str(tmp_path), "wheel").initialize("editable", build_data)
    assert build_data == {}


def test_the_sdist_has_what_a_build_needs(tmp_path):
    from hatchling.builders.sdist import SdistBuilder

    (path,) = SdistBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = {path.relative_to(ROOT).as_posix() for path in (ROOT / "src/holdfast/_compiled").glob("*.*")}
    assert needed | {"hatch_build.py", "pyproject.toml", "tools/compare_bits.py"} <= names
