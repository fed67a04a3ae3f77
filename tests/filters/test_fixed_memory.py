"""The table of budgets is what the core filters use."""

import pytest

from holdfast import Quantile, TopShare
from holdfast.filters.fixed_memory import budget_table


@pytest.mark.parametrize(
    "rule", [TopShare(0.1, window=40), TopShare(0.3, delta=0.1, window=700, patience=30)]
)
def test_the_table_has_the_budgets_of_later_blocks_too(rule):
    table, budget = budget_table(rule), rule.init(1).budget
    level = 6.0 / 3.141592653589793**2 * rule.delta
    counts = [*range(1, 2 * rule.window + 1), *range(rule.window + 1, 2 * rule.window + 1)]
    assert [budget.at(n, rule.share, level) for n in counts] == [table[n] for n in counts]


def test_other_filters_and_a_share_without_a_window_are_refused():
    with pytest.raises(TypeError, match="TopK or TopShare"):
        budget_table(Quantile(0.9, horizon=10))
    with pytest.raises(ValueError, match="window=1000"):
        budget_table(TopShare(0.01))
