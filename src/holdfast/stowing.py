"""States as rows of numbers, and back: many games share the room of one.

As the functions of `holdfast.vectors` these have a body for each world; `holdfast._compiled` has the other.
"""

import numpy as np

from holdfast.sketches.histogram import LogHistogram, is_whole


def stow(state, room, at):
    """Write the numbers of a state into the row `room`, from this place on; return the place behind them.

    Of a histogram only the buckets in use are written, and it is left empty.
    """
    if isinstance(state, LogHistogram):
        return state.stowed(room, at)
    if isinstance(state, tuple):
        for item in state:
            at = stow(item, room, at)
        return at
    if isinstance(state, np.ndarray):
        room[at : at + state.size] = state.ravel()
        return at + state.size
    room[at] = state
    return at + 1


def fetch_back(state, room, at):
    """The state that was written there, in the arrays of `state`, its histograms empty; and the place."""
    if isinstance(state, LogHistogram):
        return state.fetched(room, at)
    if isinstance(state, tuple):
        items = []
        for item in state:
            item, at = fetch_back(item, room, at)
            items.append(item)
        return tuple.__new__(type(state), items), at
    if isinstance(state, np.ndarray):
        state[...] = room[at : at + state.size].reshape(state.shape)
        return state, at + state.size
    return type(state)(room[at]), at + 1


def checked(state, room, at, end):
    """The place behind a state like this one, written from `at` on; -1 if no such state stands before `end`.

    Whatever is in the row, nothing outside of it is read. Whole numbers must be whole, truth values 0 or 1,
    and the buckets of a histogram must exist and add up. What else a state must fulfil, `valid` of its rule
    knows.
    """
    if at < 0:
        return -1
    if isinstance(state, LogHistogram):
        return state.checked(room, at, end)
    if isinstance(state, tuple):
        for item in state:
            at = checked(item, room, at, end)
        return at
    if at + np.size(state) > end:
        return -1
    if isinstance(state, np.ndarray):
        fine = state.dtype.kind == "f" or all(map(is_whole, room[at : at + state.size]))
        return at + state.size if fine else -1
    if isinstance(state, bool):
        return at + 1 if room[at] == 0.0 or room[at] == 1.0 else -1
    return at + 1 if isinstance(state, float) or is_whole(room[at]) else -1


def span(state):
    """How many numbers `stow` writes of an empty state, and how many more a round can add to them."""
    if isinstance(state, LogHistogram):
        return 4, 2
    if isinstance(state, tuple):
        found = [span(item) for item in state]
        return sum(size for size, _ in found), sum(more for _, more in found)
    return np.size(state), 0
