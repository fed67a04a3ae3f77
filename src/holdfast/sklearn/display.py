"""AuditDisplay: a picture of the rows that an estimator skipped."""

from typing import Any, Self

import numpy as np

from holdfast.audit import NOT_READABLE, WARM_UP
from holdfast.pages.palette import BLUE, GREEN, GREY, RED
from holdfast.sklearn.judging import JudgedRows

_BARS = 10
_WRAPPED = ("best_estimator_", "regressor_")  # of a search, and of TransformedTargetRegressor


class AuditDisplay:
    """Sizes and thresholds of rows, and the skipped rows by reason and by column.

    It has the conventions of the displays of scikit-learn: make it with `from_estimator`.

    Parameters
    ----------
    sample : JudgedRows
        Some of the rows of the last `fit` or `partial_fit`, evenly spaced; with more than two classes, as the
        first model saw them.
    audit
        `audit_` of the estimator.
    counts
        `audit_counts_` of the estimator.

    Attributes
    ----------
    ax_, axes_, figure_
        The axes of the sizes; the axes of all three parts; and the figure. After `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from holdfast.sklearn import AuditDisplay, RobustRegressor
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> X[100:120] *= 1e6
    >>> display = AuditDisplay.from_estimator(RobustRegressor().fit(X, X[:, 0]))
    >>> display.ax_.get_ylabel()
    'features: size'
    """

    def __init__(self, *, sample: JudgedRows, audit: dict[str, Any], counts: dict[str, int]) -> None:
        self.sample, self.audit, self.counts = sample, audit, counts
        self.checks = [name for name in counts if name not in (NOT_READABLE, WARM_UP)]

    @classmethod
    def from_estimator(cls, estimator: Any, *, measure: str | None = None, ax: Any = None) -> Self:
        """Draw the audit of a fitted estimator, or of the last step of a `Pipeline` or of a search.

        The other parameters are those of `plot`. Columns have the names that the steps before give them.
        """
        own, before = last_step(estimator)
        audit, counts = dict(own.audit_), own.audit_counts_
        audit["column"] = _named(audit["column"], own, before)
        display = cls(sample=own._sample, audit=audit, counts=counts)
        return display.plot(measure=measure, ax=ax)

    def plot(self, *, measure: str | None = None, ax: Any = None) -> Self:
        """Draw it.

        Parameters
        ----------
        measure : a check of the estimator, such as "features" or "target", optional
            Whose sizes and thresholds are shown. Default: those that most rows were skipped for.
        ax
            Where to draw; its place is divided into three.
        """
        import matplotlib.pyplot as plt

        if measure is None:
            measure = max(self.checks, key=lambda name: self.counts[name])
        if measure not in self.checks:
            raise ValueError(f"measure must be one of {', '.join(self.checks)}: got {measure!r}")
        if ax is None:
            _, ax = plt.subplots(figsize=(10.0, 4.5), layout="constrained")
        ax.set_axis_off()
        self.figure_ = ax.figure
        grid = ax.get_subplotspec().subgridspec(2, 2, width_ratios=(2.0, 1.0))
        places = (grid[:, 0], grid[0, 1], grid[1, 1])
        self.axes_ = np.array([self.figure_.add_subplot(place) for place in places])
        self.ax_ = self.axes_[0]
        self._draw_sizes(self.axes_[0], measure)
        reasons = {name: count for name, count in self.counts.items() if count > 0}
        _draw_bars(self.axes_[1], reasons, "skipped rows, by reason")
        names, counts = np.unique(self.audit["column"], return_counts=True)
        columns = {str(name): int(n) for name, n in zip(names, counts, strict=True) if name != ""}
        _draw_bars(self.axes_[2], columns, "by column")
        return self

    def _draw_sizes(self, axes: Any, measure: str) -> None:
        sample, number = self.sample, self.checks.index(measure)
        kept, sizes, threshold = sample.kept, sample.sizes[:, number], sample.thresholds[:, number]
        steps, audit = sample.rounds, self.audit
        axes.plot(steps[kept], sizes[kept], ".", color=GREY, markersize=3, label="kept")
        others = ~kept & (sample.refused_by != number)
        if others.any():
            axes.plot(steps[others], sizes[others], "x", color=BLUE, markersize=5, label="skipped: others")
        own = audit["reason"] == measure
        if own.any():
            found = (audit["round"][own], audit["size"][own])
            axes.plot(*found, "x", color=RED, markersize=5, label=f"skipped: {measure}")
        if np.isfinite(threshold).any():
            axes.plot(steps, threshold, color=GREEN, linewidth=2.0, label="threshold")
        axes.set(xlabel="step", ylabel=f"{measure}: size")
        positive = sizes[kept]
        positive = positive[positive > 0.0]
        if len(positive) > 0:
            axes.set_yscale("log", nonpositive="mask")
            axes.set_ylim(bottom=0.5 * np.quantile(positive, 0.01))
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False)


def last_step(estimator: Any) -> tuple[Any, Any]:
    """The estimator with an audit inside of pipelines, searches and targets, and the last steps before it."""
    before = None
    while not hasattr(estimator, "audit_"):
        if hasattr(estimator, "steps"):
            estimator, before = estimator[-1], estimator[:-1] if len(estimator) > 1 else None
            continue
        inner = [name for name in _WRAPPED if hasattr(estimator, name)]
        if not inner:
            raise TypeError(
                "AuditDisplay needs a fitted RobustClassifier or RobustRegressor, or a pipeline that ends "
                f"with one: got {type(estimator).__name__}"
            )
        estimator = getattr(estimator, inner[0])
    return estimator, before


def _named(columns: np.ndarray, estimator: Any, before: Any) -> np.ndarray:
    """The columns by the names that the steps before give, if the estimator has got an array."""
    if before is None or hasattr(estimator, "feature_names_in_"):
        return columns
    try:
        found = before.get_feature_names_out()
    except (AttributeError, ValueError):  # a step cannot name what it makes
        return columns
    names = {f"x{i}": str(name) for i, name in enumerate(found)}
    return np.array([names.get(column, column) for column in columns.tolist()], str)


def _draw_bars(axes: Any, counts: dict[str, int], title: str) -> None:
    """A bar for each name, the largest on top."""
    shown = sorted(counts.items(), key=lambda pair: -pair[1])[:_BARS]
    axes.barh([name for name, _ in shown], [count for _, count in shown], color=RED)
    axes.invert_yaxis()
    axes.set_title(title, loc="left")
