"""Norm traces: the oracle costs nothing, who takes no step costs all, and the known holes are found."""

import pytest

from holdfast_lab.gauntlet.stepping import STEPPERS, Stepper, of_rule
from holdfast_lab.gauntlet.traces import TraceScenario, make_trace, play_trace


class Never:
    def keep(self, size):
        return False


def play(name, kind, share=0.0, steps=600):
    return play_trace(STEPPERS[name], make_trace(TraceScenario("gpt_clean", kind, share, steps)))


def test_who_takes_nothing_costs_one_and_everything_good_is_lost():
    score = play_trace(Stepper(of_rule(Never)), make_trace(TraceScenario("gpt_clean", steps=300)))
    assert score.cost == pytest.approx(1.0)
    assert score.good_lost == 1.0
    assert score.recovered is False


def test_without_bad_steps_who_takes_all_costs_nothing():
    score = play("none", "as recorded")
    assert (score.cost, score.good_lost, score.bad_learned) == (0.0, 0.0, None)


@pytest.mark.parametrize("kind", ["masking", "one NaN", "early spike", "many NaN", "infinite"])
def test_our_filters_take_no_bad_step(kind):
    score = play("holdfast", kind)
    assert score.bad_learned == 0.0
    assert score.good_lost < 0.05
    assert score.recovered


def test_a_nan_breaks_who_multiplies_or_compares_with_it():
    broken = {name for name in STEPPERS if play(name, "one NaN").broken}
    assert broken >= {"none", "fixed clip", "AutoClip", "ZClip", "OLMo-core", "levanter"}
    assert not broken & {"holdfast", "MaxText", "axlearn", "icefall", "apply_if_finite"}


def test_a_masked_spike_is_taken_by_rules_of_deviations():
    assert play("MaxText", "masking").bad_learned == 0.5
    assert play("axlearn", "masking").bad_learned == 0.0


def test_a_new_scale_locks_a_moving_mean_out_and_not_us():
    assert play("axlearn", "new scale").good_lost > 0.4
    assert play("holdfast", "new scale").good_lost < 0.2


def test_a_ramp_is_just_what_is_taken():
    assert play("axlearn", "ramp", steps=400).bad_learned > 0.9


def test_the_same_scenario_gives_the_same_score():
    assert play("holdfast", "spikes", 0.1).without_time() == play("holdfast", "spikes", 0.1).without_time()
