"""`holdfast trials --numbers` and `--labels`: the default and its own oracle, with many kinds of bad rows."""

import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from holdfast.lab.bench.table import put_between_markers
from holdfast.lab.trials.about import written_by
from holdfast.lab.trials.bad_rows import CLEAN, LABEL_KINDS, NUMBER_KINDS, corrupt_rows, first_scored
from holdfast.lab.trials.contestants import by_default, fading_sgd, oracle, qc_sgd, wolf
from holdfast.lab.trials.halves import LABELS, NUMBERS, Halves
from holdfast.lab.trials.table import ratio
from holdfast.terminal import overwrite, tell

SHARES = (0.01, 0.05, 0.1)
_ROUNDS, _FEW = 20_000, 4_000  # of any stream, at most
_SEEDS = 3
_NEAR, _NEAR_IF_CLEAN = 1.05, 1.03


class Trials(NamedTuple):
    """The tables, the kinds of bad rows, and the peers of an option of the command."""

    option: str
    halves: Halves
    kinds: dict[str, Callable]
    peers: dict[str, Callable]

    @property
    def markers(self):
        return tuple(f"<!-- holdfast trials {self.option}: {end} -->" for end in ("begin", "end"))


FOR_NUMBERS = Trials("--numbers", NUMBERS, NUMBER_KINDS, {"WoLF": wolf, "SGD, fading scale": fading_sgd})
FOR_LABELS = Trials("--labels", LABELS, LABEL_KINDS, {"QC-SGD": qc_sgd, "SGD, fading scale": fading_sgd})


class Cell(NamedTuple):
    """A table, a kind of bad rows and their share: errors over the oracle's, as medians over the seeds."""

    data: str
    kind: str
    share: float
    oracle: float  # its error
    ours: float
    peers: dict[str, float]


def hold_trials_of(trials, folder, quick=False, page=None, reported=False):
    """Measure and print; with `page`, write a table of the reported half into that file."""
    cells, (chosen, report) = [], trials.halves
    tell(f"{'':38}{'default':>8}" + "".join(f"{name:>20}" for name in trials.peers))
    for name in report if reported else chosen | report:
        tables = trials.halves.streams(folder, name, _FEW if quick else _ROUNDS)
        if not tables:
            tell(f"{name}: not in {folder}")
            continue
        for kind, share in [(CLEAN, 0.0), *itertools.product(trials.kinds, SHARES)]:
            overwrite(f"{name}: {kind}, {share:.0%}")
            seeds = 1 if quick or kind == CLEAN else _SEEDS
            cells.append(measure(trials.peers, name, tables, kind, share, seeds))
            tell(line(cells[-1]))
    tell("", *summary(cells, trials.halves))
    if page is not None:
        options = [trials.option, *["--quick"] * quick, *["--reported"] * reported]
        command = f"holdfast trials --data FOLDER {' '.join(options)} --write {page.name}"
        put_between_markers(page, markdown(cells, trials.halves, written_by(command)), trials.markers)


def measure(peers, name, tables, kind, share, seeds):
    runs = [_errors(peers, tables, kind, share, seed) for seed in range(seeds)]
    ours, *others = (float(np.median([over(run[i], run[0]) for run in runs])) for i in range(1, len(runs[0])))
    error = float(np.median([run[0] for run in runs]))
    return Cell(name, kind, share, error, ours, dict(zip(peers, others, strict=True)))


def over(error, least):
    """An error over that of the oracle. If that is 0, any mistake is infinitely worse."""
    return error / least if least > 0.0 else 1.0 if error == 0.0 else math.inf


def _errors(peers, tables, kind, share, seed):
    """The mean error of the oracle, of ours and of each peer; infinity if it failed."""
    found: list = [[] for _ in range(2 + len(peers))]
    for i, table in enumerate(tables):
        stream = corrupt_rows(table, kind, share, (seed, i))
        scored = stream.good
        scored[: first_scored(table, kind)] = False
        for place, predict in enumerate((oracle, by_default, *peers.values())):
            with np.errstate(all="ignore"):
                found[place].append(stream.errors(predict(stream))[scored])
    means = [float(np.concatenate(each).mean()) for each in found]
    return [mean if math.isfinite(mean) else math.inf for mean in means]


def line(cell):
    peers = "".join(f"{ratio(each):>20}" for each in cell.peers.values())
    return f"{cell.data:18}{cell.kind:16}{cell.share:>4.0%}{ratio(cell.ours):>8}{peers}"


def summary(cells, halves):
    """For each half and share: in how many cells the default is near the oracle, and where it is worst."""
    lines = []
    for half, names in halves._asdict().items():
        behind = [cell.data for cell in cells if cell.data in names and _is_behind(cell)]
        clean = sum(cell.data in names and cell.kind == CLEAN for cell in cells)
        if clean:
            where = f" ({', '.join(behind)})" if behind else ""
            lines.append(f"{half} half, clean: a peer more than 3 % ahead in {len(behind)} of {clean}{where}")
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


def _is_behind(cell):
    """Whether a peer makes fewer mistakes where nothing is corrupted, by more than 3 %."""
    return cell.kind == CLEAN and min(cell.peers.values(), default=math.inf) * _NEAR_IF_CLEAN < cell.ours


def _near(cells):
    return sum(cell.ours <= _NEAR for cell in cells)


def markdown(cells, halves, about):
    """A row for each kind: cells of the reported half within 5 % of the oracle, and the worst ratio."""
    head = " | ".join(f"{share:.0%} bad" for share in SHARES)
    lines = [f"| kind | {head} |", "|---|" + "--:|" * len(SHARES)]
    for kind in dict.fromkeys(cell.kind for cell in cells if cell.kind != CLEAN):
        figures = []
        for share in SHARES:
            some = [c for c in cells if c.data in halves.reported and c.kind == kind and c.share == share]
            worst = max(some, key=lambda cell: cell.ours, default=None)
            where = f"worst {ratio(worst.ours)}, {worst.data}" if worst else "not measured"
            figures.append(f"{_near(some)} of {len(some)}, {where}")
        lines.append(f"| {kind} | {' | '.join(figures)} |")
    lines += ["", *clean_table(cells, halves), "", *(f"- {each}." for each in summary(cells, halves))]
    return "\n".join([*lines, "", about, ""])


def clean_table(cells, halves):
    """A row for each table of the reported half: the errors where nothing is corrupted, over the oracle's."""
    clean = [cell for cell in cells if cell.kind == CLEAN and cell.data in halves.reported]
    peers = [name for cell in clean[:1] for name in cell.peers]
    lines = [f"| clean | {' | '.join(['oracle', 'default', *peers])} |", "|---|" + "--:|" * (2 + len(peers))]
    for cell in clean:
        figures = [f"{cell.oracle:.4g}", *map(ratio, (cell.ours, *cell.peers.values()))]
        lines.append(f"| {cell.data} | {' | '.join(figures)} |")
    return lines if clean else []
