"""Measure each row as the steps of a pipeline see it, and decide whether the model learns from it."""

import math
from typing import Any

from river import base, compose, preprocessing

from holdfast.audit import NOT_READABLE, SkipMonitor
from holdfast.river import batches
from holdfast.river.batches import as_float
from holdfast.river.measures import gradient_size
from holdfast.river.named_units import FAR, FIRST, NamedUnits, Row, TargetRange
from holdfast.river.size_filters import SizeFilters
from holdfast.rounds import Verdict

# The steps that can transform a row with a missing value.
_ALLOW_MISSING = (
    *(preprocessing.StatImputer, preprocessing.PreviousImputer),
    *(compose.Select, compose.Discard, compose.SelectType, compose.FuncTransformer),
)


def has_imputer(model: Any) -> bool:
    """Whether a step of a pipeline replaces missing values."""
    if isinstance(model, compose.Pipeline | compose.TransformerUnion):
        parts = model.steps if isinstance(model, compose.Pipeline) else model.transformers
        return any(has_imputer(part) for part in parts.values())
    return isinstance(model, preprocessing.StatImputer | preprocessing.PreviousImputer)


def last_step(model: Any, x: Any) -> tuple[Any, Any]:
    """The last step of a pipeline, and the features that it gets. No transformer learns from this.

    Raises ValueError if a value is missing and no imputer has replaced it.
    """
    while isinstance(model, compose.Pipeline):
        *transformers, last = model.steps.values()
        for step in transformers:
            if not isinstance(step, base.AnomalyFilter):
                if not isinstance(step, _ALLOW_MISSING):
                    _refuse_missing(x)
                x = step.transform_one(x)
        model = last
    _refuse_missing(x)
    return model, x


def _refuse_missing(x: Any) -> None:
    if not isinstance(x, str) and None in x.values():
        raise ValueError(f"a value is missing, and no imputer replaces it: {x}")


def teach_transformers(model: Any, x: Any) -> None:
    """Let the transformers before the last step learn these features, except those that need y."""
    while isinstance(model, compose.Pipeline):
        *transformers, last = model.steps.values()
        for step in transformers:
            if not isinstance(step, base.AnomalyFilter):
                parts = step.transformers.values() if isinstance(step, compose.TransformerUnion) else [step]
                for part in parts:
                    if not part._supervised:
                        part.learn_one(x)
                x = step.transform_one(x)
        model = last


UNREADABLE = (ArithmeticError, LookupError, TypeError, ValueError)  # what models raise at unusable values
_WRONG = 0.15  # the share of the values of a feature that may be wrong, for its unit: that of `Steady`


class JudgingMixin:
    """The sizes and the units of `Robust`, and its decisions."""

    model: Any
    score: Any
    missing_share: float
    _fills: bool
    _filters: SizeFilters
    _linear: bool
    _monitor: SkipMonitor
    _label: Any
    _target_row: Any

    def _start(self) -> None:
        self._features, self._target = NamedUnits(_WRONG), NamedUnits(_WRONG)
        self._target_range = TargetRange()
        self._rows, self._untrained, self._refused = 0, True, False
        self._far = math.inf  # in units: a row with a cell beyond it would not be learned from

    def _keep(self, x: Any, y: Any, w: float = 1.0) -> bool:
        """Decide whether to learn from this row, and update filters and units with it."""
        if self._filters.restart:
            self.model = self.model.clone()
            self._start()
        try:
            row, sizes = self._measure(x, y, w)
        except UNREADABLE:
            row, sizes = {}, [math.nan] * 3
        verdict = self._filters.decide(self._scores(x, y, sizes), self._label(y))
        readable = verdict.kept or verdict.refused_by >= 0
        if "features" in self._filters.names:
            threshold = verdict.thresholds[self._filters.names.index("features")]
            self._far = threshold if threshold > 0.0 else self._far
        kept = verdict.kept or (readable and self._untrained and self.model.predict_one(x) is None)
        cell = ("", math.nan) if kept else self._cell(x, y, verdict)
        self._monitor.add_one(not self._filters.record(verdict, kept, cell))
        only_gradient = self._filters.refused == ("gradient",)
        if readable:
            self._update_units(row, y, kept, only_gradient)
        if not kept and only_gradient:
            teach_transformers(self.model, x)
        self._untrained = self._untrained and not kept
        return kept

    def _update_units(self, row: Row, y: Any, kept: bool, only_gradient: bool) -> None:
        """Count the values of a row for units: of a run of refused rows only the first.

        The first rows all count, because the first units are medians, which few outliers cannot ruin.
        """
        counts = self._rows < FIRST or not self._refused
        if (kept or only_gradient or counts) and self._features.update(row):
            self._filters.forget("features")
        if kept or counts:
            self._rows += 1
            if self._target.update(self._target_row(y)):
                self._filters.forget("target")
        if kept:
            self._target_range.update(self._target_row(y))
        self._refused = not (kept or only_gradient)

    def unusual_cells(self, x: Any) -> dict[Any, float]:
        """The cells that `predict_one` counts as missing, because they are infinite or too far.

        A row with such a cell would not be learned from; to predict, its other cells count.
        """
        if isinstance(x, str):
            return {}
        return self._features.beyond(x, self._far)

    def _filled(self, x: Any, drop: bool = True) -> Any:
        if not self._fills or isinstance(x, str):
            return x
        return self._features.filled(x, self.missing_share, drop)

    def _filled_frame(self, X: Any) -> Any:
        """The same for all rows of a frame; missing cells without a usual value stay."""
        if not (self._fills and batches.has_missing(X)):
            return X
        return batches.frame_of([self._filled(x, drop=False) for x in batches.rows(X)], X)

    def _usable_frame(self, X: Any) -> Any:
        """The frame to predict, with usual values for missing and wild cells.

        None if rows must be predicted one by one: the model has no batches, or a wild cell no usual value.
        """
        if not batches.learns_batches(self.model):
            return None
        found = [(x, self.unusual_cells(x)) for x in batches.rows(X)]
        if not any(wild for _, wild in found):
            return self._filled_frame(X)
        usable = [self._filled({**x, **dict.fromkeys(wild, math.nan)}, drop=False) for x, wild in found]
        frame = batches.frame_of(usable, X)
        return None if batches.has_missing(frame) else frame

    def _cell(self, x: Any, y: Any, verdict: Verdict) -> tuple[Any, float]:
        """The name and the value of the cell, or the target, for which a row was skipped."""
        reason = self._filters.names[verdict.refused_by] if verdict.refused_by >= 0 else NOT_READABLE
        if reason in ("gradient", "score") or isinstance(x, str):
            return "", math.nan
        name, value = self._features.farthest(x)
        if reason == "target" or (reason == NOT_READABLE and abs(value) < FAR):
            return "target", as_float(y)
        return name, value

    def _measure(self, x: Any, y: Any, w: float) -> tuple[Row, list[float | None]]:
        """The features by name, and the sizes of the row in the order of the filters."""
        step, features, text = None, x, isinstance(x, str)
        if self._linear or text or None in x.values():
            step, features = last_step(self.model, x)
        row, target = features if text else x, self._target_row(y)
        sizes = [self._features.size(row), self._target.size(target) if target else None]
        return row, [*sizes, gradient_size(step, features, y, w) if self._linear else None]

    def _scores(self, x: Any, y: Any, sizes: list[float | None]) -> list[float | None]:
        """The sizes, or the score of the row. If the score function raises, that is an error of the user."""
        if self.score is None:
            return sizes
        finite = all(size is None or abs(size) < math.inf for size in sizes)
        return [float(self.score(self.model, x, y)) if finite else math.nan]
