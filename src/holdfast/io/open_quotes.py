"""Where a row with an open quote begins, at the end of a block of lines."""

_MOST_CARRIED = 1 << 16  # bytes of a row with line ends that may be moved to the next block


def open_row(block, is_row=None):
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
