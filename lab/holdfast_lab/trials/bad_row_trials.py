"""`holdfast trials --numbers` and `--labels`: the default and its own oracle, with many kinds of bad rows."""

import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from holdfast.terminal import overwrite, tell
from holdfast_lab.bench.table import put_between_markers
from holdfast_lab.trials.about import delay_option, written_by
from holdfast_lab.trials.bad_row_summary import SHARES, Cell, line, markdown, summary
from holdfast_lab.trials.bad_rows import CLEAN, LABEL_KINDS, NUMBER_KINDS, corrupt_rows, first_scored
from holdfast_lab.trials.contestants import (
    FADING,
    ORACLE,
    OURS,
    RIVER,
    TUNED,
    Contestant,
    by_default,
    fading_sgd,
    oracle,
    qc_sgd,
    river,
    tuned_sgd,
    wolf,
)
from holdfast_lab.trials.halves import LABELS, NUMBERS, Halves

_SEEDS = 3


class TrialSize(NamedTuple):
    """How much of a table is played."""

    rounds: int  # of any stream, at most
    slow_rounds: int  # of all streams of a table together, for slow peers


FULL, QUICK = TrialSize(20_000, 4_000), TrialSize(4_000, 2_000)


class Trials(NamedTuple):
    """The tables, the kinds of bad rows, and the peers of an option of the command."""

    option: str
    halves: Halves
    kinds: dict[str, Callable]
    peers: dict[str, Contestant]

    @property
    def markers(self):
        return tuple(f"<!-- holdfast trials {self.option}: {end} -->" for end in ("begin", "end"))


_SGD = {FADING: Contestant(fading_sgd), TUNED: Contestant(tuned_sgd), RIVER: Contestant(river, is_slow=True)}
FOR_NUMBERS = Trials("--numbers", NUMBERS, NUMBER_KINDS, {"WoLF": Contestant(wolf), **_SGD})
FOR_LABELS = Trials("--labels", LABELS, LABEL_KINDS, {"QC-SGD": Contestant(qc_sgd), **_SGD})


def hold_trials_of(trials, folder, quick=False, page=None, reported=False, delays=(1,)):
    """Measure and print; with `page`, write a table of the reported half into that file."""
    cells, (chosen, report), size = [], trials.halves, QUICK if quick else FULL
    tell(f"{'':40}{'delay':>6}{'default':>8}" + "".join(f"{name:>20}" for name in trials.peers))
    for name in report if reported else chosen | report:
        tables = trials.halves.streams(folder, name, size.rounds)
        if not tables:
            tell(f"{name}: not in {folder}")
            continue
        kinds = [(CLEAN, 0.0), *itertools.product(trials.kinds, SHARES)]
        for delay, (kind, share) in itertools.product(delays, kinds):
            overwrite(f"{name}: delay {delay}, {kind}, {share:.0%}")
            seeds = 1 if quick or kind == CLEAN else _SEEDS
            cells.append(measure(trials.peers, name, tables, kind, share, seeds, delay, size.slow_rounds))
            tell(line(cells[-1]))
    tell("", *summary(cells, trials.halves))
    if page is not None:
        options = [trials.option, *["--quick"] * quick, *["--reported"] * reported, *delay_option(delays)]
        command = f"holdfast trials --data FOLDER {' '.join(options)} --write {page.name}"
        put_between_markers(page, markdown(cells, trials.halves, written_by(command)), trials.markers)


def measure(peers, name, tables, kind, share, seeds, delay=1, slow_rounds=QUICK.slow_rounds):
    """The cell of a table. A slow peer meets the first rounds only, and is compared on these."""
    players = {ORACLE: Contestant(oracle), OURS: Contestant(by_default), **peers}
    runs = [_run(players, tables, kind, share, seed, delay, slow_rounds) for seed in range(seeds)]

    def median_ratio(one, other):
        ratios = [over(mean_error(run, one, met_by=one), mean_error(run, other, met_by=one)) for run in runs]
        return float(np.median(ratios))

    error = float(np.median([mean_error(run, ORACLE, met_by=ORACLE) for run in runs]))
    to_oracle, to_ours = ({peer: median_ratio(peer, other) for peer in peers} for other in (ORACLE, OURS))
    return Cell(name, kind, share, delay, error, median_ratio(OURS, ORACLE), to_oracle, to_ours)


def over(error, least):
    """An error over another one. If that is 0, any mistake is infinitely worse."""
    if error == math.inf:
        return math.inf
    return error / least if least > 0.0 else 1.0 if error == 0.0 else math.inf


def _run(players, tables, kind, share, seed, delay, slow_rounds):
    """For each stream, which rounds are scored, and the errors of each player in the rounds it meets."""
    run = []
    for i, table in enumerate(tables):
        stream, errors = corrupt_rows(table, kind, share, (seed, i)), {}
        for name, player in players.items():
            part = stream.first(slow_rounds) if player.is_slow else stream
            with np.errstate(all="ignore"):
                errors[name] = part.errors(player.predict(part, delay)) if part.table.rounds else np.zeros(0)
        slow_rounds -= min(slow_rounds, table.rounds)
        run.append((stream.scored_from(first_scored(table, kind)), errors))
    return run


def mean_error(run, name, met_by):
    """The mean error over the scored rounds that another player has met too; infinity if it failed."""
    lengths = [len(errors[met_by]) for _, errors in run]
    parts = [errors[name][:n][scored[:n]] for (scored, errors), n in zip(run, lengths, strict=True)]
    mean = float(np.concatenate(parts).mean())
    return mean if math.isfinite(mean) else math.inf
