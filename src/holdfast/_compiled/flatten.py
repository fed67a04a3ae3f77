"""The functions of holdfast.flatten as numba compiles them, for each type of state."""

from numba import types

import holdfast.flatten
from holdfast._compiled.overloads import is_instance, overloads
from holdfast.sketches.histogram import LogHistogram, is_whole


@overloads(holdfast.flatten.flatten)
def flatten(state, buffer, start):
    if is_instance(state, LogHistogram):
        return lambda state, buffer, start: state.write_to(buffer, start)
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
        return lambda state, buffer, start: state.read_from(buffer, start)
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


@overloads(holdfast.flatten.check_flat)
def check_flat(state, buffer, start, end):
    if is_instance(state, LogHistogram):
        return lambda state, buffer, start, end: state.check_stored(buffer, start, end) if start >= 0 else -1
    if isinstance(state, types.BaseTuple):
        steps = [f"start = check_flat(state[{i}], buffer, start, end)" for i in range(len(state))]
        scope = {"check_flat": holdfast.flatten.check_flat}
        return _function(steps, "start", scope, "state, buffer, start, end")
    if isinstance(state, types.Array) and isinstance(state.dtype, types.Float):
        return lambda state, buffer, start, end: start + state.size if 0 <= start <= end - state.size else -1
    if isinstance(state, types.Array):

        def array(state, buffer, start, end):
            if not 0 <= start <= end - state.size:
                return -1
            for i in range(start, start + state.size):
                if not is_whole(buffer[i]):
                    return -1
            return start + state.size

        return array
    if isinstance(state, types.Boolean):
        return lambda state, buffer, start, end: (
            start + 1 if 0 <= start < end and (buffer[start] == 0.0 or buffer[start] == 1.0) else -1
        )
    if isinstance(state, types.Integer):
        return lambda state, buffer, start, end: (
            start + 1 if 0 <= start < end and is_whole(buffer[start]) else -1
        )
    return lambda state, buffer, start, end: start + 1 if 0 <= start < end else -1


def _function(steps, result, scope, parameters="state, buffer, start"):
    """A function of these lines: one for each item of a tuple, because items may have different types."""
    lines = [f"def each({parameters}):", *steps, f"return {result}"]
    scope |= {"__name__": __name__}
    exec("\n    ".join(lines), scope)
    return scope["each"]
