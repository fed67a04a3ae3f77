"""The table of budgets is what the core filters use, and settings are read as users mean them."""

import pytest

from holdfast import Quantile, TopK, TopShare
from holdfast.filters.fixed_memory import budget_table, filter_for_training


@pytest.mark.parametrize(
    "rule", [TopShare(0.1, window=40), TopShare(0.3, delta=0.1, window=700, patience=30)]
)
def test_the_table_has_the_budgets_of_later_blocks_too(rule):
    table, budget = budget_table(rule), rule.init(1).budget
    level = 6.0 / 3.141592653589793**2 * rule.delta
    counts = [*range(1, 2 * rule.window + 1), *range(rule.window + 1, 2 * rule.window + 1)]
    assert [budget.at(n, rule.share, level) for n in counts] == [table[n] for n in counts]


def test_a_share_lies_below_1_and_a_number_of_steps_is_whole():
    assert filter_for_training(0.01, 50, 2.0) == TopShare(0.01, exact=True, window=50)
    assert filter_for_training(3, None, 1.5) == TopK(3, slack=1.5)
    assert filter_for_training(TopShare(0.1), 9, 2.0).exact
    for wrong in (0, -1, 1.5, True, "many", float("nan")):
        with pytest.raises(ValueError, match="got"):
            filter_for_training(wrong, 50, 2.0)


def test_other_filters_and_a_share_without_a_window_are_refused():
    with pytest.raises(TypeError, match="TopK or TopShare"):
        budget_table(Quantile(0.9, horizon=10))
    with pytest.raises(ValueError, match="window=1000"):
        budget_table(TopShare(0.01))
