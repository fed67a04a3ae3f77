"""A binary heap in a plain array, smallest on top.

The standard library's heapq works on lists, which are not the same in Python and in compiled code. Arrays
are.
"""

import numpy as np


def replace_top(heap: np.ndarray, length: int, value: float) -> None:
    """Drop the smallest of heap[:length] and insert `value`."""
    i = 0
    child = 1
    while child < length:
        if child + 1 < length and heap[child + 1] < heap[child]:
            child += 1
        if value <= heap[child]:
            break
        heap[i] = heap[child]
        i = child
        child = 2 * i + 1
    heap[i] = value


def insert(heap: np.ndarray, length: int, value: float) -> None:
    """Add `value` to heap[:length]; heap[length] must exist."""
    i = length
    while i > 0 and value < heap[(i - 1) // 2]:
        heap[i] = heap[(i - 1) // 2]
        i = (i - 1) // 2
    heap[i] = value


def pop(heap: np.ndarray, length: int) -> None:
    """Remove the smallest of heap[:length]."""
    replace_top(heap, length - 1, heap[length - 1])


def replace_top_row(rows: np.ndarray, key: float, second: float, third: float) -> None:
    """`replace_top` for rows of three numbers, ordered by the first."""
    i = 0
    child = 1
    while child < len(rows):
        if child + 1 < len(rows) and rows[child + 1, 0] < rows[child, 0]:
            child += 1
        if key <= rows[child, 0]:
            break
        for column in range(3):
            rows[i, column] = rows[child, column]
        i = child
        child = 2 * i + 1
    rows[i, 0], rows[i, 1], rows[i, 2] = key, second, third


def is_heap(heap: np.ndarray, length: int) -> bool:
    """Whether heap[:length] is one, of numbers that are not negative."""
    for i in range(length):
        if not (heap[i] >= 0.0 and heap[(i - 1) // 2 if i > 0 else 0] <= heap[i]):
            return False
    return True
