"""Keep the rows that a model has learned, and some earlier states, so that it can forget rows."""

__all__ = ["Forgotten", "Journal"]

import copy
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from holdfast.earlier_states import RECENT, keep
from holdfast.game import Filtered
from holdfast.player import Player
from holdfast.protocols import Loss
from holdfast.rounds import Verdict

_BY_ROW = ("sample_weight", "row_ids")  # options of `partial_fit` with a value for each row
_COUNTS = ("rounds", "kept_count", "unmeasured_count")  # of a player


class Forgotten(NamedTuple):
    """What `Journal.forget` did: how many rows are gone, and how many were learned again."""

    rows: int
    replayed: int


class Call(NamedTuple):
    """Rows that were learned together."""

    ids: np.ndarray  # objects
    X: Any
    y: Any
    options: dict[str, Any]
    verdict: Verdict | None  # of a player

    def without(self, gone: np.ndarray) -> "Call":
        """The other rows, with their weights."""
        left, options = np.flatnonzero(~gone), dict(self.options)
        for name in _BY_ROW:
            if options.get(name) is not None:
                options[name] = _take(options[name], left)
        return Call(self.ids[left], _take(self.X, left), _take(self.y, left), options, None)


class State(NamedTuple):
    """The model after so many calls. `number` counts the states that were ever taken."""

    number: int
    calls: int
    model: Any


