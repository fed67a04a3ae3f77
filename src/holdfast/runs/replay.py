"""Which rounds another budget would skip, from the sizes that a run wrote down, without learning again."""

import dataclasses
import math
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast._compiled.compiling import WORTH_COMPILING
from holdfast.adversaries import Replay
from holdfast.certificates.certified import Certified
from holdfast.checks import LabelCheck
from holdfast.flatten import flatten, restore
from holdfast.fleet.grouped_rounds import caller, group_rounds
from holdfast.fleet.states import States
from holdfast.options import TERMINAL, is_auto, read_outliers
from holdfast.play import play
from holdfast.protocols import Filter
from holdfast.rule import rule
from holdfast.runs.config import Settings
from holdfast.runs.files import RunError
from holdfast.runs.run import Run
from holdfast.steady import Steady
from holdfast.steady.player import USUAL

_SHOWN = 10
_SIZES = ("features", "target", "gradient", "positive")


class FilterStates(NamedTuple):
    """The states of the filters of a game.

    `other` is for targets or gradients. If labels have filters of their own, `other` is for positive labels
    and `negative` for negative ones.
    """

    features: Any
    other: Any
    negative: Any


class Sizes(NamedTuple):
    """The sizes of some rounds, and whether their labels are positive."""

    features: np.ndarray
    other: np.ndarray
    positive: np.ndarray


def replayed(run: Run, outliers: str) -> dict[str, Any]:
    """How many rounds of the run these filters would skip, and the first rows where that differs.

    The sizes are those that the run measured. A run with these filters would keep other rounds, so its later
    sizes would differ a little.
    """
    if not run.settings.sizes:
        raise RunError(f"{run.folder.path} did not write down its sizes: learn again without --no-sizes")
    wanted = read_outliers(outliers, TERMINAL, "replay")
    fades = not isinstance(run.player.core(), Steady) and not is_auto(wanted)
    settings = dataclasses.replace(run.settings, outliers=outliers)
    if fades:
        settings = dataclasses.replace(settings, memory="auto", patience="auto")
    player = settings.player(run.regression, run.layout)
    guarded: Any = player.player if isinstance(player, Certified) else player.core()
    by_target, compiled = run.log.by_target, run.trace.rounds >= WORTH_COMPILING
    if isinstance(guarded, Steady):
        keyed: KeyedFilters = SteadyFilters(guarded, run, compiled)
    else:
        checks = dict(zip(guarded.check_names(), guarded.checks, strict=True))
        first, other = checks["features"], checks["target" if by_target else "gradient"]
        keyed = KeyedFilters((first.filter, other.filter), isinstance(other, LabelCheck), compiled)
    parts = [table.column("row").to_numpy() for table in run.read("audit", ["row"])]
    before = np.concatenate([np.zeros(0, np.int64), *parts])  # the rows that the run skipped, in order
    answer: dict[str, Any] = {"outliers": outliers, "rounds": 0, "skipped": 0, "skipped_in_the_run": 0}
    gone: list[int] = []
    new: list[int] = []
    for table in run.read("sizes"):
        kept, rows = keyed.keep(table), table.column("row").to_numpy()
        end = np.searchsorted(before, rows[-1:].max(initial=0), side="right")
        found, then, before = np.unique(rows[~kept]), before[:end], before[end:]
        answer["rounds"] += len(kept)
        answer["skipped"] += int((~kept).sum())
        answer["skipped_in_the_run"] += len(then)
        gone += np.setdiff1d(then, found)[: _SHOWN - len(gone)].tolist()
        new += np.setdiff1d(found, then)[: _SHOWN - len(new)].tolist()
    return answer | {"no_longer_skipped": gone, "newly_skipped": new, "notes": _notes(run.settings)}


def _notes(settings: Settings) -> list[str]:
    notes = [
        "The sizes are those of the run. With this budget it would learn from other rounds, and later sizes "
        "would differ a little."
    ]
    if settings.key is not None and settings.has_prior():
        notes.append(
            "The filters of each key start from nothing. Those of the run start from the thresholds of other "
            "keys, so the run skipped fewer of the first rows of each key."
        )
    if settings.evict is not None:
        notes.append("No key is evicted, so a key that came back does not start again.")
    return notes


