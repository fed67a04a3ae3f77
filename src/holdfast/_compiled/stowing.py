"""The compiled side of holdfast.stowing: for each type of state, what it takes to write it down."""

from numba.core import types

from holdfast import stowing
from holdfast._compiled.loops import _is, teach
from holdfast.sketches.histogram import LogHistogram


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


def _written(steps, answer, scope):
    """A function of these lines: one for each item of a tuple, which may all be of different types."""
    lines = ["def each(state, room, at):", *steps, f"return {answer}"]
    scope |= {"__name__": __name__}
    exec("\n    ".join(lines), scope)
    return scope["each"]
