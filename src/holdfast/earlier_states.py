"""Which earlier states to keep: few, and so that little is learned again when a round is taken back."""

RECENT = 3  # with r, less than 1 + 2 / (r - 1) times the age of a round is replayed: twice, with 3


def keep(last: int, recent: int = RECENT) -> set[int]:
    """0, and the last `recent` multiples of every power of two up to `last`.

    A number that is in `keep(T + 1)` is in `keep(T)` or is T + 1, so nothing is needed that was dropped.
    With r = `recent` there are at most r + ceil(r / 2) (1 + log2(T / r)) + 1 of them. For a round t of age
    a = T - t + 1 there is one before t that is less than a (1 + 2 / (r - 1)) rounds old.

    >>> sorted(keep(100))
    [0, 32, 64, 80, 88, 92, 96, 98, 99, 100]
    """
    kept, power = {0}, 1
    while power <= last:
        newest = last - last % power
        kept.update(range(newest, max(newest - recent * power, 0), -power))
        power *= 2
    return kept
