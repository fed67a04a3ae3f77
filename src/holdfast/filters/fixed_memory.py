"""`TopK` and `TopShare` for code that runs on a device: a list of fixed length, and a table of budgets."""

import math
from typing import Any

from holdfast.filters.topk import TopK
from holdfast.filters.topshare import TopShare


def budget_table(rule: Any) -> list[int]:
    """How many outliers are allowed among n remembered sizes, for n = 0, 1, 2, ...

    The largest entry plus one is the number of sizes that have to be remembered. Beyond the end of the table
    the last entry holds.

    >>> budget_table(TopK(3))
    [3]
    >>> budget_table(TopShare(0.1, window=5))
    [0, 1, 2, 3, 4, 4, 4, 4, 5, 5, 5]
    """
    if isinstance(rule, TopK):
        return [rule.k]
    if not isinstance(rule, TopShare):
        raise TypeError(f"training is guarded by TopK or TopShare: got {rule!r}")
    if rule.window is None:
        raise ValueError(
            f"{rule!r} needs a longer list in every step, and on a device its length must be fixed: "
            "add window=1000, or use TopK(k)"
        )
    schedule = rule.init(1).budget
    level = 6.0 / (math.pi * math.pi) * rule.delta
    return [0] + [schedule.at(n, rule.share, level) for n in range(1, 2 * rule.window + 1)]
