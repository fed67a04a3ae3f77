"""The functions of holdfast.flatten as numba compiles them, for each type of state."""

from numba import types

import holdfast.flatten
from holdfast._compiled.overloads import is_instance, overloads
from holdfast.sketches.histogram import LogHistogram


@overloads(holdfast.flatten.flatten)
def flatten(state, buffer, start):
    if is_instance(state, LogHistogram):
        return lambda state, buffer, start: state.stowed(buffer, start)
    if isinstance(state, types.BaseTuple):
        steps = [f"start = flatten(state[{i}], buffer, start)" for i in range(len(state))]
        return _function(steps, "start", {"flatten": holdfast.flatten.flatten})
    if isinstance(state, types.Array):

        def array(state, buffer, start):
            for value in state.flat:
                buffer[start] = value
                start += 1
            return start

        return array

    def number(state, buffer, start):
        buffer[start] = state
        return start + 1

    return number


@overloads(holdfast.flatten.restore)
def restore(state, buffer, start):
    if is_instance(state, LogHistogram):
        return lambda state, buffer, start: state.fetched(buffer, start)
    if isinstance(state, types.BaseTuple):
        steps = [f"item{i}, start = restore(state[{i}], buffer, start)" for i in range(len(state))]
        items = "".join(f"item{i}, " for i in range(len(state)))
        scope = {"restore": holdfast.flatten.restore, "Class": getattr(state, "instance_class", None)}
        made = f"Class({items})" if isinstance(state, types.BaseNamedTuple) else f"({items})"
        return _function(steps, f"{made}, start", scope)
    if isinstance(state, types.Array):

        def array(state, buffer, start):
            flat = state.reshape(state.size)
            for i in range(len(flat)):
                flat[i] = buffer[start + i]
            return state, start + len(flat)

        return array
    if isinstance(state, types.Boolean):
        return lambda state, buffer, start: (buffer[start] != 0.0, start + 1)
    if isinstance(state, types.Integer):
        return lambda state, buffer, start: (int(buffer[start]), start + 1)
    return lambda state, buffer, start: (buffer[start], start + 1)


def _function(steps, result, scope):
    """A function of these lines: one for each item of a tuple, because items may have different types."""
    lines = ["def each(state, buffer, start):", *steps, f"return {result}"]
    scope |= {"__name__": __name__}
    exec("\n    ".join(lines), scope)
    return scope["each"]
