"""RobustClassifier: predict labels."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from river import base

from holdfast.intervals.widths import label_scores, with_near_rows
from holdfast.levels import Event
from holdfast.linear_model import MOST_PAIRED, class_margins, log_probabilities, models_for
from holdfast.losses import Logistic
from holdfast.options import Outliers
from holdfast.river import batches
from holdfast.river.batches import is_missing
from holdfast.river.estimator import NOT_YET, UNREADABLE, RobustEstimator
from holdfast.river.named_units import Row
from holdfast.steady import Logits


class RobustClassifier(RobustEstimator, base.MiniBatchClassifier):
    """Logistic regression for streams in which some rows are arbitrarily wrong.

    As `RobustRegressor`. With more than two labels there is a model for each pair of them, and with more than
    20 a model for each label against the rest, as in the estimator for scikit-learn. A label that comes late
    gets its models then; the 21st label starts all of them again.

    Parameters:
        outliers: "auto", a share such as 0.05 or "5%", a count, or a filter: how many rows may be wrong.
            "auto" tolerates 15 % of wrong rows, and some 5 % of wrong labels. 0 keeps every row that is
            finite.
        learner: `holdfast.steady.Logits` with other memories, or None for the default.
        memory, patience, delay, missing_share, audit_size, on_event: As in `RobustRegressor`.
        classes: The labels, if they are known. False and True need not be given.

    Guarantee: that of `holdfast.steady.Steady`, for each model.

    >>> from river import datasets, evaluate, metrics
    >>> from holdfast.river import RobustClassifier
    >>> evaluate.progressive_val_score(datasets.Phishing(), RobustClassifier(), metrics.Accuracy())
    Accuracy: 89...%
    """

    _LEARNER, _LINEAR = Logits, "LinearClassifier"

    def __init__(
        self,
        outliers: Outliers = "auto",
        learner: Logits | str | None = None,
        memory: str | float = "auto",
        patience: str | float = "auto",
        delay: int = 1,
        missing_share: float = 0.5,
        audit_size: int = 1000,
        on_event: Callable[[Event], Any] | None = None,
        classes: Iterable[Any] | None = None,
    ) -> None:
        self._start(locals(), Logistic())
        self._labels: dict[Any, int] = {}  # their numbers, in order
        self._models: list[Any] = []  # of two classes
        if classes is not None:
            self._add_labels(classes)

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: Row, y: Any) -> None:
        """Learn from a row, unless it is an outlier."""
        row = self._row(x)
        if is_missing(y) or len(row) == 0:
            return self._add_unplayed(UNREADABLE, "target" if is_missing(y) else "")
        if y not in self._labels:
            self._add_labels([False, True] if isinstance(y, bool | np.bool_) else [y])
        if not self._models:
            return self._add_unplayed(NOT_YET)  # there is only one label yet
        while len(self._games) < len(self._models):
            self._games.append(self._new_game())
        signs = [model.sign_of(self._labels[y]) for model in self._models]
        games = [game for game, sign in zip(self._games, signs, strict=True) if sign]
        targets = [sign for sign in signs if sign]
        judged = [self._is_judged(game) for game in games]
        outcomes = self._play(games, row, targets)
        self._record(row, 0.0, outcomes)  # a label can always be read
        if all(judged):
            checks = self._player.check_names()
            rest = not self._models[0].is_pair()  # then only the model of the right label counts
            lost = [
                -sign * float(with_near_rows(outcome.predictions, outcome.refused_by, checks)[0])
                for sign, outcome in zip(targets, outcomes, strict=True)
                if sign > 0.0 or not rest
            ]
            with np.errstate(invalid="ignore"):  # a row with a cell that is too far has no score: NaN
                self._widths.add(label_scores(-np.logaddexp.reduce(np.array(lost))[None]))
        for is_judged, sign, outcome in zip(judged, targets, outcomes, strict=True):
            if is_judged and outcome.kept[0]:
                self._judged += 1
                self._missed += not sign * float(outcome.predictions[0]) > 0.0

    def predict_proba_one(self, x: Row) -> dict[Any, float]:
        """The probability of each label."""
        if len(self._games) == 0:
            return dict.fromkeys(self._labels, 1.0 / max(len(self._labels), 1))
        row = self._columns.row(x)
        margins = np.array([[game.predict(row) for game in self._games]])
        margins = margins[:, 0] if len(self._labels) == 2 else class_margins(margins, self._models)
        return dict(zip(self._labels, np.exp(log_probabilities(margins)[0]).tolist(), strict=True))

    def predict_set_one(self, x: Row, coverage: float = 0.9) -> set[Any]:
        """The labels that may be right: the predicted one, and all whose margin is large enough.

        How large has followed the margins of the right labels, as they were asked
        (`holdfast.intervals.Tracker`). It has all labels before 32 forecasts, and if a cell is wild, or
        missing where fewer than 1 % were. `coverage` is from 0.5 to 0.99.
        """
        width = self._widths.at(coverage)
        if len(self._games) == 0 or not width < math.inf:
            return set(self._labels)
        row = self._columns.row(x)
        if self._has_no_width(row):
            return set(self._labels)
        margins = np.array([[game.predict(row) for game in self._games]])
        two = len(self._labels) == 2
        margins = margins * [-1.0, 1.0] if two else class_margins(margins, self._models)
        least = min(-math.log(width), float(margins.max()))
        return {label for label, margin in zip(self._labels, margins[0], strict=True) if margin >= least}

    def predict_proba_many(self, X: Any) -> Any:
        """`predict_proba_one` for each row."""
        return batches.frame([self.predict_proba_one(x) for x in batches.rows(X)], X)

    def _add_labels(self, labels: Iterable[Any]) -> None:
        """More labels, and their models: only the 21st changes those that there are."""
        few = len(self._labels) <= MOST_PAIRED
        for label in labels:
            self._labels.setdefault(label, len(self._labels))
        if few and len(self._labels) > MOST_PAIRED:
            self._games = []
        self._models = models_for(len(self._labels)) if len(self._labels) > 1 else []
