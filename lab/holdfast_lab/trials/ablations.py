"""`holdfast trials --ablations`: the defaults without each of their parts, and with one regression alone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.defaults import recommended
from holdfast.steady.player import FEW_STORED
from holdfast.terminal import overwrite, tell
from holdfast_lab.bench.table import put_between_markers
from holdfast_lab.trials.about import written_by
from holdfast_lab.trials.bad_row_trials import FOR_LABELS, FOR_NUMBERS
from holdfast_lab.trials.constants import cells_of, errors, ratios
from holdfast_lab.trials.contestants import BY_BATCH

MARKERS = ("<!-- holdfast trials --ablations: begin -->", "<!-- holdfast trials --ablations: end -->")
_MORE = ("burst X x1000", "start X x1000")  # kinds of bad rows: what restarts are for
_NEVER = 1e300  # a slack: nothing is refused
_NOTHING = 1e-9  # of wealth: the fallback stays where it started


def try_ablations(folder: Path, page: Path | None = None) -> None:
    """Measure and print; with `page`, write the table into that file."""
    rows = []
    for trials in (FOR_NUMBERS, FOR_LABELS):
        cells = list(cells_of(trials, folder, _MORE))
        player = recommended(trials is FOR_NUMBERS, delay=BY_BATCH)
        usual = errors(player, cells)
        for name, changed in ablations_of(player):
            overwrite(f"{trials.option}: {name}")
            clean, bad = ratios(errors(changed, cells), usual)
            rows.append((trials.option.strip("-"), name, f"{clean:.3f}", f"{bad:.3f}"))
            tell("  ".join(rows[-1]))
    if page is not None:
        about = written_by(f"holdfast trials --data FOLDER --ablations --write {page.name}")
        lines = ["| default | change | clean | bad |", "|---|---|--:|--:|"]
        lines += [f"| {' | '.join(row)} |" for row in rows]
        put_between_markers(page, "\n".join([*lines, "", about, ""]), MARKERS)


def ablations_of(player: Any) -> Iterator[tuple[str, Any]]:
    """Names of changes, and the player, a `Steady` one, with each."""
    learner = player.learner
    count = len(learner.memories)
    for k in range(count):
        others = _with(learner, [i for i in range(count) if i != k])
        yield f"without {_name(learner, k)}", player._replace(learner=others)
        yield f"only {_name(learner, k)}", player._replace(learner=_second_order(_with(learner, [k])))
    if not learner.scales_target():
        yield "without regressions of first order", player._replace(learner=_second_order(learner))
    fallback = player.fallback._replace(wealth=_NOTHING)
    yield "without the fallback", player._replace(fallback=fallback)
    yield "without the gate", player._replace(gate=player.gate._replace(slack=_NEVER))
    if learner.scales_target():
        surprise = player.surprise._replace(slack=_NEVER)
        yield "without the filter of targets", player._replace(surprise=surprise)
    yield "without a second start", player._replace(stored=FEW_STORED)


def _with(learner: Any, some: list[int]) -> Any:
    """The learner with some of its regressions of second order, and all of first order."""
    fields = learner._asdict().items()
    arrays = {
        name: value[some] for name, value in fields if isinstance(value, np.ndarray) and name != "steps"
    }
    return learner._replace(**arrays)


def _second_order(learner: Any) -> Any:
    """The learner without its regressions of first order, if it has some."""
    return learner if learner.scales_target() else learner._replace(steps=np.zeros(0))


def _name(learner: Any, k: int) -> str:
    """A regression by its memory, and what else tells it from the others."""
    if learner.scales_target():
        return f"memory {learner.memories[k]:g}, limit {learner.limits[k]:g}"
    return f"memory {learner.memories[k]:g}, flips {learner.flips[k]:g}"
