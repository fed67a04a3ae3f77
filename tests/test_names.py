"""Every module has a test of its name, or `covered.toml` says which test covers it."""

import tomllib
from pathlib import Path

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "holdfast"
WRITTEN = tomllib.loads((TESTS / "covered.toml").read_text(encoding="utf-8"))
COVERED = [module for modules in WRITTEN["covered"].values() for module in modules]


def own_test(module):
    """Where a test of the name of this module is, if there is one."""
    folders = [WRITTEN["folders"].get(folder, folder) for folder in module.parts[:-1]]
    return TESTS.joinpath(*folders, f"test_{module.name}")


def test_every_module_has_a_test_of_its_name_or_is_listed():
    modules = [path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if not path.stem.startswith("__")]
    without = {module.as_posix() for module in modules if not own_test(module).exists()}
    assert sorted(without - set(COVERED)) == [], "add these to tests/covered.toml, or write the tests"
    assert sorted(set(COVERED) - without) == [], "these are gone, or have a test of their name"


def test_what_is_listed_exists_and_is_listed_once():
    assert [test for test in WRITTEN["covered"] if not (TESTS / test).exists()] == []
    assert len(COVERED) == len(set(COVERED))
