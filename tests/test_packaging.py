"""The sdist and the wheel work on their own, and what is written about versions and extras is true."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import dist_trial
import pytest

import holdfast

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PAGES = [*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")]


@pytest.mark.exhaustive
def test_sdist_and_wheel_work_in_empty_environments(tmp_path, capsys):
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
