"""What happens to keys from time to time: old ones are removed, and new ones get a better start.

It happens after rounds of fixed numbers. So it does not depend on blocks or checkpoints, and a run that was
killed and resumed has the same bits.
"""

from collections.abc import Callable, Sequence

import numpy as np

from holdfast.fleet.games import Games, Refuse, Rows
from holdfast.fleet.grouped_rounds import group_rounds

_FIRST, _EVERY = 128, 16_384  # rounds
POOLED = 100  # rounds in a pool
ROWS_OF_KEY = 10  # of its first rows; so the rows of a pool belong to at least 10 keys


def next_upkeep(rounds: int) -> int:
    """The next round after which something happens: 128, 256, ..., 16,384, then every 16,384 rounds."""
    if rounds >= _EVERY:
        return rounds - rounds % _EVERY + _EVERY
    due = _FIRST
    while due <= rounds:
        due *= 2
    return due


def is_sweep(rounds: int, age: int) -> bool:
    """Whether keys are evicted after this round: at the first upkeep after every quarter of the age."""
    before = rounds - _EVERY if rounds > _EVERY else rounds // 2
    quarter = max(age // 4, 1)
    return rounds // quarter > before // quarter


class Upkeep:
    """Eviction, and the first state of new keys: what a player has learned from rows of several other keys.

    A player that starts from nothing, like a key, learns from the first 10 rows of each new key, all keys
    together, until it has played 100 rounds. At the next upkeep its state becomes the first state of all new
    keys, and another player starts. So a new key has scales, thresholds and weights; and as these come from
    100 rounds only, its own rows soon count more. It follows changes as long as there are new keys.

    Guarantee: none. A key that is very different from the others learns more slowly than from nothing.
    """

    def __init__(self, games: Games, new_games: Callable[[], Games], prior: bool, evict: int | None) -> None:
        """`new_games` makes games without any key. `prior`: new keys begin with what others have learned.
        `evict`: after how many rounds without a row a key is removed; None for never.
        """
        self.games, self.has_prior, self.evict, self._new = games, prior, evict, new_games
        self.pool, self.ready = new_games(), new_games()

    def play(
        self, keys: np.ndarray, sums: np.ndarray, targets: Sequence[np.ndarray], rows: Rows, compiled: bool
    ) -> None:
        """Let the pool learn from its share of these rounds, with a target for each label."""
        if not self.has_prior:
            return
        self.check()
        chosen = self.choose(keys, sums[:, 0])
        for label, y in enumerate(targets if len(chosen) else ()):
            pool = np.full(len(chosen), self.pool.indices([""])[0])
            self.pool.play(pool, label, rows.take(chosen), y[chosen], compiled)

    def choose(self, keys: np.ndarray, rounds_before: np.ndarray) -> np.ndarray:
        """The indices of the next rounds of the pool, of rounds with these keys.

        `rounds_before` has the number of earlier rounds of each key.
        """
        left = POOLED - self._played()
        if left <= 0:
            return np.zeros(0, np.int64)
        _, order, cuts = group_rounds(keys)
        rank = np.empty(len(keys), np.int64)
        rank[order] = np.arange(len(keys)) - np.repeat(cuts[:-1], np.diff(cuts))
        return np.flatnonzero(rank + rounds_before[keys] < ROWS_OF_KEY)[:left]

    def after_round(self, rounds: int) -> np.ndarray:
        """Do what is due after this round; return the indices of the keys that are left."""
        if self._played() >= POOLED:
            self.ready, self.pool = self.pool, self._new()
            self._begin_from_ready()
        last = self.games.table.last
        if self.evict is None or not is_sweep(rounds, self.evict):
            return np.arange(len(last))
        left = np.flatnonzero(last > rounds - self.evict)
        if len(left) < len(last):
            self.games.take(left)
        return left

    def ready_prior(self) -> Games | None:
        """The games from which new keys start; None if there are none yet."""
        return self.ready if self.ready.keys else None

    def tensors(self) -> dict[str, np.ndarray]:
        """Arrays by name."""
        games = {"pool": self.pool, "ready": self.ready}
        return {f"prior.{name}.{key}": a for name, g in games.items() for key, a in g.state().items()}

    def load(self, tensors: dict[str, np.ndarray], refuse: Refuse) -> None:
        """Continue from these tensors, without the word "prior."; raises ValueError if they do not fit."""
        for name, games in (("pool", self.pool), ("ready", self.ready)):
            found = {key: tensors[f"{name}.{key}"] for key in ("tape", "lengths", "counts")}
            games.load([""] if len(found["lengths"]) else [], found, refuse)
        if self._played() > POOLED:
            raise ValueError("the shared prior has too many rounds")
        self._begin_from_ready()

    def check(self) -> None:
        """Raise if a state that was read from a file is not valid."""
        self.pool.check()
        self.ready.check()

    def _begin_from_ready(self) -> None:
        if self.ready.keys:
            self.games.set_first_states(self.ready.priors())

    def _played(self) -> int:
        return int(self.pool.counts[0, 0]) if len(self.pool.counts) else 0
