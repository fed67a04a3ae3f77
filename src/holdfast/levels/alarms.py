"""Events: glitches, changes and frozen streams, from what was decided about each value."""

import json
import math
from collections.abc import Callable, Sequence
from typing import IO, Any, NamedTuple

from holdfast.norms import HUGE

GLITCH, CHANGE, FROZEN = "glitch", "change", "frozen"


class Event(NamedTuple):
    """Something that happened to a stream.

    A glitch is told when it is over, a change when it is sure, and frozen when it begins and, as the same
    event with an end, when it is over. Rows count from 1, and only those with a finite number.

    Attributes
    ----------
    kind
        "glitch", "change" or "frozen".
    begin, end
        The first row and the last; `end` of a change is the row in which it was sure, that of a frozen stream
        is 0 until it is known.
    value
        The first odd value, or the one that comes again and again.
    low, high
        Where it was expected.
    key
        Of which stream, if there are several.
    """

    kind: str
    begin: int
    end: int
    value: float
    low: float
    high: float
    key: str = ""

    def __str__(self) -> str:
        rows = f"row {self.begin:,}" if self.end == self.begin else f"rows {self.begin:,} to {self.end:,}"
        of = f" of {self.key}" if self.key else ""
        if self.kind == FROZEN:
            since = f"since row {self.begin:,}" if self.end == 0 else f"in {rows}"
            return f"frozen{of} {since}: {self.value:.6g} again and again"
        expected = f"{self.value:.3g} where {self.low:.3g} to {self.high:.3g} was expected"
        if self.kind == CHANGE:
            return f"change{of} since row {self.begin:,}, sure in row {self.end:,}: {expected}"
        return f"glitch{of} in {rows}: {expected}"

    def to_json(self) -> str:
        """One line of JSON; numbers that it cannot hold are null."""
        numbers = {name: value for name, value in self._asdict().items() if name != "key" or value}
        finite = {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in numbers.items()
        }
        return json.dumps(finite | {"words": str(self)}, allow_nan=False)


class Alarms:
    """Makes events of single decisions, each once."""

    def __init__(self, key: str = "") -> None:
        self.key = key
        self._glitch: list[Any] = []  # first row, last odd row, value, low, high
        self._frozen: list[Any] = []  # the same of equal values

    @property
    def is_open(self) -> bool:
        """Whether something has begun and is not over."""
        return bool(self._glitch or self._frozen)

    def add(
        self, row: int, value: float, flags: Sequence[Any], low: float, high: float, same: int
    ) -> list[Event]:
        """The events that a row decides. The flags: kept, changed, frozen, and whether odd values are still
        open; `same` is how often the value came in a row.
        """
        kept, changed, frozen, is_odd = flags
        if not abs(value) < HUGE:  # it is in no row
            return []
        found = self._end_of_frozen(row, frozen)
        if frozen and not self._frozen:
            self._frozen = [row - same + 1, row, value, low, high]
            found.append(self._event(FROZEN, [*self._frozen[:1], 0, *self._frozen[2:]]))
        if frozen:
            self._frozen[1] = row
            return found
        if not kept:
            self._glitch = self._glitch or [row, row, value, low, high]
            self._glitch[1] = row
        if self._glitch and (changed or not is_odd):
            found.append(self._event(CHANGE if changed else GLITCH, self._glitch))
            self._glitch = []
        return found

    def _end_of_frozen(self, row: int, frozen: bool) -> list[Event]:
        if frozen or not self._frozen:
            return []
        ended, self._frozen = self._event(FROZEN, self._frozen), []
        return [ended]

    def _event(self, kind: str, about: list[Any]) -> Event:
        begin, end, value, low, high = about
        return Event(kind, begin, end, value, low, high, self.key)


def json_lines(file: IO[str]) -> Callable[[Event], None]:
    """A function that writes each event to a text file, one line of JSON each."""

    def write(event: Event) -> None:
        file.write(event.to_json() + "\n")
        file.flush()

    return write
