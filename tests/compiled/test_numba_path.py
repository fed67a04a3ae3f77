"""If the private path fails, games are compiled through the public API of numba, with one warning."""

import pytest
from compiled.subprocesses import printed

PROGRAM = """
import warnings
import numba
{change}

def double(x):
    return 2.0 * x

def quadruple(x):
    return double(double(x))

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from holdfast._compiled import call, numba_path
    print(numba_path.private is None, call(quadruple, 2.0), call(quadruple, 2), len(caught))
print(*(warning.message for warning in caught))
"""
LIBRARY = "del numba.core.codegen.JITCodeLibrary"
GLOBALS = "del numba.core.codegen.CodeLibrary.has_dynamic_globals"
BITCODE = "from llvmlite import binding\nbinding.parse_bitcode = lambda *args: 1 / 0"
UNTESTED = "numba.__version__ = '0.99.1'"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (LIBRARY, "cannot import name 'JITCodeLibrary'"),
        (GLOBALS, "has no attribute 'has_dynamic_globals'"),
        (f"{UNTESTED}\n{BITCODE}", "division by zero"),
    ],
    ids=["missing at import", "missing attribute", "fails in the trial"],
)
def test_if_the_private_path_fails_the_public_api_is_used(change, reason):
    result, warning = printed(PROGRAM.format(change=change))
    assert result == "True 8.0 8.0 1"
    assert reason in warning
    assert "Install numba>=0.68,<0.69, or set HOLDFAST_PUBLIC_NUMBA=1" in warning


@pytest.mark.parametrize(
    ("change", "switch", "public"), [("", "", False), (UNTESTED, "0", False), (LIBRARY, "1", True)]
)
def test_there_is_no_warning_on_the_private_path_or_if_the_public_one_is_set(change, switch, public):
    result, warnings = printed(PROGRAM.format(change=change), HOLDFAST_PUBLIC_NUMBA=switch)
    assert result == f"{public} 8.0 8.0 0" and warnings == ""


def test_the_trial_for_untested_releases_passes_with_this_one():
    from holdfast._compiled.numba_path import try_private

    try_private()