class Journal:
    """A model that can forget rows: afterwards it is, bit for bit, one that got the same calls without them.

    It keeps a copy of every row, and copies of the model: the last 3 multiples of every power of two of
    `every` rows. After T rows these are at most 6 + 2 log2(T / (3 every)) copies. To forget a row of age a,
    fewer than 2 a + 2 every rows are learned again, if no call has more than `every` rows.

    Parameters
    ----------
    model
        An estimator with `partial_fit`, such as `holdfast.sklearn.RobustRegressor()`, or a `Player`. It is
        used, not copied: learn through the journal only.
    every
        Rows between two copies of the model.

    Guarantee
    ---------
    Exact, by definition: what is left is learned again. If `Player(Filtered(...))` has skipped all rows that
    it forgets, and no other decision changes, the learner is as it was, and no row is learned again. If a
    player comes to a state that it had before, bit for bit, the rest is as it was (`docs/wrong-rows.md`).

    Examples
    --------
    >>> import holdfast as hf
    >>> journal = Journal(hf.Player(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(k=1)), dim=1))
    >>> for day, x in enumerate([1.0, 1.0, 1.4, 1.0]):
    ...     verdict = journal.learn([x], 1.0, hf.Hinge(), row_id=f"day {day}")
    >>> journal.forget(["day 2"])
    Forgotten(rows=1, replayed=3)
    >>> journal.model.rounds, journal.model.predict().round(3).tolist()
    (3, [1.0])
    """

    def __init__(self, model: Any, every: int = 1_000) -> None:
        if every < 1:
            raise ValueError(f"every counts rows between two copies, at least 1: got {every}")
        self.model, self.every = model, every
        self._calls: list[Call] = []
        self._rows = self._since = 0  # rows so far, also those that were forgotten; and since the last copy
        self._states = [State(0, 0, copy.deepcopy(model))]

    # -- learn

    def partial_fit(
        self, X: Any, y: Any, row_ids: Sequence[Hashable] | None = None, **options: Any
    ) -> "Journal":
        """Let an estimator learn from these rows. `options` go to its `partial_fit`.

        `row_ids` name the rows; several may have the same one, such as that of a user. By default rows are
        numbered from 0 on.
        """
        self.learn_rows(X, y, row_ids, options)
        return self

    def learn_rows(self, X: Any, y: Any, row_ids: Sequence[Hashable] | None, options: dict[str, Any]) -> None:
        """The same, with all options of the estimator's `partial_fit` in one dictionary."""
        X, y, options = copy.deepcopy((X, y, options))  # the caller may use the arrays again
        count = len(y)
        call = Call(self._ids(row_ids, count), _indexable(X), _indexable(y), options, None)
        if len(call.ids) != count:
            raise ValueError(f"row_ids name the rows: expected {count}, got {len(call.ids)}")
        self._add(call)
        self._rows += count

    def learn(self, x: ArrayLike, y: float, loss: Loss, row_id: Hashable = None) -> Verdict:
        """Let a `Player` learn from one row: `Player.learn`."""
        ids = self._ids(None if row_id is None else [row_id], 1)
        verdict = self._add(Call(ids, np.array(x, dtype=float), float(y), {"loss": loss}, None)).verdict
        self._rows += 1
        assert verdict is not None
        return verdict

    def _ids(self, row_ids: Sequence[Hashable] | None, count: int) -> np.ndarray:
        found = range(self._rows, self._rows + count) if row_ids is None else names_of(row_ids)
        ids = np.empty(len(found), object)
        ids[:] = list(found)
        return ids

    def _add(self, call: Call) -> Call:
        """Learn, and take a copy of the model if it is time."""
        if isinstance(self.model, Player):
            call = call._replace(verdict=self.model.learn(call.X, call.y, call.options["loss"]))
        else:
            self.model.partial_fit(call.X, call.y, **call.options)
        self._calls.append(call)
        self._since += len(call.ids)
        if self._since >= self.every:
            self._since, last = 0, self._states[-1].number + 1
            kept = keep(last, RECENT)
            self._states = [state for state in self._states if state.number in kept]
            self._states.append(State(last, len(self._calls), copy.deepcopy(self.model)))
        return call

    # -- forget

    def forget(self, row_ids: Iterable[Hashable]) -> Forgotten:
        """Forget all rows with these names. An unknown name is an error, and nothing is changed; nor is it
        if this is interrupted.
        """
        before = self.model, self._calls, self._states, self._since
        try:
            return self._forget(set(names_of(row_ids)))
        except BaseException:
            self.model, self._calls, self._states, self._since = before
            raise

    def _forget(self, wanted: set[Hashable]) -> Forgotten:
        gone = [np.fromiter((i in wanted for i in call.ids), bool, len(call.ids)) for call in self._calls]
        found = {name for call, out in zip(self._calls, gone, strict=True) for name in call.ids[out]}
        if wanted - found:
            raise KeyError(f"no row has the name {next(iter(wanted - found))!r}: nothing was forgotten")
        touched = [place for place, out in enumerate(gone) if out.any()]
        count = int(sum(out.sum() for out in gone))
        if not touched:
            return Forgotten(0, 0)
        begin = max(place for place, state in enumerate(self._states) if state.calls <= touched[0])
        if self._forget_skipped(begin, set(touched)):
            return Forgotten(count, 0)
        state, later = self._states[begin], self._states[begin + 1 :]
        old, last, self.model = self._calls, self.model, copy.deepcopy(state.model)
        self._states, self._calls = self._states[: begin + 1], old[: state.calls]
        self._since, replayed = 0, 0
        for place in range(state.calls, len(old)):
            if not gone[place].all():
                call = old[place].without(gone[place]) if gone[place].any() else old[place]
                if not self._calls and "classes" in old[0].options:  # the first call has them
                    call = call._replace(options=call.options | {"classes": old[0].options["classes"]})
                self._add(call)
                replayed += len(call.ids)
            same = [s for s in later if s.calls == place + 1 > touched[-1] and _meet(self.model, s.model)]
            if same:
                self._keep_rest(same[0], [s for s in later if s.calls > place + 1], last, old[place + 1 :])
                break
        return Forgotten(count, replayed)

    def _keep_rest(self, met: State, later: list[State], last: Player, calls: list[Call]) -> None:
        """Keep what came after a state that is the same again, with other counts of rounds."""
        fewer = met.calls - len(self._calls)
        counts = {name: getattr(self.model, name) - getattr(met.model, name) for name in _COUNTS}
        self._states = [state for state in self._states if state.calls < len(self._calls)]
        for state in (met, *later):
            model = _with_counts(copy.deepcopy(state.model), counts)
            self._states.append(State(state.number, state.calls - fewer, model))
        self._calls, self.model = self._calls + calls, _with_counts(last, counts)
        self._since = len(self._calls) - self._states[-1].calls

    def _forget_skipped(self, begin: int, gone: set[int]) -> bool:
        """Forget rounds that a filter has skipped, if no decision changes: let the filter alone decide again.

        The learner did not see these rounds, and as long as no decision differs it is the same learner, and
        sizes are the same. Returns whether that was so to the end; if not, nothing is changed.
        """
        player = self.model
        if not (isinstance(player, Player) and isinstance(player.rule, Filtered)):
            return False
        verdicts = [call.verdict for call in self._calls]
        if not all((v := verdicts[place]) is not None and not v.kept for place in gone):
            return False
        filter: Any = player.rule.filter
        states, calls = self._states[: begin + 1], []
        memory = copy.deepcopy(states[-1].model.state.memory)
        later, first = {state.calls: state for state in self._states[begin + 1 :]}, states[-1].calls
        unmeasured, left = states[-1].model.unmeasured_count, first
        for place in range(first, len(self._calls)):
            verdict = verdicts[place]
            assert verdict is not None
            measured = verdict.kept or verdict.refused_by >= 0
            if place not in gone:
                restart = filter.restarts(memory)
                if measured:
                    memory, threshold, kept = filter.decide(memory, verdict.sizes[0])
                    if kept != verdict.kept or restart or filter.restarts(memory):
                        return False
                    verdict = verdict._replace(thresholds=(threshold,))
                calls.append(self._calls[place]._replace(verdict=verdict))
                unmeasured += not measured
                left += 1
            if (state := later.get(place + 1)) is not None:
                model = _with_memory(state.model, memory, left, unmeasured)
                states.append(State(state.number, left, model))
        self._states = states
        self._calls = self._calls[:first] + calls
        self.model = _with_memory(player, memory, left, unmeasured)
        return True


