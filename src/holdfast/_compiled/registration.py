"""Tell numba of the methods and helpers that a game calls.

Numba compiles nested NamedTuples, but neither their methods nor the plain Python functions that they call.
It gets the same functions that Python would run.
"""

from holdfast._compiled.by_type import register_by_type
from holdfast._compiled.call_graph import CallGraph
from holdfast._compiled.kernel_forms import OTHER_BODIES, register_kernel
from holdfast._compiled.numba_path import private

if private is None:
    from holdfast._compiled.numba_public import register_function, register_method
else:
    from holdfast._compiled.numba_private import register_function, register_method


def register(graph: CallGraph) -> None:
    """Let compiled code call everything in a graph."""
    for cls, name, method in graph.methods:
        register_method(cls, name, method)
    for function in graph.helpers:
        if hasattr(function, "kernel"):
            register_kernel(function)
        elif getattr(function, "is_by_type", False):
            register_by_type(function)
        elif function not in OTHER_BODIES:
            register_function(function)
