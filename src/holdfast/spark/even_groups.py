"""Numbers for the groups of a stream that Spark spreads evenly over its tasks."""

import numpy as np

_SEED = 42  # of the hash by which Spark assigns rows to tasks


def even_numbers(groups):
    """For each group the least number whose hash has the group as its remainder, divided by `groups`.

    If the number of tasks divides `groups`, every task has as many groups. With the numbers 0, 1, ... one of
    8 tasks would have 4 of 16 groups, and another none.
    """
    found, first = np.full(groups, -1, np.int32), 0
    while (found < 0).any():
        numbers = np.arange(first, first + 4 * groups, dtype=np.int32)
        seen, places = np.unique(spark_hash(numbers) % groups, return_index=True)
        new = found[seen] < 0
        found[seen[new]] = numbers[places[new]]
        first += len(numbers)
    return found


@np.errstate(over="ignore")
def spark_hash(numbers):
    """Spark's function `hash` for columns of the type int: MurmurHash3, 32 bits."""
    word = np.uint32
    key = _turned(numbers.astype(word) * word(0xCC9E2D51), 15) * word(0x1B873593)
    found = _turned(word(_SEED) ^ key, 13) * word(5) + word(0xE6546B64)
    found ^= word(4)  # bytes of a number
    found = (found ^ (found >> word(16))) * word(0x85EBCA6B)
    found = (found ^ (found >> word(13))) * word(0xC2B2AE35)
    return (found ^ (found >> word(16))).view(np.int32)


def _turned(words, bits):
    return (words << np.uint32(bits)) | (words >> np.uint32(32 - bits))
