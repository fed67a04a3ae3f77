"""One game, or one for each label, or for each key: what is learned in a run."""

import numpy as np

from holdfast.adversaries import Replay
from holdfast.certificates import ledger_certificate
from holdfast.game import Tally
from holdfast.record import Record
from holdfast.runs.tensors import flattened, restored
from holdfast.stream import play
from holdfast.vectors import Affine, entries

KEEP = ("sizes", "thresholds", "kept", "guard", "predictions")
_AWAKE = 32  # games that stay in memory as they are; others wait as what is not 0 of them
_COUNTS = ("rounds", "kept", "unmeasured")


class Games:
    """The games of a run, by key and label.

    All have the same player. A game that waits takes kilobytes instead of the megabytes of its histograms.
    """

    def __init__(self, player, dim, loss, labels):
        self.player, self.dim, self.loss, self.labels = player, dim, loss, labels
        self.scaled = isinstance(player.learned(player.init(2)), Affine)
        self._awake: dict[tuple, Record] = {}
        self._asleep: dict[tuple, dict] = {}
        self.keys: dict[str, int] = {}  # in the order in which they came

    def play(self, key, place, X, y, compiled):
        """Rounds of the game of a key and of the label at this place."""
        name = (self.keys.setdefault(key, len(self.keys)), place)
        after = self._woken(name)
        record = play(self.player, Replay(X, y, self.loss), keep=KEEP, after=after, compiled=compiled)
        self._awake[name] = self._game(record.state[0], record.state[2])
        while len(self._awake) > max(_AWAKE, len(self.labels)):
            oldest = next(iter(self._awake))
            self._asleep[oldest] = self._packed(self._awake.pop(oldest))
        return record

    def names(self):
        """All games: the place of the key and that of the label."""
        return [(key, place) for key in range(len(self.keys)) for place in range(len(self.labels))]

    def game(self, name):
        """A game as it stands."""
        return self._awake.get(name) or self._unpacked(self._asleep[name])

    def counts(self, name):
        """How many rounds it had, and how many it learned from."""
        if name in self._awake:
            return self._awake[name].rounds, self._awake[name].kept_count
        return tuple(int(self._asleep[name][f"tally.{count}"]) for count in _COUNTS[:2])

    def weights(self, name):
        """The weights of the features as they are."""
        return entries(self.player.learned(self.game(name).state[0]))[: self.dim]

    def certificate(self, name, k):
        game = self.game(name)
        return ledger_certificate(game.state[0], self.player, k, game.unmeasured_count)

    def parameters(self, name):
        """What predicts, by name: the model as `docs/run-folder.md` has it."""
        w = self.player.learned(self.game(name).state[0])
        if isinstance(w, Affine):
            v = entries(w.v)
            # z = -inf and inf give the ends; without a scale of the target there are none.
            bounded = w.y_low <= w.y_high
            low, high = (w.y_low - w.y_spread, w.y_high + w.y_spread) if bounded else (-np.inf, np.inf)
            figures = {"center": w.center, "factors": w.factors, "clip": w.clip}
            figures |= {"y_center": w.y_center, "y_spread": w.y_spread}
        else:
            v, low, high = entries(w), -np.inf, np.inf
            figures = {"center": np.zeros(self.dim), "factors": np.ones(self.dim), "clip": np.inf}
            figures |= {"y_center": 0.0, "y_spread": 1.0}
        figures |= {"weights": v[: self.dim], "constant": v[self.dim], "low": low, "high": high}
        return {name: np.array(value, np.float64) for name, value in figures.items()}

    def state(self):
        """All games as arrays by name."""
        tensors = {}
        for key, place in self.names():
            name = (key, place)
            packed = self._asleep[name] if name in self._asleep else self._packed(self._awake[name])
            tensors |= {f"games.{key}.{place}.{path}": array for path, array in packed.items()}
        return tensors

    def load(self, keys, tensors):
        """Go on from what `state` gave."""
        self.keys = {key: i for i, key in enumerate(keys)}
        found: dict[tuple, dict] = {name: {} for name in self.names()}
        for path, array in tensors.items():
            key, place, rest = path.removeprefix("games.").split(".", 2)
            found[int(key), int(place)][rest] = array
        self._asleep = found

    def _woken(self, name):
        if name in self._awake:
            return self._awake.pop(name)  # to be put back as the youngest
        packed = self._asleep.pop(name, None)
        return None if packed is None else self._unpacked(packed)

    def _game(self, state, tally):
        """A record of no rounds, to go on from."""
        nothing = dict.fromkeys(Record.__dataclass_fields__)
        counts = {"rounds": tally.rounds, "kept_count": tally.kept, "unmeasured_count": tally.unmeasured}
        final = np.array(entries(self.player.learned(state)))
        return Record(
            **nothing | counts | {"player": self.player, "final": final, "state": (state, 0, tally, 0)}
        )

    def _packed(self, game):
        tally = {f"tally.{name}": np.array(getattr(game.state[2], name)) for name in _COUNTS}
        return tally | flattened(game.state[0], "state")

    def _unpacked(self, packed):
        template = self.player.init(self._width())
        tally = Tally(*(int(packed[f"tally.{name}"]) for name in _COUNTS), np.zeros(0))
        return self._game(restored(template, packed, "state"), tally)

    def _width(self):
        """Of a row as the player gets it: `Scaled` adds the constant by itself."""
        return self.dim + (0 if self.scaled else 1)
