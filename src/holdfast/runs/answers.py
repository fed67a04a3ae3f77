"""What predictions are compared with: intervals, recent results, a baseline, the labels mixed up."""

import math
from typing import ClassVar

import numpy as np

from holdfast.fleet.tensor_file import numbers
from holdfast.intervals.widths import LABELS, NUMBERS, Widths, label_scores

RECENT = 1_000  # kept rounds
_MOST_LABELS = 100  # with more, mistakes are not counted for each pair of labels
_ROWS = 4_096  # that are counted together for the running majority


class Answers:
    """How wide intervals must be, recent results for probabilities, and the error of a simple baseline.

    `widths` follows the forecasts of all rounds, kept or not (`holdfast.intervals.Tracker`).

    `recent` is for probabilities. For two labels it has the scores and 1 where the second label was right;
    for more, the lead of the best score over the next, and 1 where the prediction was right. For numbers it
    is empty. Predictions were made before the round was learned from.

    The baseline predicts the mean of the targets learned from so far, or the most frequent label.

    >>> answers = Answers(labels=0)
    >>> scores, targets = np.array([2.0, 2.5]), np.array([3.0, 5.0])
    >>> answers.add(scores[:, None], scores, targets, np.array([True, True]))
    >>> answers.baseline_error()
    2.5
    """

    TENSORS: ClassVar[dict[str, tuple[str, ...]]] = {  # columns by name
        "recent": ("score", "actual"),
        "confusion": ("actual", "predicted"),
        "targets": (),
        "baseline": ("error", "counted"),
        "widths": (),
    }

    def __init__(self, labels: int) -> None:
        self.labels = labels
        counted = labels if labels <= _MOST_LABELS else 0
        self.recent = np.zeros((0, 2))
        self.confusion = np.zeros((counted, counted))
        self.targets = np.zeros(labels or 2)  # counts of labels; or sum and number of targets
        self.baseline = np.zeros(2)
        self.widths = Widths(LABELS if labels else NUMBERS)

    @np.errstate(all="ignore")
    def add(
        self,
        outcomes: np.ndarray,
        predicted: np.ndarray,
        y: np.ndarray,
        kept: np.ndarray,
        near: np.ndarray | None = None,
    ) -> None:
        """Add rounds: what each game predicted, the prediction, the target, whether it was kept, and whether
        its row was `near` enough: others are not in the counts of intervals.
        """
        self._follow(outcomes, y if near is None else np.where(near, y, math.nan))
        known = kept & np.isfinite(y) & np.isfinite(outcomes).all(axis=1)
        if not known.all():
            outcomes, predicted, y = outcomes[known], predicted[known], y[known]
        if self.labels:
            last, hits = slice(-RECENT, None), y if self.labels == 2 else predicted == y
            new = np.column_stack([scores(outcomes[last]), hits[last]])
            self.recent = np.concatenate([self.recent, new])[last]
        if len(self.confusion):
            pairs = (y * self.labels + predicted).astype(np.int64)
            self.confusion += np.bincount(pairs, minlength=self.confusion.size).reshape(self.confusion.shape)
        errors = self._majority_errors(y) if self.labels else self._mean_errors(y)
        fine = np.isfinite(errors)
        # From left to right, so that the sum does not depend on the batches.
        total = np.cumsum(np.concatenate([self.baseline[:1], np.where(fine, errors, 0.0)]))[-1]
        self.baseline = np.array([total, self.baseline[1] + fine.sum()])

    def _follow(self, outcomes: np.ndarray, y: np.ndarray) -> None:
        """Add the scores of forecasts to the widths of intervals."""
        if not self.labels:
            self.widths.add_forecasts(outcomes[:, 0], y)
            return
        self.widths.add(scores_of_labels(outcomes, y))

    def _mean_errors(self, y: np.ndarray) -> np.ndarray:
        sums = np.cumsum(np.concatenate([self.targets[:1], y]))
        counts = self.targets[1] + np.arange(len(y) + 1)
        self.targets = np.array([sums[-1], counts[-1]])
        return np.abs(y - sums[:-1] / np.maximum(counts[:-1], 1.0))

    def _majority_errors(self, y: np.ndarray) -> np.ndarray:
        errors = np.zeros(len(y))
        for start in range(0, len(y), _ROWS):
            some = y[start : start + _ROWS].astype(int)
            second, most = np.sort(self.targets)[-2:]
            if most - second >= len(some):  # the same label leads in all of these rounds
                errors[start : start + _ROWS] = some != self.targets.argmax()
                self.targets = self.targets + np.bincount(some, minlength=self.labels)
                continue
            before = np.zeros((len(some), self.labels))
            before[np.arange(1, len(some)), some[:-1]] = 1.0
            before = np.cumsum(before, axis=0) + self.targets
            errors[start : start + _ROWS] = before.argmax(axis=1) != some
            self.targets = before[-1]
            self.targets[some[-1]] += 1.0
        return errors

    def baseline_error(self) -> float | None:
        """The mean error of the baseline on the kept rounds; None if there are none."""
        total, counted = map(float, self.baseline)
        return total / counted if counted and math.isfinite(total) else None

    def state(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in self.TENSORS} | {"widths": self.widths.numbers()}

    def load(self, tensors: dict[str, np.ndarray]) -> None:
        """Continue from what `state` returned; raises ValueError if it is not valid."""
        self.widths.load(numbers(tensors["widths"], (None,)))
        for name in set(self.TENSORS) - {"widths"}:
            shape = (None, 2) if name == "recent" else getattr(self, name).shape
            setattr(self, name, numbers(tensors[name], shape))
        if len(self.recent) > RECENT or not np.isfinite(self.recent).all():
            raise ValueError("the recent results are not those of a run")


def scores(outcomes: np.ndarray) -> np.ndarray:
    """The score of one game, or the lead of the best of several over the next."""
    if outcomes.shape[1] == 1:
        return outcomes[:, 0]
    best = np.sort(outcomes, axis=1)
    return best[:, -1] - best[:, -2]


def scores_of_labels(outcomes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The score of the right label of each row for a `Tracker`; NaN if it is not known."""
    right = np.where(np.isfinite(y), y, 0.0).astype(int)
    of_label = label_margins(outcomes)[np.arange(len(y)), right]
    return label_scores(np.where(np.isfinite(y), of_label, math.nan))


def label_margins(outcomes: np.ndarray) -> np.ndarray:
    """A margin for each label: of two labels from the score of the second, else as they are."""
    return outcomes * [-1.0, 1.0] if outcomes.shape[1] == 1 else outcomes