class KeyedFilters:
    """The filters of every key and label, each with its own state."""

    in_turn = False  # whether the second filter is asked only about rounds that the first one keeps

    def __init__(self, filters: tuple[Any, Any], by_label: bool, compiled: bool) -> None:
        self.filters, self.by_label, self.compiled = filters, by_label, compiled
        self._states = States(self._first_states(), packed=False)
        self._games: dict[str, int] = {}

    def keep(self, table: pa.Table) -> np.ndarray:
        found = {name: table.column(name).to_numpy() for name in _SIZES if name in table.column_names}
        other = found.get("target", found.get("gradient", np.zeros(table.num_rows)))
        sizes = Sizes(found["features"], other, found.get("positive", np.ones(0, bool)))
        return self._keep(sizes, self._game_of(table))

    def _keep(self, sizes: Sizes, games: np.ndarray) -> np.ndarray:
        """Which of these rounds all filters keep, given the game of each."""
        slots, order, cuts = group_rounds(games)
        call, kept = caller(self.compiled), np.zeros(len(games), bool)
        buffer, places, lengths = self._states.unpack(slots, np.diff(cuts))
        groups, first = (order, cuts, places, lengths), self._first_states()
        how = (self.by_label, self.in_turn)
        call(decide_all, *self.filters, how, first, sizes, kept, groups, buffer)
        self._states.pack(slots, buffer, places, lengths)
        return kept

    def _first_states(self) -> FilterStates:
        features, other = self.filters
        return FilterStates(features.init(1), other.init(1), other.init(1))

    def _game_of(self, table: pa.Table) -> np.ndarray:
        names = [name for name in ("key", "label") if name in table.column_names]
        if not names:
            return np.zeros(table.num_rows, np.int64)
        joined = pc.binary_join_element_wise(*(table.column(name) for name in names), "\0")
        coded = pc.dictionary_encode(joined.combine_chunks())
        found = [self._games.setdefault(name, len(self._games)) for name in coded.dictionary.to_pylist()]
        return np.array(found, np.int64)[coded.indices.to_numpy()]


@rule
class AtLeast:
    """A filter that also keeps all sizes up to `least`."""

    filter: Filter
    least: float

    def init(self, dim: int) -> Any:
        return self.filter.init(dim)

    def decide(self, state: Any, size: float) -> tuple[Any, float, bool]:
        state, threshold, _ = self.filter.decide(state, size)
        threshold = max(threshold, self.least)
        return state, threshold, size <= threshold


class SteadyFilters(KeyedFilters):
    """The filters of `Steady`, of every label.

    It starts from its first rounds once it knows their units, so their sizes say nothing. But without keys
    they are in its state: another `Steady` plays them again, and the filters go on from there. The target of
    a row that the gate has refused was not measured: if another gate keeps it, the target is no surprise.
    """

    in_turn = True

    def __init__(self, player: Steady, run: Run, compiled: bool) -> None:
        filters = AtLeast(player.gate, player.near), AtLeast(player.surprise, USUAL)
        super().__init__(filters, False, compiled)
        self._known: list[np.ndarray] = []  # of each game, which of the first rounds are kept
        if not run.trace.rounds or run.settings.key is not None:  # they are not stored
            return
        labels = run.games.labels if len(run.games.labels) > 1 else [""]
        self._games = {label: place for place, label in enumerate(labels)}
        slots, first = np.arange(len(labels)), [run.games.first_rounds(label) for label in range(len(labels))]
        buffer, places, lengths = self._states.unpack(slots, max(len(y) for _, y in first))
        for label, rounds in enumerate(first):
            record = play(player, Replay(*rounds, run.loss), keep=("kept",), compiled=False)
            state = record.state[0]
            states = FilterStates(state.gate, state.surprise, player.surprise.init(1))
            lengths[label] = flatten(states, buffer, places[label]) - places[label]
            self._known.append(record.column("kept"))
        self._states.pack(slots, buffer, places, lengths)

    def _keep(self, sizes: Sizes, games: np.ndarray) -> np.ndarray:
        kept, left = np.zeros(len(games), bool), np.isfinite(sizes.features)
        for game, first in enumerate(self._known):
            places = np.flatnonzero(left & (games == game))[: len(first)]
            kept[places], left[places] = first[: len(places)], False
            self._known[game] = first[len(places) :]
        rest = Sizes(sizes.features[left], np.nan_to_num(sizes.other[left]), np.ones(0, bool))
        kept[left] = super()._keep(rest, games[left])
        return kept


def decide_all(
    features: Any,
    other: Any,
    how: tuple[bool, bool],
    states: FilterStates,
    sizes: Sizes,
    kept: np.ndarray,
    groups: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    buffer: np.ndarray,
) -> int:
    """Write into `kept` which rounds the filters of each game keep, in order.

    `how`: whether the two labels have filters of their own, and whether the second filter is asked only about
    rounds that the first one keeps.
    """
    order, cuts, places, lengths = groups
    by_label, in_turn = how
    for game in range(len(lengths)):
        states, _ = restore(states, buffer, places[game])
        first, second, negative = states.features, states.other, states.negative
        for i in range(cuts[game], cuts[game + 1]):
            t = order[i]
            size, other_size = sizes.features[t], sizes.other[t]
            if size < math.inf and other_size < math.inf:
                first, _, first_keeps = features.decide(first, size)
                second_keeps = True
                if in_turn and not first_keeps:
                    second_keeps = False
                elif by_label and not sizes.positive[t]:
                    negative, _, second_keeps = other.decide(negative, other_size)
                else:
                    second, _, second_keeps = other.decide(second, other_size)
                kept[t] = first_keeps and second_keeps
        states = FilterStates(first, second, negative)
        lengths[game] = flatten(states, buffer, places[game]) - places[game]
    return 0
