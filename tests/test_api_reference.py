"""docs/api/ is what tools/api_reference.py makes of the docstrings, and none is missing."""

import re
import shutil
from pathlib import Path

import api_reference
import pytest

import holdfast as hf

ROOT = Path(__file__).parents[1]

# For each complaint, the module to which to append some code.
BARE = {
    "holdfast.filters.Bare has no docstring": (
        "filters/__init__.py",
        "class Bare:\n    pass\n\n\n__all__ += ['Bare']\n",
    ),
    "holdfast.sklearn.regressor.RobustRegressor.bare has no docstring": (
        "sklearn/regressor.py",
        "    def bare(self):\n        return 1\n",
    ),
    "holdfast.torch.lightning.bare has no docstring": (  # a module without __all__
        "torch/lightning.py",
        "def bare():\n    pass\n",
    ),
    "holdfast.dry_run is in none of PAGES": (
        "dry_run.py",
        "\n\n__all__ = ['check_rule']\n",
    ),
    "holdfast.documented is in none of PAGES": (
        "__init__.py",
        "def documented():\n    'It has a docstring.'\n\n\n__all__ += ['documented']\n",
    ),
}


@pytest.fixture(scope="module")
def package():
    return api_reference.load()


@pytest.fixture(scope="module")
def incomplete(tmp_path_factory):
    """The package with undocumented names in it."""
    source = tmp_path_factory.mktemp("src")
    left_out = shutil.ignore_patterns("cli", "_compiled", "__pycache__")
    shutil.copytree(ROOT / "src" / "holdfast", source / "holdfast", ignore=left_out)
    for module, code in BARE.values():
        with open(source / "holdfast" / module, "a", encoding="utf-8") as file:
            file.write(code)
    return api_reference.load(source)


def test_every_public_name_has_a_docstring(package):
    assert api_reference.undocumented(package) == []


def test_the_pages_are_those_of_the_docstrings(package):
    folder = ROOT / "docs" / "api"
    written = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    assert written == api_reference.pages(package), "docs/api/ is out of date: make api"


def test_what_follows_a_list_of_parameters_is_not_one_of_them(package):
    pages = api_reference.pages(package)
    assert "**Guarantee**: that of the learner.\n" in pages["learners.md"]
    assert [name for name, text in pages.items() if "- `Guarantee`" in text] == []


def test_every_example_is_a_block_of_code(package):
    for name, text in api_reference.pages(package).items():
        assert ">>>" not in re.sub(r"```python\n.*?```", "", text, flags=re.DOTALL), name


def test_every_name_of_the_package_is_in_the_index(package):
    index = api_reference.pages(package)["index.md"]
    assert [name for name in hf.__all__ if f"[`hf.{name}`]" not in index] == []
    for name in ("Adaptive", "Ellipsoid", "Largest", "linearised_regret", "guard", "guarded"):  # of modules
        assert f"`{name}`" in index


def test_every_rule_of_a_public_module_is_public(package):
    for path in {path for paths in api_reference.PAGES.values() for path in paths}:
        classes = package[path].classes.items()
        rules = {name for name, cls in classes if not cls.is_alias and api_reference.is_rule(cls)}
        assert rules <= set(api_reference.public(package[path])), f"{path}.__all__ lacks a rule"


def test_every_undocumented_name_is_found(incomplete):
    assert set(api_reference.undocumented(incomplete)) == set(BARE)


def test_nothing_is_written_if_a_docstring_is_missing(incomplete, tmp_path, monkeypatch):
    monkeypatch.setattr(api_reference, "load", lambda: incomplete)
    assert set(BARE) <= set(api_reference.main(tmp_path / "api").splitlines())
    assert not (tmp_path / "api").exists()
