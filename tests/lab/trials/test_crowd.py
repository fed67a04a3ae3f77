"""Many more experts than rounds: robustness is almost free there, as the paper remarks."""

import pytest

from holdfast import bounds
from holdfast_lab.trials import crowd


@pytest.mark.exhaustive
def test_with_100_000_experts_and_1_000_rounds_robustness_is_almost_free():
    cost = crowd.measure(100_000)
    assert (
        cost.filtered
        <= cost.bound + cost.overhead
        == bounds.theorem_1(cost.bound, 1.0, cost.overhead / 20.0, 5)
    )
    assert cost.filtered - cost.clean <= 0.05 * cost.bound
    assert cost.overhead <= 0.5 * cost.bound
    assert cost.alone > 2.0 * cost.filtered


def test_with_few_experts_it_is_what_costs_most():
    cost = crowd.measure(10, compiled=False)
    assert cost.filtered <= cost.bound + cost.overhead
    assert cost.overhead > 2.0 * cost.bound


def test_the_table_is_written_between_its_markers(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n{}\nstale\n{}\nafter\n".format(*crowd.CROWD), encoding="utf-8")
    crowd.measure_crowds(page=page, counts=(10, 100), compiled=False)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("after\n") and "stale" not in text
    assert "| 10 | " in text and "| 100 | " in text
