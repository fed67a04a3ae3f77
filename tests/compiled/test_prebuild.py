"""The list of games to compile, without compiling them."""

from compiled.subprocesses import printed

PROGRAM = """
import sys
for name in ("jinja2", "pandas", "pyarrow", "safetensors", "scipy", "shtab", "sklearn", "tqdm"):
    sys.modules[name] = None  # as if it were not installed
from holdfast._compiled.prebuild import GROUPS, USUAL
print(all(list(make()) for make in GROUPS.values()), set(USUAL) <= GROUPS.keys())
"""


def test_all_games_are_made_where_only_numba_and_numpy_are_installed():
    """That is so where pip builds a wheel."""
    assert printed(PROGRAM) == ["True True"]
