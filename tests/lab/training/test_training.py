"""The guard holds in all nine scenarios, and each other rule has a scenario in which it fails."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-all installs it")
pytest.importorskip("sklearn")

from holdfast_lab.training import rules  # noqa: E402
from holdfast_lab.training.run import train  # noqa: E402
from holdfast_lab.training.scenarios import SCENARIOS  # noqa: E402

FAILS = {
    rules.Nothing: "A",
    rules.Clip: "B",
    rules.AutoClipped: "B",
    rules.ZClipped: "D",
    rules.SixSigma: "A",
    rules.ZScore: "A",
    rules.MovingMean: "E",
    rules.Finite: "D",
    rules.ZeroNaN: "C",
}


@pytest.mark.parametrize("letter", SCENARIOS)
def test_the_guard_holds(letter):
    squared = letter == "H"
    outcome = train(rules.Ours, SCENARIOS[letter], squared)
    assert not outcome.failed()
    assert outcome.bad_taken == (outcome.bad if letter == "F" else 0)  # F sends only what is taken
    assert outcome.loss < 1.4 * train(rules.Nothing, squared=squared).loss


@pytest.mark.parametrize(("rule", "letter"), FAILS.items(), ids=lambda it: getattr(it, "__name__", it))
def test_each_other_rule_fails_somewhere(rule, letter):
    assert train(rule, SCENARIOS[letter]).failed()


def test_the_rules_of_the_table_are_those_that_are_tested():
    assert set(rules.RULES) == {*FAILS, rules.Ours, rules.OursAtOnePercent}
