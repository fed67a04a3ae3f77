"""The table of errors over the oracle's, as text and as markdown, and which goals are met."""

import math
from typing import NamedTuple

from holdfast_lab.trials.contestants import CONTESTANTS, ORACLE, OURS, PLAIN

MARKERS = ("<!-- holdfast trials: begin -->", "<!-- holdfast trials: end -->")
NATURAL = "natural"


class Cell(NamedTuple):
    """One data set, corruption and delay: the oracle's error, and each error over it and over ours.

    A contestant that fails on the way has NaN.
    """

    data: str
    kind: str
    delay: int
    error: float
    to_oracle: dict[str, float]
    to_ours: dict[str, float]


class Goal(NamedTuple):
    """A claim, the number of cells it is about, and those in which it is wrong."""

    claim: str
    cells: int
    short: list[str]
    least: float = 1.0  # the share of the cells in which it must hold

    def met(self):
        return self.cells - len(self.short) >= self.least * self.cells

    def __str__(self):
        said, held = "met" if self.met() else "MISSED", self.cells - len(self.short)
        short = f": all but {', '.join(self.short)}" if self.short else ""
        return f"{said}: {self.claim} ({held} of {self.cells}){short}"


def goals(cells):
    """The claims of the docs, checked for each delay."""
    found = []
    for delay in dict.fromkeys(cell.delay for cell in cells):
        some = [cell for cell in cells if cell.delay == delay]
        found += [goal._replace(claim=f"delay {delay}: {goal.claim}") for goal in _goals(some)]
    return found


def _goals(cells):
    corrupted = [cell for cell in cells if cell.kind != NATURAL]
    natural = [cell for cell in cells if cell.kind == NATURAL]
    ahead = [f"{_where(cell)} ({', '.join(peers)})" for cell in corrupted if (peers := _peers_ahead(cell))]
    return [
        Goal(
            "the default is within 5 % of the oracle in 90 % of the cells",
            len(cells),
            _beyond(cells, 1.05),
            0.9,
        ),
        Goal("the default is within 25 % of the oracle in all cells", len(cells), _beyond(cells, 1.25)),
        Goal(
            "where nothing is corrupted, the default is at most 2 % behind scikit-learn's SGD",
            len(natural),
            [f"{_where(c)} ({1 / c.to_ours[PLAIN]:.2f})" for c in natural if 1.02 * c.to_ours[PLAIN] < 1.0],
        ),
        Goal("no peer is more than 5 % ahead of the default in a corrupted cell", len(corrupted), ahead),
    ]


def _peers_ahead(cell):
    """The peers whose error is more than 5 % below that of the default."""
    to_ours = {name: cell.to_ours.get(name, math.inf) for name, each in CONTESTANTS.items() if each.is_peer}
    return [f"{name} {ratio:.2f}" for name, ratio in to_ours.items() if ratio < 1.0 / 1.05]


def _beyond(cells, most):
    return [f"{_where(c)} ({c.to_oracle[OURS]:.2f})" for c in cells if not c.to_oracle[OURS] <= most]


def _where(cell):
    return f"{cell.data}, {cell.kind}"


def header():
    shown = [name for name in CONTESTANTS if name != ORACLE]
    return f"{'':36}{'delay':>6}{'oracle':>9}" + "".join(f"{name:>{width(name)}}" for name in shown)


def line(cell):
    shown = [name for name in CONTESTANTS if name != ORACLE]
    figures = "".join(f"{ratio(cell.to_oracle.get(name)):>{width(name)}}" for name in shown)
    return f"{cell.data:20}{cell.kind:16}{cell.delay:>6}{cell.error:>9.4g}{figures}"


def width(name):
    return max(len(name), 6) + 2


def ratio(value):
    if value is None:
        return ""
    if not math.isfinite(value):
        return "fails"
    return f"{value:.2f}" if value < 10.0 else f"{value:.0f}" if value < 1000.0 else f"{value:.0e}"


def markdown(cells, about):
    """The table of the docs: in bold what is within 5 % of the oracle."""
    shown = [name for name in CONTESTANTS if name != ORACLE]
    head = " | ".join(["data", "corruption", "delay", "oracle", *shown])
    lines = [f"| {head} |", "|---|---|--:|--:|" + "--:|" * len(shown)]
    for cell in cells:
        figures = [_strong(cell.to_oracle.get(name)) for name in shown]
        where = f"{cell.data} | {cell.kind} | {cell.delay}"
        lines.append(f"| {where} | {cell.error:.4g} | {' | '.join(figures)} |")
    return "\n".join([*lines, "", *(f"- {goal}." for goal in goals(cells)), "", about, ""])


def _strong(value):
    return f"**{ratio(value)}**" if value is not None and value <= 1.05 else ratio(value)
