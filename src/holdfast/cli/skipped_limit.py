"""`--fail-if-skipped`: an exit status of its own if too many rows were skipped."""

import argparse

from holdfast.terminal import DONE, TOO_MANY_SKIPPED, print_error, quoted


def share(text):
    """A share such as 20% or 0.2."""
    try:
        found = float(text[:-1]) / 100.0 if text.endswith("%") else float(text)
    except ValueError:
        found = -1.0
    if not 0.0 <= found < 1.0:
        raise argparse.ArgumentTypeError(f"a share such as 20% or 0.2: got {quoted(text)}")
    return found


def skipped_status(limit, rounds, skipped):
    """The exit status after so many rounds, of which some were skipped. Prints why, if it is not 0."""
    if limit is None or skipped <= limit * rounds:
        return DONE
    print_error(
        f"{skipped:,} of {rounds:,} rows were skipped ({100.0 * skipped / rounds:.3g} %), more than "
        f"--fail-if-skipped {100.0 * limit:.3g}%; what was learned is saved: see holdfast audit"
    )
    return TOO_MANY_SKIPPED
