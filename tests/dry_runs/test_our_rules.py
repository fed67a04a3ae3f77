"""The rules of holdfast pass the checks."""

import numpy as np
import pytest
import samples
from dry_runs.mistakes import with_filter
from guards import guarded

from holdfast import (
    OGD,
    Ball,
    Certified,
    Features,
    Filtered,
    Scaled,
    TopK,
    protocols,
)
from holdfast.dry_run import check_first_round, check_measure, check_results
from holdfast.measures import Gradient, LossForm
from holdfast.rule import rule


@pytest.mark.parametrize(
    ("role", "ours"),
    [
        *((protocols.Filter, ours) for ours in samples.FILTERS),
        *((protocols.Norm, ours) for ours in samples.NORMS),
        *((protocols.Domain, ours) for ours in samples.DOMAINS),
        *((protocols.Step, ours) for ours in samples.STEPS),
        *((protocols.Loss, ours) for ours in samples.LOSSES),
        *((protocols.Learner, ours) for ours in (*samples.LEARNERS, *samples.SCALED)),
        *((protocols.Player, Filtered(ours, TopK(1))) for ours in (*samples.LEARNERS, *samples.SCALED)),
        *((protocols.Player, ours) for ours in samples.GUARDED),
        (protocols.Player, Certified(Filtered(OGD(Ball(1.0)), TopK(1)), 1)),
    ],
    ids=repr,
)
def test_our_own_rules_pass_the_checks(role, ours):
    with np.errstate(all="ignore"):
        check_results(ours, role, dim=2)


@pytest.mark.parametrize("on", [Gradient(), Features(), LossForm(1.0)], ids=repr)
@pytest.mark.parametrize("kind", [Filtered, guarded])
def test_our_own_measures_pass_the_checks(kind, on):
    check_measure(kind(Scaled(OGD(Ball(1.0))), TopK(1), on=on), on, 2)


def test_rules_may_divide_by_zero_without_a_warning():
    @rule
    class Dividing:
        def init(self, dim):
            return 0.0

        def decide(self, state, size):
            return state, float(np.float64(1.0) / np.float64(0.0)), True

    check_first_round(with_filter(Dividing()), 2)
