"""Measure each row, decide whether the model learns from it, and follow lasting changes of the stream."""

import math

from holdfast.audit import NOT_FINITE
from holdfast.river import batches
from holdfast.river.cells import as_float
from holdfast.river.change import ChangeDetector
from holdfast.river.gradients import gradient_size
from holdfast.river.pipelines import last_step, teach_transformers
from holdfast.river.running_scale import FAR, FIRST, RunningScale, TargetRange

UNREADABLE = (ArithmeticError, LookupError, TypeError, ValueError)  # what models raise at unusable values


class JudgingMixin:
    """The sizes and the scales of `Robust`, and its decisions."""

    def _start(self):
        self._start_scales()
        self._rows, self._untrained = 0, True

    def _start_scales(self):
        _, memory, patience = self._settings
        self._features, self._target = RunningScale(memory), RunningScale(memory)
        self._target_range = TargetRange()
        self._changes = ChangeDetector(patience) if patience < math.inf else None

    def _keep(self, x, y, w=1.0):
        """Decide whether to learn from this row, and update the filters and scales with it."""
        if self._filters.restart:
            self.model = self.model.clone()
            self._start()
        try:
            row, sizes = self._measure(x, y, w)
        except UNREADABLE:
            row, sizes = {}, [math.nan] * 3
        decision = self._filters.decide(self._scores(x, y, sizes), self._label(y))
        kept = decision.keep or (decision.finite and self._untrained and self.model.predict_one(x) is None)
        self._filters.record(decision, kept, ("", math.nan) if kept else self._cell(x, y, decision))
        self._monitor.add_one(kept)
        early, only_gradient = decision.finite and self._rows < FIRST, decision.refused_by == ["gradient"]
        if kept or only_gradient or early:  # the first scales are medians, which few outliers cannot ruin
            self._features.update(row)
        if kept or early:
            self._target.update(self._target_row(y))
            self._rows += 1
        if kept:
            self._target_range.update(self._target_row(y))
        elif only_gradient:
            teach_transformers(self.model, x)
        self._untrained = self._untrained and not kept
        if self._changes is not None and decision.finite:
            self._follow(row, self._target_row(y), decision, kept or only_gradient)
        return kept

    def _follow(self, row, target, decision, kept):
        """If the stream has changed for good: scales from the recent rows, and filters that start again."""
        if self._changes.add(row, target, kept, decision.sizes[:2], decision.thresholds[:2]):
            recent = list(self._changes.recent)
            self._start_scales()
            for row, target in recent:
                self._features.update(row)
                self._target.update(target)
                self._target_range.update(target)
            self._filters.forget(("features", "target", "score"))

    def _filled(self, x, drop=True):
        """The row with usual values for missing cells."""
        if not self._fills or isinstance(x, str):
            return x
        return self._features.filled(x, self.missing_share, drop)

    def _filled_frame(self, X):
        """The same for all rows of a frame; missing cells without a usual value stay."""
        if not (self._fills and batches.has_missing(X)):
            return X
        return batches.frame_of([self._filled(x, drop=False) for x in batches.rows(X)], X)

    def _cell(self, x, y, decision):
        """The name and the value of the cell, or the target, for which a row was skipped."""
        reason = decision.refused_by[0] if decision.refused_by else NOT_FINITE
        if reason in ("gradient", "score") or isinstance(x, str):
            return "", math.nan
        name, value = self._features.farthest(x)
        if reason == "target" or (reason == NOT_FINITE and abs(value) < FAR):
            return "target", as_float(y)
        return name, value

    def _measure(self, x, y, w):
        """The features by name, and the sizes of the row in the order of the filters."""
        step, features, text = None, x, isinstance(x, str)
        if self._linear or text or None in x.values():
            step, features = last_step(self.model, x)
        row, target = features if text else x, self._target_row(y)
        sizes = [self._features.size(row), self._target.size(target) if target else None]
        return row, [*sizes, gradient_size(step, features, y, w) if self._linear else None]

    def _scores(self, x, y, sizes):
        """The sizes, or the score of the row. If the score function raises, that is an error of the user."""
        if self.score is None:
            return sizes
        finite = all(size is None or abs(size) < math.inf for size in sizes)
        return [float(self.score(self.model, x, y)) if finite else math.nan]
