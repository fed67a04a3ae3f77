"""AuditDisplay: a picture of the rows that an estimator skipped."""

import numpy as np

from holdfast.audit import NOT_READABLE
from holdfast.pages.palette import BLUE, GREEN, GREY, RED
from holdfast.sklearn.judging import MEASURES

_BARS = 10


class AuditDisplay:
    """Sizes and thresholds of rows, and the skipped rows by reason and by column.

    It has the conventions of the displays of scikit-learn: make it with `from_estimator`.

    Parameters
    ----------
    sample : JudgedRows
        Some of the rows of the last `fit` or `partial_fit`, evenly spaced; with more than two classes, as the
        first model saw them.
    audit : dict of arrays
        `audit_` of the estimator.
    counts : dict
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

    def __init__(self, *, sample, audit, counts):
        self.sample, self.audit, self.counts = sample, audit, counts

    @classmethod
    def from_estimator(cls, estimator, *, measure=None, ax=None):
        """Draw the audit of a fitted estimator. The parameters are those of `plot`."""
        display = cls(sample=estimator._sample, audit=estimator.audit_, counts=estimator.audit_counts_)
        return display.plot(measure=measure, ax=ax)

    def plot(self, *, measure=None, ax=None):
        """Draw it.

        Parameters
        ----------
        measure : "features", "target" or "gradient", optional
            Whose sizes and thresholds are shown. Default: those that most rows were skipped for.
        ax : matplotlib axes, optional
            Where to draw; its place is divided into three.
        """
        import matplotlib.pyplot as plt

        if measure is None:
            measure = max(MEASURES, key=lambda name: self.counts[name])
        if measure not in MEASURES:
            raise ValueError(f"measure must be one of {', '.join(MEASURES)}: got {measure!r}")
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

    def _draw_sizes(self, axes, measure):
        sample, number = self.sample, MEASURES.index(measure)
        kept, threshold = sample.kept, sample.thresholds[number]
        steps, audit = sample.rounds, self.audit
        axes.plot(steps[kept], sample.sizes[number][kept], ".", color=GREY, markersize=3, label="kept")
        own = audit["by"] == measure
        other = ~own & (audit["by"] != NOT_READABLE)
        for which, color, label in ((own, RED, f"skipped: {measure}"), (other, BLUE, "skipped: others")):
            if which.any():
                sizes = audit[f"{measure}_size"][which]
                axes.plot(audit["round"][which], sizes, "x", color=color, markersize=5, label=label)
        if np.isfinite(threshold).any():
            axes.plot(steps, threshold, color=GREEN, linewidth=2.0, label="threshold")
        axes.set(xlabel="step", ylabel=f"{measure}: size")
        positive = sample.sizes[number][kept]
        positive = positive[positive > 0.0]
        if len(positive) > 0:
            axes.set_yscale("log", nonpositive="mask")
            axes.set_ylim(bottom=0.5 * np.quantile(positive, 0.01))
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False)


def _draw_bars(axes, counts, title):
    """A bar for each name, the largest on top."""
    shown = sorted(counts.items(), key=lambda pair: -pair[1])[:_BARS]
    axes.barh([name for name, _ in shown], [count for _, count in shown], color=RED)
    axes.invert_yaxis()
    axes.set_title(title, loc="left")
