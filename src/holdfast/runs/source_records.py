"""What a checkpoint stores about each source of a run, so that no row is learned twice or left out."""

from typing import NamedTuple

from holdfast.io.typed import typed

_LONGEST_HEAD = 1 << 16  # bytes; no source has a longer fingerprint
_COUNTS = (0, 1 << 53)
_DIGITS = set("0123456789abcdef")


class SourceRecord(NamedTuple):
    """A source, or a part of one, and how far it was learned.

    The numbers of rows go on from one source to the next: `base` plus the number in the source.
    """

    name: str
    begins: dict  # the fingerprint of its first bytes
    base: int = 0
    last: int = 0  # the number in the source of the last row that was learned from or skipped
    mark: dict | None = None  # where the last block begins; None if no row was learned
    done: int = 0  # rows of that block that were learned from or skipped
    ended: bool = False  # whether it was read to its end

    def to_json(self):
        return self._asdict()

    @property
    def last_row(self):
        """The number in the run of its last row."""
        return self.base + self.last


def read_record(found):
    """The record that `to_json` wrote; raises ValueError if it is anything else."""
    record = typed(SourceRecord, found, last=_COUNTS, done=_COUNTS, base=(-_COUNTS[1], _COUNTS[1]))
    if not is_fingerprint(record.begins) or not (record.mark is None or _is_mark(record.mark)):
        raise ValueError("the position in a source is not one that a run writes")
    return record


def names_of(records):
    """The names of all sources, in order."""
    return list(dict.fromkeys(record.name for record in records))


def last_row(records):
    """The number of the last row so far."""
    return max((record.last_row for record in records), default=0)


def _is_count(value):
    return type(value) is int and 0 <= value < 1 << 53


def _is_mark(mark):
    """Whether this is a position in a source: two counts, the fingerprint of the bytes there, a SHA-256."""
    if not isinstance(mark, dict) or set(mark) != {"offset", "row", "begins", "before"}:
        return False
    counts = _is_count(mark["offset"]) and _is_count(mark["row"]) and mark["row"] > 0
    before = mark["before"]
    hashed = isinstance(before, str) and len(before) in (0, 64) and set(before) <= _DIGITS
    return counts and hashed and is_fingerprint(mark["begins"])


def is_fingerprint(found):
    """Whether this is what `holdfast.io.byte_stream.fingerprint` returns."""
    fits = isinstance(found, dict) and set(found) == {"bytes", "crc32"}
    return fits and all(map(_is_count, found.values())) and found["bytes"] <= _LONGEST_HEAD
