"""States of a run at earlier rounds, few of them, so that rows are taken back without learning all again."""

import bisect
import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.earlier_states import keep

if TYPE_CHECKING:
    from holdfast.runs.run import Run

INTERVAL = 8_192  # rounds; to take a state of the default with 10 columns takes about 1 ms
LARGEST = 1 << 23  # bytes; a larger state is not stored


class Node(NamedTuple):
    """A state that is stored: the number of its file, its round, and the last row before it."""

    number: int
    round: int
    row: int


class CheckpointTree:
    """The stored states of a run. They are at multiples of `INTERVAL`, whenever checkpoints are written.

    So they do not depend on time, and a run that was killed and resumed has the same ones.
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []  # in the folder
        self._next = 0  # the number of the next file
        self._waiting: dict[int, tuple[int, Any]] = {}  # by round: the last row, and the state

    def next_round(self, rounds: int) -> int:
        """The next round after which a state is taken."""
        return rounds - rounds % INTERVAL + INTERVAL

    def add(self, run: "Run", state: Any, size: int) -> None:
        """Take the state of a run after this round, if it is not too large. It shares no array with it."""
        last = run.trace.rounds
        if size <= LARGEST:
            self._waiting[last] = (run.sources[-1].last_row, state)
        for round in set(self._waiting) - self._kept(last):
            del self._waiting[round]

    def load(self, nodes: Iterable[Node]) -> None:
        """Continue with these states."""
        self.nodes, self._waiting = list(nodes), {}
        self._next = max(self._next, 1 + max((node.number for node in self.nodes), default=-1))

    def until(self, round: int) -> "CheckpointTree":
        """A tree with the states in the folder up to this round, which goes on with other numbers."""
        found = CheckpointTree()
        found.nodes, found._next = [node for node in self.nodes if node.round <= round], self._next
        return found

    def new(self) -> Iterator[tuple[int, Any]]:
        """The states that are not in the folder yet, each with the number of its file."""
        for round, (row, state) in sorted(self._waiting.items()):
            self.nodes.append(Node(self._next, round, row))
            self._next += 1
            yield self.nodes[-1].number, state
        self._waiting = {}

    def drop(self, rounds: int) -> list[int]:
        """Forget the states that are not needed after so many rounds; return the numbers of their files."""
        kept = self._kept(rounds)
        gone = [node.number for node in self.nodes if node.round not in kept]
        self.nodes = [node for node in self.nodes if node.round in kept]
        return gone

    def before(self, row: int) -> Node | None:
        """The last state that has no row from this one on; None if there is none but the first state."""
        return max((node for node in self.nodes if node.row < row), default=None, key=lambda n: n.round)

    def has(self, round: int) -> bool:
        """Whether there is a state after this round."""
        return round in self._waiting or any(node.round == round for node in self.nodes)

    def _kept(self, rounds: int) -> set[int]:
        """The rounds of the states to keep: the last one up to each multiple that is wanted.

        After a retraction states may be at other rounds than multiples (`holdfast.runs.recorded`).
        """
        there = sorted({*(node.round for node in self.nodes), *self._waiting})
        wanted = (number * INTERVAL for number in keep(rounds // INTERVAL))
        places = (bisect.bisect_right(there, round) - 1 for round in wanted)
        return {there[place] for place in places if place >= 0}


def read_nodes(found: Any) -> list[Node]:
    """The list of states in a header; raises ValueError if it is anything else."""
    fits = isinstance(found, list) and all(
        isinstance(node, list)
        and len(node) == len(Node._fields)
        and all(type(n) is int and 0 <= n < 1 << 53 for n in node)
        for node in found
    )
    nodes = [Node(*node) for node in found] if fits else []
    if not fits or any(a.round >= b.round or a.row > b.row for a, b in itertools.pairwise(nodes)):
        raise ValueError("its earlier states are not those of a run")
    return nodes
