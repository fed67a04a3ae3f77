"""Short games do not import numba, and only numba_private uses undocumented parts of numba."""

import ast

import pytest
from compiled.subprocesses import SOURCE, printed

COMPILED = sorted((SOURCE / "holdfast" / "_compiled").glob("*.py"))

PROGRAM = """
import sys
import holdfast as hf
print("numba" in sys.modules)
hf.play(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(1)), hf.Gradients([[1.0], [2.0], [3.0]]))
hf.Player(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopShare(0.1)), dim=1).observe([1.0])
print("numba" in sys.modules)
"""

# Documented by numba, or by llvmlite.
PUBLIC = {
    "numba": {"njit", "typeof", "types", "__version__"},
    "numba.extending": {"intrinsic", "overload", "overload_method", "register_jitable"},
    "llvmlite": {"__version__", "binding", "ir"},
}
PRIVATE_ATTRIBUTES = {"_cache", "entry_point", "meminfo", "overloads", "targetctx"}


def test_neither_importing_holdfast_nor_a_short_game_starts_numba():
    assert printed(PROGRAM) == ["False", "False"]


@pytest.mark.parametrize("path", COMPILED, ids=lambda path: path.stem)
def test_only_numba_private_uses_undocumented_parts_of_numba(path):
    from holdfast._compiled.numba_private import _ATTRIBUTES

    if path.stem == "numba_private":
        return
    private = PRIVATE_ATTRIBUTES.union(*_ATTRIBUTES.values()) - {"compile", "get_value_type"}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                assert alias.name == "numba" or alias.name.split(".")[0] not in {"numba", "llvmlite"}
        elif isinstance(node, ast.ImportFrom) and node.module.split(".")[0] in {"numba", "llvmlite"}:
            assert {alias.name for alias in node.names} <= PUBLIC.get(node.module, set()), node.module
        elif isinstance(node, ast.keyword):
            assert node.arg not in {"forceinline", "pipeline_class"}
        elif isinstance(node, ast.Attribute):
            ours = ast.unparse(node.value) == "vectors"
            assert ours or node.attr not in private, f"line {node.lineno}: {ast.unparse(node)}"
            assert ast.unparse(node.value) != "numba" or node.attr in PUBLIC["numba"], f"line {node.lineno}"


def test_pyproject_allows_the_tested_releases_of_numba():
    from holdfast._compiled.numba_private import TESTED

    first, last = TESTED[0], TESTED[-1].split(".")
    allowed = f'"numba>={first},<{last[0]}.{int(last[1]) + 1}"'
    assert allowed in (SOURCE.parent / "pyproject.toml").read_text()
    assert allowed.strip('"') in (SOURCE / "holdfast" / "_compiled" / "numba_path.py").read_text()


def test_helpers_get_no_separate_machine_code(tmp_path, monkeypatch):
    from holdfast._compiled import call
    from holdfast._compiled.numba_private import dispatcher

    monkeypatch.setenv("HOLDFAST_CACHE_DIR", str(tmp_path))  # so that it is compiled, not loaded

    def half(x):
        return 0.5 * x

    def quarter(x):
        return half(half(x))

    assert call(quarter, 8.0) == 2.0
    (part,) = dispatcher(half).overloads.values()
    assert not part.library.codegen._engine.is_symbol_defined(part.fndesc.llvm_func_name)
