"""What `holdfast trials --numbers` and `--labels` print and write: a line a cell, a summary, two tables."""

import math
from typing import NamedTuple

from holdfast_lab.trials.bad_rows import CLEAN
from holdfast_lab.trials.table import ratio

SHARES = (0.01, 0.05, 0.1)
_NEAR, _NEAR_IF_CLEAN = 1.05, 1.03


class Cell(NamedTuple):
    """A table, a kind of bad rows, their share, and the delay. Ratios are medians over the seeds."""

    data: str
    kind: str
    share: float
    delay: int
    oracle: float  # its error
    ours: float  # our error over the oracle's
    peers: dict[str, float]  # errors over the oracle's
    to_ours: dict[str, float]  # the same over ours

    def is_behind(self, by):
        """Whether our error is more than so many times that of the best peer."""
        return min(self.to_ours.values(), default=math.inf) * by < 1.0


def line(cell):
    peers = "".join(f"{ratio(each):>20}" for each in cell.peers.values())
    return f"{cell.data:20}{cell.kind:16}{cell.share:>4.0%}{cell.delay:>6}{ratio(cell.ours):>8}{peers}"


def summary(cells, halves):
    """For each half, delay and share: where the default is near the oracle, where not, and behind a peer."""
    lines = []
    for half, names in halves._asdict().items():
        for delay in _delays(cells):
            some = [cell for cell in cells if cell.data in names and cell.delay == delay]
            clean = [cell for cell in some if cell.kind == CLEAN]
            if clean:
                lines.append(f"{half} half, delay {delay}, clean: {_on_clean(clean)}")
            for share in SHARES:
                bad = [cell for cell in some if cell.share == share]
                if bad:
                    lines.append(f"{half} half, delay {delay}, {share:.0%} bad: {_on_bad(bad)}")
    return lines


def _on_clean(cells):
    behind = [cell.data for cell in cells if cell.is_behind(_NEAR_IF_CLEAN)]
    where = f" ({', '.join(behind)})" if behind else ""
    return f"a peer more than 3 % ahead in {len(behind)} of {len(cells)}{where}"


def _on_bad(cells):
    worst = max(cells, key=lambda cell: cell.ours)
    behind = sum(cell.is_behind(_NEAR) for cell in cells)
    return (
        f"within 5 % of the oracle in {_near(cells)} of {len(cells)} cells, worst {ratio(worst.ours)} "
        f"({worst.data}, {worst.kind}), a peer more than 5 % ahead in {behind}"
    )


def _near(cells):
    return sum(cell.ours <= _NEAR for cell in cells)


def _delays(cells):
    return dict.fromkeys(cell.delay for cell in cells)


def markdown(cells, halves, about):
    """A row for each kind and delay: cells of the reported half near the oracle, and the worst ratio."""
    head = " | ".join(f"{share:.0%} bad" for share in SHARES)
    lines = [f"| kind | delay | {head} |", "|---|--:|" + "--:|" * len(SHARES)]
    for kind in dict.fromkeys(cell.kind for cell in cells if cell.kind != CLEAN):
        for delay in _delays(cells):
            some = [c for c in cells if c.data in halves.reported and c.kind == kind and c.delay == delay]
            figures = [_figure([cell for cell in some if cell.share == share]) for share in SHARES]
            lines.append(f"| {kind} | {delay} | {' | '.join(figures)} |")
    lines += ["", *clean_table(cells, halves), "", *(f"- {each}." for each in summary(cells, halves))]
    return "\n".join([*lines, "", about, ""])


def _figure(cells):
    worst = max(cells, key=lambda cell: cell.ours, default=None)
    where = f"worst {ratio(worst.ours)}, {worst.data}" if worst else "not measured"
    return f"{_near(cells)} of {len(cells)}, {where}"


def clean_table(cells, halves):
    """A row for each reported table and delay: the errors where nothing is corrupted, over the oracle's."""
    clean = [cell for cell in cells if cell.kind == CLEAN and cell.data in halves.reported]
    peers = [name for cell in clean[:1] for name in cell.peers]
    head = " | ".join(["oracle", "default", *peers])
    lines = [f"| clean | delay | {head} |", "|---|--:|" + "--:|" * (2 + len(peers))]
    for cell in clean:
        figures = [f"{cell.oracle:.4g}", *map(ratio, (cell.ours, *cell.peers.values()))]
        lines.append(f"| {cell.data} | {cell.delay} | {' | '.join(figures)} |")
    return lines if clean else []
