"""Which states are kept: never one that was dropped, few, and near enough to every round."""

import math

import pytest

from holdfast.earlier_states import keep


@pytest.mark.parametrize("recent", [2, 3, 5, 9])
def test_no_state_is_needed_that_was_dropped_and_few_are_kept(recent):
    for last in range(1, 3_000):
        kept = keep(last, recent)
        assert keep(last + 1, recent) <= kept | {last + 1}
        assert len(kept) <= recent + math.ceil(recent / 2) * (1 + math.log2(max(last / recent, 1))) + 1
        assert {0, last} <= kept


@pytest.mark.parametrize("recent", [2, 3, 5, 9])
def test_less_than_the_proved_multiple_of_the_age_is_replayed_and_the_bound_is_tight(recent):
    factor, found = 1 + 2 / (recent - 1), 0.0
    for last in (17, 100, 768, 1_023, 1_024, 3_000):
        kept = sorted(keep(last, recent))
        for t in range(1, last + 1):
            before = max(c for c in kept if c < t)
            ratio = (last - before) / (last - t + 1)
            assert ratio < factor
            found = max(found, ratio)
    assert found > 0.99 * factor


def test_of_a_million_states_few_are_kept():
    assert len(keep(1_000_000)) == 27
