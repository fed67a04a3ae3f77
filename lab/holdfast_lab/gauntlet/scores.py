"""What is measured of a contestant in a scenario."""

import math
from typing import Any, NamedTuple

import numpy as np

WINDOW, RECOVERED = 50, 1.5  # rows of a running error, and how many times the oracle's it may be


class Score(NamedTuple):
    """One contestant in one scenario. None where it cannot be said; `cost` and `excess` too if it broke."""

    cost: float | None  # in the unit of the scenario: an error, a loss, a regret
    excess: float | None  # the cost beyond the oracle's; 0 is the oracle
    good_lost: float | None = None  # share of the good rounds that it left out, if it says so
    bad_learned: float | None = None  # share of the bad rounds that it used, if it says so
    recovered: bool | None = None  # whether its error came back after the last bad round
    recovered_after: int | None = None  # after how many rounds
    broken: bool = False  # NaN, infinity or an exception
    note: str = ""
    microseconds: float | None = None  # of the processor a round; not the same in each run

    def without_time(self) -> dict[str, Any]:
        """What is the same for the same seed."""
        return self._replace(microseconds=None)._asdict()


def recovery(errors: np.ndarray, oracle: np.ndarray) -> tuple[bool, int | None]:
    """Whether a running error is near the oracle's again, and after how many scored rounds.

    `errors` and `oracle` are of the scored rounds after the last bad one.

    >>> recovery(np.r_[np.full(60, 9.0), np.ones(200)], np.ones(260))
    (True, 106)
    >>> recovery(np.full(260, 9.0), np.ones(260))
    (False, None)
    """
    if len(errors) < WINDOW:
        return True, 0
    window = np.ones(WINDOW)
    with np.errstate(all="ignore"):
        sums, least = np.convolve(errors, window, "valid"), np.convolve(oracle, window, "valid")
        fine = sums <= RECOVERED * least + 1e-12 * WINDOW
    if not fine.any():
        return False, None
    first = int(np.argmax(fine))
    return True, 0 if first == 0 else first + WINDOW - 1


def finite(value: float) -> float | None:
    """A number, or None for NaN and infinity: JSON has neither."""
    return float(value) if math.isfinite(value) else None
