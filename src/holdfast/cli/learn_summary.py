"""What holdfast learn prints at the end, and the exit status if too many rows were skipped."""

from pathlib import Path
from typing import Any

from holdfast.learners import Scaled
from holdfast.runs.beginning import LOSS_OF
from holdfast.runs.run import Run
from holdfast.terminal import DONE, TOO_MANY_SKIPPED, print_error, shown, visible

WHY = {  # the reason of a skipped row, as the end of "38 ..."
    "features": "for a feature",
    "target": "for the target",
    "gradient": "for a large error",
    "not readable": "with a missing or unreadable value",
}


def summary(found: Run, to: Path, page: Path | None, seconds: float, status: int = DONE) -> list[str]:
    metrics = found.metrics()
    lines = [learned_and_skipped(metrics), *errors(metrics, found.settings.delay)]
    lines.append(f"Model: {model_words(found)}; {seconds:.1f} s")
    if found.settings.key is not None:
        lines += _key_lines(metrics["keys"])
    lines += [f"Warning: {sentence}" for sentence in metrics["warnings"]]
    if status != DONE:
        lines.append("Stopped, and saved: the same command with --resume goes on.")
    lines.append(f"The run: {to}")
    lines += [f"The report: {page}"] if page else []
    return lines


def learned_and_skipped(metrics: dict[str, Any]) -> str:
    """How many rows were learned from, and how many skipped and why.

    >>> figures = {"kept": 13474, "skipped": 44, "rounds": 13518, "learned_little": 0, "warm_up": 0}
    >>> print(learned_and_skipped(figures | {"skipped_by_reason": {"features": 38, "target": 6}}))
    Learned from 13,474 rows; skipped 44 (38 for a feature, 6 for the target).
    """
    reasons = sorted(metrics["skipped_by_reason"].items(), key=lambda item: -item[1])
    why = ", ".join(f"{count:,} {WHY.get(reason, reason)}" for reason, count in reasons)
    words = f"Learned from {metrics['kept']:,} rows; skipped {metrics['skipped']:,}"
    words += f" ({why})." if why else "."
    if metrics["learned_little"]:
        words += f" {metrics['learned_little']:,} of them taught the model a little."
    if metrics["warm_up"]:
        words += f" {metrics['warm_up']:,} more, in the warm-up, had nothing to be compared with."
    return words


def errors(metrics: dict[str, Any], delay: int) -> list[str]:
    """The error on the rows learned from, beside the baseline, and on all rows if some were skipped."""
    if metrics["error"] is None:
        return []
    words = f"{metrics['error_is'].capitalize()}: {shown(metrics['error'])}"
    words += f" (baseline {shown(metrics['baseline'])})" if metrics["baseline"] is not None else ""
    words += f", {asked(delay)}"
    if metrics["skipped"] and metrics["error_of_all_rounds"] is not None:
        words += f"; with the skipped rows {shown(metrics['error_of_all_rounds'])}"
    return [words]


def model_words(found: Run) -> str:
    """The learner, the loss and the filters of a run, by the names of the options."""
    settings = found.settings
    loss = settings.loss if settings.loss != "auto" else LOSS_OF[found.regression]
    names = {"Ridges": "linear, with several memories", "Logits": "logistic, with several memories"}
    learner = found.player.core().learner
    learner = type(learner.learner if isinstance(learner, Scaled) else learner).__name__
    return f"{names.get(learner, learner)}; loss {loss.replace('_', ' ')}; outliers {settings.outliers}"


def asked(delay: int) -> str:
    if delay == 1:
        return "each row predicted before it was learned from"
    return f"{delay:,} rows at a time predicted before they were learned from"


def _key_lines(keys: dict[str, Any]) -> list[str]:
    """The summary over keys, and the keys with the largest share of skipped rounds."""
    lines = [
        f"{keys['count']:,} keys, {keys['rounds']['least']:,.0f} to {keys['rounds']['most']:,.0f} rows each"
    ]
    if keys["error"]:
        spread = keys["error"]
        lines[0] += (
            f"; error from {shown(spread['least'])} to {shown(spread['most'])}, for half of them from "
            f"{shown(spread['lower_quartile'])} to {shown(spread['upper_quartile'])}"
        )
    if keys["evicted"]:
        lines[0] += f"; {keys['evicted']:,} evicted"
    if keys["nothing_learned"]:
        lines.append(
            f"{keys['nothing_learned']:,} of them have learned nothing yet, because they have too few rows. "
            "Use a column with fewer values."
        )
    lines.append("largest share of skipped rows:")
    for one in keys["most_skipped"]:
        error = f"error {shown(one['error'])}" if one["error"] is not None else "nothing learned"
        skipped = one["rounds"] - one["kept"] - one["warm_up"]
        key = visible(one["key"] or "(none)", 80)
        lines.append(f"  {key:20} {one['rounds']:>9,} rows, {skipped:,} skipped, {error}")
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
