"""`TopK` and `TopShare` for code that runs on a device: a list of fixed length, and a table of budgets."""

import math
import numbers

from holdfast.filters.topk import TopK
from holdfast.filters.topshare import TopShare


def budget_table(rule):
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


def filter_for_training(outliers, window, slack):
    """The filter that a share of the steps, a number of steps, or a filter stands for."""
    if isinstance(outliers, TopK):
        return outliers
    if isinstance(outliers, TopShare):
        return outliers._replace(exact=True)
    if isinstance(outliers, bool) or not isinstance(outliers, numbers.Real) or not 0.0 < outliers < math.inf:
        raise ValueError(
            f"outliers is a share below 1, a number of steps, a TopK or a TopShare: got {outliers!r}"
        )
    if outliers < 1.0:
        return TopShare(float(outliers), slack=slack, exact=True, window=window)
    if outliers != int(outliers):
        raise ValueError(f"outliers of 1 or more is a number of steps: got {outliers}; a share lies below 1")
    return TopK(int(outliers), slack=slack, window=window)