def names_of(row_ids: Iterable[Hashable]) -> list[Hashable]:
    """The names as a list; a text alone is not taken for a list of letters."""
    if isinstance(row_ids, str | bytes) or not isinstance(row_ids, Iterable):
        raise TypeError(f"row_ids is a list of names: got {row_ids!r}")
    return list(row_ids)


def _with_memory(player: Player, memory: Any, rounds: int, unmeasured: int) -> Player:
    """A copy of a player whose filter has this memory."""
    found = copy.deepcopy(player)
    found._state = found.state._replace(memory=copy.deepcopy(memory))
    found.rounds, found.unmeasured_count = rounds, unmeasured
    return found


def _indexable(rows: Any) -> Any:
    """Lists as arrays; anything else as it is."""
    return np.asarray(rows) if isinstance(rows, list | tuple) else rows


def _take(table: Any, rows: np.ndarray) -> Any:
    """These rows of a data frame, of a sparse matrix, of an array, or of a list of names."""
    if isinstance(table, list):
        return [table[row] for row in rows]
    return getattr(table, "iloc", _indexable(table))[rows]


def _meet(one: Any, other: Any) -> bool:
    """Whether two players have the same state, bit for bit. Of estimators it is not known."""
    players = isinstance(one, Player) and isinstance(other, Player)
    return players and _same(one.state, other.state)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, tuple):
        return all(map(_same, one, other))
    return np.asarray(one).tobytes() == np.asarray(other).tobytes()


def _with_counts(player: Player, more: dict[str, int]) -> Player:
    for name, number in more.items():
        setattr(player, name, getattr(player, name) + number)
    return player
