"""Quotes in a text of several lines: where a row that has line ends inside quotes begins and ends."""

from collections.abc import Callable, Sequence

import numpy as np

_LONGEST_ROW = 100  # lines
_MOST_CARRIED = 1 << 16  # bytes of a row with line ends that may be moved to the next block


def open_row(block: bytes, is_row: Callable[[bytes], bool] | None = None) -> int:
    """The length of the last lines if a quote is open in them; 0 if none is, or if it begins too far back.

    If `is_row` is given and is true of every line after the first of them, these are rows, and the quote is a
    stray one: then it is 0, too. So one wrong character does not hold back the rows after it.
    """
    tail = 0
    if b'"' not in block:
        return tail
    while block.count(b'"', 0, len(block) - tail) % 2:
        last = block.rfind(b'"', 0, len(block) - tail)
        tail = len(block) - block.rfind(b"\n", 0, last) - 1
        if tail > _MOST_CARRIED:
            return 0
    if tail and is_row is not None:
        lines = block[-tail:].splitlines()[1:]
        return 0 if lines and all(map(is_row, lines)) else tail
    return tail


def outside_quotes(lines: Sequence[bytes], start: int, stop: int) -> int:
    """The first line from `stop` on that begins outside of quotes; `stop` if none of the next 100 does."""
    open_quote = sum(line.count(b'"') for line in lines[start:stop]) % 2
    for place in range(stop, min(stop + _LONGEST_ROW, len(lines))):
        if not open_quote:
            return place
        open_quote = (open_quote + lines[place].count(b'"')) % 2
    return min(stop + _LONGEST_ROW, len(lines)) if not open_quote else min(stop, len(lines))


def first_lines(data: bytes) -> np.ndarray:
    """The first line of each row, from 0. A line end inside quotes does not end a row."""
    found = np.frombuffer(data, np.uint8)
    ends, quotes = np.flatnonzero(found == ord("\n")), np.flatnonzero(found == ord('"'))
    closed = np.flatnonzero(np.searchsorted(quotes, ends) % 2 == 0)
    starts = np.concatenate([[0], closed + 1])
    return starts[:-1] if data.endswith(b"\n") else starts
