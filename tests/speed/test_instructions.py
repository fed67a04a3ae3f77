"""A round of a compiled game takes no more instructions than it did: a guard that no clock can trip."""

import pytest
from speed.counting import NOWHERE, counts, obstacle

pytestmark = [
    pytest.mark.exhaustive,  # for minutes: under callgrind it already takes one to start numba
    pytest.mark.skipif(obstacle() is not None, reason=obstacle() or ""),
]

# Instructions a round, as `python tests/speed/counting.py` prints them. Dense rows have 100 entries, those
# of the guard and of the defaults 20, sparse ones 30 nonzeros. Write new ones when a change is meant to make
# a game cheaper, or is worth what it costs.
KNOWN = {
    "Hinge Everything": 345,
    "Hinge TopK": 360,
    "Hinge TopShare": 378,
    "Hinge Quantile": 423,
    "Logistic Everything": 650,
    "Logistic TopK": 669,
    "Logistic TopShare": 700,
    "Logistic Quantile": 783,
    "default for numbers": 8274,
    "default for labels": 10257,
    "guarded": 1212,
    "unguarded": 1065,
    "sparse 2^16 Everything": 938,
    "sparse 2^20 Everything": 938,
    "sparse 2^16 TopShare": 978,
    "sparse 2^20 TopShare": 978,
}
DEFAULTS = [name for name in KNOWN if name.startswith("default")]


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    return counts(tmp_path_factory.mktemp("speed"))


def test_every_game_is_known(counted):
    assert set(counted) == set(KNOWN)


@pytest.mark.parametrize("name", list(KNOWN))
def test_a_round_takes_at_most_a_quarter_more_instructions_than_it_did(counted, name):
    assert 0 < counted[name].instructions <= 1.25 * KNOWN[name]


@pytest.mark.parametrize("loss", ["Hinge", "Logistic"])
@pytest.mark.parametrize(("filter", "most"), [("TopK", 30), ("TopShare", 80), ("Quantile", 180)])
def test_a_filter_takes_a_few_instructions_more_than_none(counted, loss, filter, most):
    assert counted[f"{loss} {filter}"].instructions - counted[f"{loss} Everything"].instructions <= most


def test_the_guard_takes_a_few_instructions_more_than_its_learner(counted):
    assert counted["guarded"].instructions <= 1.25 * counted["unguarded"].instructions


@pytest.mark.parametrize("filter", ["Everything", "TopShare"])
def test_with_sparse_rows_sixteen_times_the_dimensions_cost_nothing(counted, filter):
    few, many = (counted[f"sparse 2^{bits} {filter}"].instructions for bits in (16, 20))
    assert many == pytest.approx(few, rel=0.05)


@pytest.mark.parametrize("name", [name for name in KNOWN if name not in DEFAULTS])
def test_a_round_calls_dot_products_and_exp_fills_arrays_and_calls_nothing_else(counted, name):
    """Above all it counts no references: these are functions of four instructions, one of them atomic."""
    for (place, function), (times, cost) in counted[name].calls.items():
        if times > 0.02 and not ("exp" in function or "memset" in function):
            assert place == NOWHERE and cost > 40, (function, times, cost)


@pytest.mark.parametrize("name", DEFAULTS)
def test_the_defaults_count_no_references_but_those_of_arrays_they_make(counted, name):
    """A state has dozens of arrays, and to count a reference takes four instructions."""
    calls = counted[name].calls.items()
    references = sum(times for (place, _), (times, cost) in calls if place == NOWHERE and cost < 10)
    made = sum(times for (_, function), (times, _) in calls if "alloc" in function)
    assert references <= made + 0.02
