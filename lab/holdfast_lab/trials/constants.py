"""`holdfast trials --constants`: the defaults with each of their settings at half and at twice its value."""

from typing import NamedTuple

import numpy as np

from holdfast.defaults import recommended, recommended_loss
from holdfast.terminal import overwrite, tell
from holdfast_lab.bench.table import put_between_markers
from holdfast_lab.trials.about import written_by
from holdfast_lab.trials.bad_row_trials import FOR_LABELS, FOR_NUMBERS
from holdfast_lab.trials.bad_rows import CLEAN, corrupt_rows, first_scored
from holdfast_lab.trials.batches import forecasts
from holdfast_lab.trials.contestants import BY_BATCH

MARKERS = ("<!-- holdfast trials --constants: begin -->", "<!-- holdfast trials --constants: end -->")
ROUNDS, ORDERS = 5_000, 2  # of a stream, and of a table in random orders, at most
DELAYS, SHARE = (1, 50), 0.1
_KINDS = {
    "--numbers": ("X x1000", "column x1000", "y mirrored", "stuck", "ramp"),
    "--labels": ("X x1000", "flips", "flips, X x100", "stuck", "burst of flips"),
}
_OF_PLAYER = ("knee", "most", "near", "wrong")
_OF_LEARNER = {
    "--numbers": ("memories", "limits", "powers", "strength", "memory", "wrong"),
    "--labels": ("memories", "flips", "steps", "prior", "memory"),
}


class Setting(NamedTuple):
    """A field of a part of the player, which is "" for the player itself."""

    part: str
    name: str

    def value(self, player):
        return getattr(getattr(player, self.part) if self.part else player, self.name)

    def times(self, player, factor):
        """The player with this setting multiplied; whole numbers stay whole, and limits are kept."""
        value = self.value(player)
        new = int(value * factor) if isinstance(value, int) else value * factor
        if self.name == "knee":
            return player._replace(knee=max(new, 1.0), most=max(new, player.most))
        if self.name == "most":
            return player._replace(most=max(new, player.knee))
        if not self.part:
            return player._replace(**{self.name: new})
        return player._replace(**{self.part: getattr(player, self.part)._replace(**{self.name: new})})


def settings_of(trials):
    """All settings of a default that are numbers."""
    filters = [("gate", "slack"), ("gate", "patience")]
    if trials is FOR_NUMBERS:
        filters += [("surprise", "slack"), ("surprise", "patience")]
    own = [("", name) for name in _OF_PLAYER]
    learner = [("learner", name) for name in _OF_LEARNER[trials.option]]
    return [Setting(*each) for each in (*own, *filters, *learner, ("hedge", "rate"), ("hedge", "share"))]


def try_constants(folder, page=None):
    """Measure and print; with `page`, write the table into that file."""
    rows = []
    for trials in (FOR_NUMBERS, FOR_LABELS):
        cells = list(cells_of(trials, folder))
        player = recommended(cells[0][0].table.regression, delay=BY_BATCH)
        usual = errors(player, cells)
        for setting in settings_of(trials):
            overwrite(f"{trials.option}: {setting.name}")
            figures = [ratios(errors(setting.times(player, factor), cells), usual) for factor in (0.5, 2.0)]
            rows.append((trials.option.strip("-"), setting, setting.value(player), *figures))
            tell(_line("  ", *rows[-1]))
    if page is not None:
        about = written_by(f"holdfast trials --data FOLDER --constants --write {page.name}")
        head = [
            "| default | setting | value | half: clean, bad | twice: clean, bad |",
            "|---|---|--:|--:|--:|",
        ]
        lines = [*head, *(f"| {_line(' | ', *row)} |" for row in rows)]
        put_between_markers(page, "\n".join([*lines, "", about, ""]), MARKERS)


def cells_of(trials, folder, more=()):
    """The tables of the choice, clean and with 10 % of bad rows: a stream, its kind, and a delay.

    `more` has other kinds of bad rows, beside the usual five.
    """
    for name in trials.halves.chosen:
        for table in trials.halves.streams(folder, name, ROUNDS)[:ORDERS]:
            for kind in (CLEAN, *_KINDS[trials.option], *more):
                for delay in DELAYS:
                    yield corrupt_rows(table, kind, SHARE, 0), kind, delay


def errors(player, cells):
    """The mean error of the default in each cell, and whether the cell is clean."""
    found = []
    for stream, kind, delay in cells:
        table, blocks = stream.table, np.arange(stream.table.rounds) // delay
        predictions = forecasts(player, table, recommended_loss(table.regression), blocks)
        scored = stream.scored_from(first_scored(table, kind))
        found.append((float(stream.errors(predictions)[scored].mean()), kind == CLEAN))
    return found


def ratios(found, usual):
    """Geometric means of the errors over the usual ones: clean cells, then the others."""
    logs = [(np.log(one / other), clean) for (one, clean), (other, _) in zip(found, usual, strict=True)]
    return [float(np.exp(np.mean([log for log, clean in logs if clean == which]))) for which in (True, False)]


def _line(between, default, setting, value, half, twice):
    text = ", ".join(f"{each:g}" for each in np.atleast_1d(value))
    name = f"{setting.part} {setting.name}".strip()
    return between.join([default, name, text, *(f"{clean:.3f}, {bad:.3f}" for clean, bad in (half, twice))])
