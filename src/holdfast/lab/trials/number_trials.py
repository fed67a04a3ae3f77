"""`holdfast trials --numbers`: the default for numbers and its own oracle, with many kinds of bad rows."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from holdfast.lab.bench.table import put_between_markers
from holdfast.lab.trials.about import written_by
from holdfast.lab.trials.contestants import by_default, fading_sgd, oracle, wolf
from holdfast.lab.trials.number_kinds import NUMBER_KINDS, corrupt_numbers, first_scored
from holdfast.lab.trials.number_tables import CHOSEN, REPORTED, number_tables
from holdfast.lab.trials.table import ratio
from holdfast.terminal import overwrite, tell

MARKERS = ("<!-- holdfast trials --numbers: begin -->", "<!-- holdfast trials --numbers: end -->")
SHARES = (0.01, 0.05, 0.1)
_ROUNDS, _FEW = 20_000, 4_000  # of any stream, at most
_SEEDS = 3
_NEAR = 1.05

PEERS: dict[str, Callable] = {"WoLF": wolf, "SGD, fading scale": fading_sgd}


class NumberCell(NamedTuple):
    """A table, a kind of bad rows and their share: errors over the oracle's, as medians over the seeds."""

    data: str
    kind: str
    share: float
    ours: float
    peers: dict[str, float]


def hold_number_trials(folder, quick=False, page=None, names=None, kinds=NUMBER_KINDS):
    """Measure and print; with `page`, write a table of the reported half into that file."""
    cells = []
    tell(f"{'':34}{'default':>8}" + "".join(f"{name:>20}" for name in PEERS))
    for name in names or (*CHOSEN, *REPORTED):
        tables = number_tables(folder, name, _FEW if quick else _ROUNDS)
        if not tables:
            tell(f"{name}: not in {folder}")
            continue
        for kind in kinds:
            for share in SHARES:
                overwrite(f"{name}: {kind}, {share:.0%}")
                cells.append(measure(name, tables, kind, share, 1 if quick else _SEEDS))
                tell(line(cells[-1]))
    tell("", *summary(cells))
    if page is not None:
        command = f"holdfast trials --data FOLDER --numbers{' --quick' if quick else ''} --write {page.name}"
        put_between_markers(page, markdown(cells, written_by(command)), MARKERS)


def measure(name, tables, kind, share, seeds):
    runs = [_errors(tables, kind, share, seed) for seed in range(seeds)]
    ours, *peers = (float(np.median([run[i] / run[0] for run in runs])) for i in range(1, len(runs[0])))
    return NumberCell(name, kind, share, ours, dict(zip(PEERS, peers, strict=True)))


def _errors(tables, kind, share, seed):
    """The mean error of the oracle, of ours and of each peer; infinity if it failed."""
    found: list = [[] for _ in range(2 + len(PEERS))]
    for i, table in enumerate(tables):
        stream = corrupt_numbers(table, kind, share, (seed, i))
        scored = stream.good
        scored[: first_scored(table, kind)] = False
        for place, predict in enumerate((oracle, by_default, *PEERS.values())):
            with np.errstate(all="ignore"):
                found[place].append(stream.errors(predict(stream))[scored])
    means = [float(np.concatenate(each).mean()) for each in found]
    return [mean if math.isfinite(mean) else math.inf for mean in means]


def line(cell):
    peers = "".join(f"{ratio(each):>20}" for each in cell.peers.values())
    return f"{cell.data:15}{cell.kind:16}{cell.share:>4.0%}{ratio(cell.ours):>7}{peers}"


def summary(cells):
    """For each half and share: in how many cells the default is near the oracle, and where it is worst."""
    lines = []
    for half, names in (("chosen", CHOSEN), ("reported", REPORTED)):
        for share in SHARES:
            some = [cell for cell in cells if cell.data in names and cell.share == share]
            if some:
                worst = max(some, key=lambda cell: cell.ours)
                ahead = sum(min(cell.peers.values(), default=math.inf) * _NEAR < cell.ours for cell in some)
                lines.append(
                    f"{half} half, {share:.0%} bad: within 5 % of the oracle in {_near(some)} of {len(some)} "
                    f"cells, worst {ratio(worst.ours)} ({worst.data}, {worst.kind}), a peer more than "
                    f"5 % ahead in {ahead}"
                )
    return lines


def _near(cells):
    return sum(cell.ours <= _NEAR for cell in cells)


def markdown(cells, about):
    """A row for each kind: cells of the reported half within 5 % of the oracle, and the worst ratio."""
    head = " | ".join(f"{share:.0%} bad" for share in SHARES)
    lines = [f"| kind | {head} |", "|---|" + "--:|" * len(SHARES)]
    for kind in dict.fromkeys(cell.kind for cell in cells):
        figures = []
        for share in SHARES:
            some = [c for c in cells if c.data in REPORTED and c.kind == kind and c.share == share]
            worst = max((cell.ours for cell in some), default=math.nan)
            figures.append(f"{_near(some)} of {len(some)}, worst {ratio(worst)}")
        lines.append(f"| {kind} | {' | '.join(figures)} |")
    return "\n".join([*lines, "", *(f"- {each}." for each in summary(cells)), "", about, ""])
