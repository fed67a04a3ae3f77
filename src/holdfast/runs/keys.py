"""How each key fares, and a summary over all of them."""

import numpy as np
import pyarrow as pa

from holdfast.runs.trace import numbers

COLUMNS = ("rounds", "kept", "errors", "counted")  # errors are a sum, counted says of how many
_WORST = 5  # keys that are named
_QUARTERS = ("least", "lower_quartile", "median", "upper_quartile", "most")


class KeySums:
    """Of each key, in the order in which they came: rounds, those kept, and the errors of these."""

    def __init__(self):
        self.sums = np.zeros((0, len(COLUMNS)))

    def add(self, count, keys, errors, kept):
        """Rounds of keys, which are given by their places among `count`."""
        self.sums = np.concatenate([self.sums, np.zeros((count - len(self.sums), len(COLUMNS)))])
        counted = np.isfinite(errors) & kept
        # One after the other, so that the sums do not depend on the batches.
        for place, figures in enumerate((1.0, kept, np.where(counted, errors, 0.0), counted)):
            np.add.at(self.sums[:, place], keys, figures)

    def load(self, sums, count):
        """Go on from these sums of `count` keys; raises ValueError if they cannot be such."""
        rounds, kept, _, counted = numbers(sums, (count, len(COLUMNS))).T
        if not ((counted >= 0) & (counted <= kept) & (kept <= rounds) & (rounds < 1 << 53)).all():
            raise ValueError("the sums of keys are not counts of their rounds")
        self.sums = sums

    def table(self, names):
        """A row a key; the error is null where nothing was learned."""
        rounds, kept, errors, counted = self.sums.T
        with np.errstate(all="ignore"):
            mean = pa.array(errors / counted, mask=counted == 0)
        counts = {"rounds": rounds.astype(np.int64), "kept": kept.astype(np.int64)}
        return pa.table({"key": pa.array(names, pa.string())} | counts | {"error": mean})

    def summary(self, names):
        """How many keys there are, how rounds, skipped rounds and errors are spread over them, the worst."""
        rounds, kept, errors, counted = self.sums.T
        skipped, known = 1.0 - kept / np.maximum(rounds, 1.0), counted > 0
        mean = np.where(known, errors / np.maximum(counted, 1.0), -1.0)
        table = self.table(names)
        worst = {
            name: table.take(np.argsort(-by, kind="stable")[:_WORST]).to_pylist()
            for name, by in (("most_skipped", skipped), ("largest_error", mean))
        }
        spreads = {"rounds": rounds, "skipped_share": skipped, "error": mean[known]}
        return {"count": len(rounds)} | {name: _spread(each) for name, each in spreads.items()} | worst


def _spread(values):
    if not len(values):
        return None
    return dict(zip(_QUARTERS, np.quantile(values, [0.0, 0.25, 0.5, 0.75, 1.0]).tolist(), strict=True))
