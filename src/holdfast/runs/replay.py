"""What another budget would have skipped, from the sizes that a run wrote down, without learning again."""

import dataclasses
import math
from typing import Any, NamedTuple

import numpy as np
import pyarrow.compute as pc

from holdfast.certificates.certified import Certified
from holdfast.flatten import flat_size, flatten, restore
from holdfast.play import WORTH_COMPILING
from holdfast.play_many import caller
from holdfast.runs.flat_states import FlatStates
from holdfast.runs.folder import RunError
from holdfast.runs.games import in_turn

_SHOWN = 10
_SIZES = ("features", "target", "gradient", "positive")


class Memories(NamedTuple):
    """What the filters of a game remember: of features, of targets or gradients, and of negative labels'."""

    features: Any
    other: Any
    negative: Any


class Sizes(NamedTuple):
    """The sizes of some rounds, and whether their labels are positive."""

    features: np.ndarray
    other: np.ndarray
    positive: np.ndarray


def replayed(run, outliers):
    """How many rounds these filters would skip of those the run has seen, and the first rows that differ.

    The sizes are those the run measured. Had it learned from other rounds, later sizes would differ a little.
    """
    if not run.settings.sizes:
        raise RunError(f"{run.folder.path} did not write down its sizes: learn again without --no-sizes")
    player = dataclasses.replace(run.settings, outliers=outliers).player(run.regression)
    guarded = player.player if isinstance(player, Certified) else player
    by_target = run.books.by_target
    filters = (guarded.features, guarded.target if by_target else guarded.gradient)
    judges = Judges(filters, guarded.labels and not by_target, run.trace.rounds >= WORTH_COMPILING)
    before = Skipped(run.read("audit", ["row"]))
    answer = {"outliers": outliers, "rounds": 0, "skipped": 0, "skipped_in_the_run": 0}
    gone: list[int] = []
    new: list[int] = []
    for table in run.read("sizes"):
        kept, rows = judges.keep(table), table.column("row").to_numpy()
        found, then = np.unique(rows[~kept]), before.upto(int(rows[-1]) if len(rows) else 0)
        answer["rounds"] += len(kept)
        answer["skipped"] += int((~kept).sum())
        answer["skipped_in_the_run"] += len(then)
        gone += np.setdiff1d(then, found)[: _SHOWN - len(gone)].tolist()
        new += np.setdiff1d(found, then)[: _SHOWN - len(new)].tolist()
    return answer | {"no_longer_skipped": gone, "newly_skipped": new}


class Skipped:
    """The rows that a run skipped, part after part."""

    def __init__(self, tables):
        self._tables, self._rows, self._ended = tables, np.zeros(0, np.int64), False

    def upto(self, row):
        """Those up to this one, which are then forgotten."""
        while not self._ended and (not len(self._rows) or self._rows[-1] <= row):
            table = next(self._tables, None)
            if table is None:
                self._ended = True
            else:
                self._rows = np.concatenate([self._rows, table.column("row").to_numpy()])
        end = int(np.searchsorted(self._rows, row, side="right"))
        found, self._rows = self._rows[:end], self._rows[end:]
        return found


class Judges:
    """The filters of every key and label, each with a memory of its own."""

    def __init__(self, filters, apart, compiled):
        self.filters, self.apart, self.compiled = filters, apart, compiled
        memory = self._new()
        size, self._more = flat_size(memory)
        fresh = np.zeros(size)
        flatten(memory, fresh, 0)
        self._tapes, self._games = FlatStates(fresh), {}

    def keep(self, table):
        """Which of these rounds all filters keep."""
        found = {name: table.column(name).to_numpy() for name in _SIZES if name in table.column_names}
        other = found["target"] if "target" in found else found["gradient"]
        sizes = Sizes(found["features"], other, found.get("positive", np.ones(0, bool)))
        slots, order, cuts = in_turn(self._of_each(table))
        call, kept = caller(self.compiled), np.zeros(table.num_rows, bool)
        reading, writing = self._tapes.make_room(slots, self._more * np.diff(cuts), call)
        lengths = np.zeros(len(slots), np.int64)
        places = (order, cuts, reading, writing, lengths)
        call(judge, *self.filters, self.apart, self._new(), sizes, kept, places, self._tapes.tape)
        self._tapes.lengths[slots] = lengths
        return kept

    def _new(self):
        features, other = self.filters
        return Memories(features.init(1), other.init(1), other.init(1))

    def _of_each(self, table):
        """The place of the game of each round."""
        names = [name for name in ("key", "label") if name in table.column_names]
        if not names:
            return np.zeros(table.num_rows, np.int64)
        joined = pc.binary_join_element_wise(*(table.column(name) for name in names), "\0")
        coded = pc.dictionary_encode(joined.combine_chunks())
        found = [self._games.setdefault(name, len(self._games)) for name in coded.dictionary.to_pylist()]
        return np.array(found, np.int64)[coded.indices.to_numpy()]


def judge(features, other, apart, memory, sizes, kept, places, tape):
    """Ask the filters of every game about its rounds, in order."""
    order, cuts, reading, writing, lengths = places
    for game in range(len(lengths)):
        memory, _ = restore(memory, tape, reading[game])
        near, own, negative = memory.features, memory.other, memory.negative
        for i in range(cuts[game], cuts[game + 1]):
            t = order[i]
            size, second = sizes.features[t], sizes.other[t]
            if size < math.inf and second < math.inf:
                near, _, first_keeps = features.decide(near, size)
                if apart and not sizes.positive[t]:
                    negative, _, second_keeps = other.decide(negative, second)
                else:
                    own, _, second_keeps = other.decide(own, second)
                kept[t] = first_keeps and second_keeps
        lengths[game] = flatten(Memories(near, own, negative), tape, writing[game]) - writing[game]
    return 0
