"""Exported names are imported when they are first used."""

import subprocess
import sys

import pytest

import holdfast as hf
from holdfast import adversaries, learners

PACKAGES = pytest.mark.parametrize(
    "package", [hf, learners, adversaries], ids=lambda package: package.__name__
)


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_importing_holdfast_imports_no_learner_but_the_fixed_one():
    code = "import sys, holdfast; print(*(name for name in sys.modules if 'learners.' in name))"
    assert run(code).split() == ["holdfast.learners.needs", "holdfast.learners.fixed"]


def test_a_learner_is_imported_when_it_is_used():
    code = "import sys, holdfast as hf; hf.VAW; print('holdfast.learners.ridge' in sys.modules)"
    assert run(code).split() == ["True"]


def test_a_star_import_has_all_names():
    assert run(
        "from holdfast import *; from holdfast.learners import *; print(VAW.__name__, Averaged.__name__)"
    )


@PACKAGES
def test_every_name_can_be_imported_and_is_listed(package):
    assert set(package.__all__) <= set(dir(package))
    for name in package.__all__:
        assert getattr(package, name).__name__ == name


@PACKAGES
def test_an_unknown_name_is_refused(package):
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'Adam'"):
        _ = package.Adam
