"""What the counts of a run or of an estimator say that its user should know, in one sentence each."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from holdfast.terminal import percent, quoted, shown, visible

_ENOUGH = 20  # skipped rows, or rows of a class: of fewer, shares mean little
_MANY = 0.05  # of the rows are skipped: below, nobody need ask which column it is
_MOST = 0.5  # of the skipped rows are due to one column
_OF_A_CLASS, _TIMES = 0.1, 3.0  # of a class are skipped, and so many times as often as of the others
_TAIL = 100  # rows at the end without one that was kept: a filter may withstand fewer
_KEPT = 100  # rows, before an error means something
_WORSE = 1.01  # times the baseline: less is the same
_GROUPS = 3  # of labels that are alike: so many are named


class SkipFigures(NamedTuple):
    """Counts of rows, without those of the warm-up."""

    rows: int
    skipped: int
    columns: Mapping[str, int] = {}  # skipped rows, by the column whose cell was the reason
    classes: Mapping[str, tuple[int, int]] = {}  # rows and skipped rows, by label
    last_kept: int = 0  # the number of the last row that was learned from
    last: int = 0
    error: float | None = None  # on the rows learned from
    baseline: float | None = None


def advice(figures: SkipFigures) -> list[str]:
    """Sentences about what is probably wrong; none if all is well.

    >>> advice(SkipFigures(1000, 100, {"weather_id": 98, "rain": 2}))
    ['98 % of the 100 skipped rows are due to weather_id']
    """
    found = [] if (cause := main_cause(figures)) is None else [_of_column(figures, cause)]
    return found + _of_classes(figures) + _of_the_end(figures) + _of_error(figures)


def main_cause(figures: SkipFigures) -> str | None:
    """The column to which most of many skipped rows are due."""
    column = max(figures.columns, key=figures.columns.__getitem__, default=None)
    if column is None or figures.skipped < max(_ENOUGH, _MANY * figures.rows):
        return None
    return column if figures.columns[column] > _MOST * figures.skipped else None


def _of_column(figures: SkipFigures, column: str) -> str:
    share = figures.columns[column] / figures.skipped
    return f"{percent(share)} of the {figures.skipped:,} skipped rows are due to {visible(column, 80)}"


def _of_classes(figures: SkipFigures) -> list[str]:
    found: list[str] = []
    rows = sum(own for own, _ in figures.classes.values())
    skipped = sum(lost for _, lost in figures.classes.values())
    for label, (own, lost) in figures.classes.items():
        others = (skipped - lost) / max(rows - own, 1)
        if own >= _ENOUGH and lost > _OF_A_CLASS * own and lost > _TIMES * others * own:
            found.append(
                f"{percent(lost / own)} of the rows of class {visible(label, 80)} were skipped, and "
                f"{percent(others)} of the others"
            )
    return found


def _of_the_end(figures: SkipFigures) -> list[str]:
    count = figures.last - figures.last_kept
    if not figures.last_kept or count < _TAIL:
        return []
    return [f"every row after {figures.last_kept:,} was skipped ({count:,} rows): the data may have changed"]


def _of_error(figures: SkipFigures) -> list[str]:
    error, baseline = figures.error, figures.baseline
    if error is None or baseline is None or figures.rows - figures.skipped < _KEPT:
        return []
    if error <= _WORSE * baseline:
        return []
    return [f"the model predicts worse than the baseline: error {shown(error)}, baseline {shown(baseline)}"]


def of_alike(labels: Iterable[Any]) -> str:
    """A sentence about labels that are the same but for case and blanks; "" if there are none.

    >>> of_alike(["Yes", "no", "yes ", "maybe"])
    "labels that differ only in case or blanks are different classes: 'Yes' and 'yes '"
    """
    found: dict[str, list[str]] = {}
    for label in labels:
        if isinstance(label, str):
            found.setdefault("".join(label.split()).casefold(), []).append(str(label))
    groups = [group for group in found.values() if len(group) > 1]
    if not groups:
        return ""
    named = "; ".join(" and ".join(quoted(label, 40) for label in group) for group in groups[:_GROUPS])
    more = "; ..." if len(groups) > _GROUPS else ""
    return f"labels that differ only in case or blanks are different classes: {named}{more}"
