"""A guard with three checks, from their filters."""

import holdfast as hf
from holdfast.checks import usual_checks

WIDE, NARROW = hf.TopShare(0.1, slack=4.5), hf.TopShare(0.01)
L2, GRADIENT = hf.norms.L2(), hf.Gradient()


def guarded(learner, features=WIDE, target=WIDE, gradient=NARROW, labels=False, norm=L2, on=GRADIENT):
    """With `on=Features()` the last check is that of the features."""
    checks = usual_checks(features, target, gradient, labels, on)
    return hf.Guarded(learner, checks[1:] if on == hf.Features() else checks, norm)
