"""`holdfast learners --search`: the needs of each learner, and its largest regret / bound."""

import math

from holdfast.terminal import overwrite, tell
from holdfast_lab.bench.table import put_between_markers
from holdfast_lab.trials.learners_table import about
from holdfast_lab.trials.worst import CASES, search

WORST = ("<!-- holdfast learners --search: begin -->", "<!-- holdfast learners --search: end -->")
STEPS, FEW = 2_000, 200
_HEAD = ("learner", "domain", "size", "losses", "bound", "worst ratio", "in rounds", "a round costs")


def search_all(quick=False, page=None, cases=CASES, steps=None):
    """Climb for all learners and print; with `page`, write the table into that file."""
    lines, steps = [], steps or (FEW if quick else STEPS)
    for number, (name, case) in enumerate(cases.items(), 1):
        overwrite(f"{name}: climbing, {number} of {len(cases)}")
        found, needs = search(case, steps), case.learner.needs()
        bound = "proved" if needs.proved else "**not verified**"
        figures = (
            needs.domain,
            needs.size,
            needs.losses,
            bound,
            ratio(found.worst),
            str(found.rounds),
            case.cost,
        )
        lines.append((name, *figures))
        tell(f"{name.replace('`', ''):34}{ratio(found.worst):>8} after {found.rounds} rounds")
    if page is not None:
        head = [f"| {' | '.join(_HEAD)} |", "|---|---|---|---|---|--:|--:|---|"]
        rows = [f"| {' | '.join(line)} |" for line in lines]
        put_between_markers(page, "\n".join([*head, *rows, "", about(quick, page, " --search"), ""]), WORST)


def ratio(value):
    """Never rounded up to 1, nor down from more than 1."""
    if value > 1.0 + 1e-9:
        return f"{value:.9f}"
    return "1" if value >= 1.0 - 1e-9 else f"{math.floor(1e3 * value) / 1e3:.3f}"
