"""Events: glitches, changes and frozen streams, from what was decided about each value."""

import json
import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, NamedTuple

from holdfast.norms import HUGE

GLITCH, CHANGE, FROZEN = "glitch", "change", "frozen"


class Event(NamedTuple):
    """Something that happened to a stream.

    A glitch is told when it is over, a change when it is sure, and frozen when it begins and, as the same
    event with an end, when it is over. Rows count from 1, and of a `Level` only those with a finite number.

    Attributes:
        kind: "glitch", "change" or "frozen".
        begin, end: The first row and the last; `end` of a change is the row in which it was sure, that of a
            frozen stream is 0 until it is known.
        value: The first odd value, or the one that comes again and again. Of a filter, it is the size of the
            row.
        low, high: Where it was expected; of a filter, 0 and the threshold.
        key: Of which stream, if there are several: a key, or the column that was odd.
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

    def as_dict(self) -> dict[str, Any]:
        """The fields and the sentence, for JSON: numbers that it cannot hold are None."""
        fields = {name: value for name, value in self._asdict().items() if name != "key" or value}
        finite = {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in fields.items()
        }
        return finite | {"words": str(self)}

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(self.as_dict(), allow_nan=False)


class Alarms:
    """Makes events of single decisions, each once."""

    def __init__(self, key: str = "", stored: Sequence[Sequence[Any]] = ((), ())) -> None:
        self.key = key
        glitch, frozen = stored
        self._glitch = _read(glitch)  # first row, last odd row, value, low, high
        self._frozen = _read(frozen)  # the same of equal values

    @property
    def is_open(self) -> bool:
        """Whether something has begun and is not over."""
        return bool(self._glitch or self._frozen)

    def add(
        self, row: int, value: float, flags: Sequence[Any], low: float, high: float, since: int
    ) -> list[Event]:
        """The events that a row decides. The flags: kept, changed, frozen, and whether odd values are still
        open; `since` is the first row of those with the same value up to this one.
        """
        kept, changed, frozen, is_odd = flags
        if not abs(value) < HUGE:  # it is in no row
            return []
        found = self._end_of_frozen(row, frozen)
        if frozen and not self._frozen:
            self._frozen = [since, row, value, low, high]
            if self._glitch and self._glitch[0] >= since:
                self._glitch = []  # these rows are the begin of the frozen ones
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

    def stored(self) -> list[list[Any]]:
        """What is open, as JSON can hold it."""
        return [[*each[:2], *map(float.hex, each[2:])] for each in (self._glitch, self._frozen)]

    def _end_of_frozen(self, row: int, frozen: bool) -> list[Event]:
        if frozen or not self._frozen:
            return []
        ended, self._frozen = self._event(FROZEN, self._frozen), []
        return [ended]

    def _event(self, kind: str, about: list[Any]) -> Event:
        begin, end, value, low, high = about
        return Event(kind, begin, end, value, low, high, self.key)


def _read(stored: Sequence[Any]) -> list[Any]:
    """One list of `Alarms.stored`; raises ValueError or TypeError if it is anything else."""
    if len(stored) not in (0, 5):
        raise ValueError("what is open has a first row, a last row and three numbers")
    return [*map(int, stored[:2]), *map(float.fromhex, stored[2:])]


class Events:
    """Collects events for a loop: `on_event=Events()`, then iterate over it, again and again.

    Each event comes once. If nobody asks, the oldest are dropped.

    Parameters:
        most: So many events may wait.

    >>> events = Events()
    >>> events(Event("glitch", 7, 7, 99.0, 18.0, 22.0))
    >>> [event.kind for event in events], list(events)
    (['glitch'], [])
    """

    def __init__(self, most: int = 100_000) -> None:
        self._waiting: deque[Event] = deque(maxlen=most)

    def __call__(self, event: Event) -> None:
        """Add an event."""
        self._waiting.append(event)

    def __iter__(self) -> Iterator[Event]:
        """The events since the last loop."""
        while self._waiting:
            yield self._waiting.popleft()

    def __len__(self) -> int:
        return len(self._waiting)

    def __bool__(self) -> bool:
        return True

    def __deepcopy__(self, memo: Any) -> "Events":
        """The same object: a copy of a model tells its events in the same place."""
        return self


def json_lines(file: IO[str]) -> Callable[[Event], None]:
    """A function that writes each event to a text file, one line of JSON each."""

    def write(event: Event) -> None:
        file.write(event.to_json() + "\n")
        file.flush()

    return write
