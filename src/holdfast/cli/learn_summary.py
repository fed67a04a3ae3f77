"""What holdfast learn prints at the end, and the exit status if too many rows were skipped."""

from pathlib import Path
from typing import Any

from holdfast.runs.settings import learner_name
from holdfast.terminal import DONE, TOO_MANY_SKIPPED, percent, print_error, visible


def summary(found: Any, to: Path, page: Path | None, seconds: float, status: int = DONE) -> list[str]:
    """The result of the run, in a few lines."""
    metrics = found.metrics()
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in metrics["skipped_by_reason"].items())
    share = metrics["skipped"] / max(metrics["rounds"], 1)
    lines = [
        f"{metrics['rounds']:,} rounds in {seconds:.1f} s: {metrics['kept']:,} learned from, "
        f"{metrics['skipped']:,} skipped ({percent(share)})" + (f": {reasons}" if reasons else "")
    ]
    if metrics["learned_little"]:
        lines[0] += f"; {metrics['learned_little']:,} of them have taught a little"
    if metrics["warm_up"]:
        lines.append(f"{metrics['warm_up']:,} rounds of the warm-up: filters had nothing to compare with yet")
    if metrics["error"] is not None:
        lines.append(
            f"{metrics['error_is']}, {asked(found.settings.delay)}: {metrics['error']:.4g} "
            f"on the rounds learned from, {metrics['error_of_all_rounds']:.4g} on all"
        )
    lines.append(f"learned with {learner_name(found.player)} and {found.loss!r}")
    if found.settings.key is not None:
        lines += _key_lines(metrics["keys"])
    if status != DONE:
        lines.append("Stopped, and saved: the same command with --resume goes on.")
    lines.append(f"The run: {to}")
    lines += [f"The report: {page}"] if page else []
    return lines


def asked(delay: int) -> str:
    """When rounds were predicted."""
    if delay == 1:
        return "each round predicted before it was learned from"
    return f"{delay:,} rounds at a time predicted before they were learned from"


def _key_lines(keys: dict[str, Any]) -> list[str]:
    """The summary over keys, and the keys with the largest share of skipped rounds."""
    lines = [
        f"{keys['count']:,} keys, {keys['rounds']['least']:,.0f} to {keys['rounds']['most']:,.0f} rounds each"
    ]
    if keys["error"]:
        spread = keys["error"]
        lines[0] += (
            f"; error from {spread['least']:.4g} to {spread['most']:.4g}, for half of them from "
            f"{spread['lower_quartile']:.4g} to {spread['upper_quartile']:.4g}"
        )
    if keys["evicted"]:
        lines[0] += f"; {keys['evicted']:,} evicted"
    if keys["nothing_learned"]:
        lines.append(
            f"{keys['nothing_learned']:,} of them have learned nothing yet, because they have too few rows. "
            "Use a column with fewer values."
        )
    lines.append("largest share of skipped rounds:")
    for one in keys["most_skipped"]:
        error = f"error {one['error']:.4g}" if one["error"] is not None else "nothing learned"
        skipped = one["rounds"] - one["kept"] - one["warm_up"]
        key = visible(one["key"] or "(none)", 80)
        lines.append(f"  {key:20} {one['rounds']:>9,} rounds, {skipped:,} skipped, {error}")
    return lines


def skipped_status(limit: float | None, rounds: int, skipped: int) -> int:
    """The exit status for --fail-if-skipped. Prints why, if it is not 0."""
    if limit is None or skipped <= limit * rounds:
        return DONE
    print_error(
        f"{skipped:,} of {rounds:,} rows were skipped ({100.0 * skipped / rounds:.3g} %), more than "
        f"--fail-if-skipped {100.0 * limit:.3g}%; what was learned is saved: see holdfast audit"
    )
    return TOO_MANY_SKIPPED
