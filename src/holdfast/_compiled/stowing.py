"""The compiled side of holdfast.stowing: for each type of state, what it takes to write it down."""

from numba.core import types

from holdfast import stowing
from holdfast._compiled.loops import _is, teach
from holdfast.sketches.histogram import LogHistogram, is_whole


@teach(stowing.stow)
def stow(state, room, at):
    if _is(state, LogHistogram):
        return lambda state, room, at: state.stowed(room, at)
    if isinstance(state, types.BaseTuple):
        steps = [f"at = stow(state[{i}], room, at)" for i in range(len(state))]
        return _written(steps, "at", {"stow": stowing.stow})
    if isinstance(state, types.Array):

        def array(state, room, at):
            for value in state.flat:
                room[at] = value
                at += 1
            return at

        return array

    def number(state, room, at):
        room[at] = state
        return at + 1

    return number


@teach(stowing.fetch_back)
def fetch_back(state, room, at):
    if _is(state, LogHistogram):
        return lambda state, room, at: state.fetched(room, at)
    if isinstance(state, types.BaseTuple):
        steps = [f"item{i}, at = fetch_back(state[{i}], room, at)" for i in range(len(state))]
        items = "".join(f"item{i}, " for i in range(len(state)))
        scope = {"fetch_back": stowing.fetch_back, "Made": getattr(state, "instance_class", None)}
        made = f"Made({items})" if isinstance(state, types.BaseNamedTuple) else f"({items})"
        return _written(steps, f"{made}, at", scope)
    if isinstance(state, types.Array):

        def array(state, room, at):
            flat = state.reshape(state.size)
            for i in range(len(flat)):
                flat[i] = room[at + i]
            return state, at + len(flat)

        return array
    if isinstance(state, types.Boolean):
        return lambda state, room, at: (room[at] != 0.0, at + 1)
    if isinstance(state, types.Integer):
        return lambda state, room, at: (int(room[at]), at + 1)
    return lambda state, room, at: (room[at], at + 1)


@teach(stowing.checked)
def checked(state, room, at, end):
    if _is(state, LogHistogram):
        return lambda state, room, at, end: state.checked(room, at, end) if at >= 0 else -1
    if isinstance(state, types.BaseTuple):
        steps = [f"at = checked(state[{i}], room, at, end)" for i in range(len(state))]
        return _written(steps, "at", {"checked": stowing.checked}, "state, room, at, end")
    if isinstance(state, types.Array) and isinstance(state.dtype, types.Float):
        return lambda state, room, at, end: at + state.size if 0 <= at <= end - state.size else -1
    if isinstance(state, types.Array):

        def array(state, room, at, end):
            if not 0 <= at <= end - state.size:
                return -1
            for i in range(at, at + state.size):
                if not is_whole(room[i]):
                    return -1
            return at + state.size

        return array
    if isinstance(state, types.Boolean):
        return lambda state, room, at, end: (
            at + 1 if 0 <= at < end and (room[at] == 0.0 or room[at] == 1.0) else -1
        )
    if isinstance(state, types.Integer):
        return lambda state, room, at, end: at + 1 if 0 <= at < end and is_whole(room[at]) else -1
    return lambda state, room, at, end: at + 1 if 0 <= at < end else -1


def _written(steps, answer, scope, parameters="state, room, at"):
    """A function of these lines: one for each item of a tuple, which may all be of different types."""
    lines = [f"def each({parameters}):", *steps, f"return {answer}"]
    scope |= {"__name__": __name__}
    exec("\n    ".join(lines), scope)
    return scope["each"]
