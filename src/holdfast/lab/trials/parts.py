"""A player made of parts that forget: a candidate for the default for numbers.

The constants were chosen on the four regression data sets (natural, and with 1 % of the rounds corrupted) and
on the streams of `drift_streams` with seed 0. Nine other changes and other seeds were kept apart.
"""

import holdfast as hf
from holdfast.learners import AdaGrad, HuberWeights, Mixture, Redescending, RobustRidge, Scaled

_FEATURE_SLACK, _TARGET_SLACK = 15.0, 100.0
_NO_CLIP = 1e6  # the filter skips what is too far, so rare large values that are right need no clip


def forgetful(memory=300, patience=1000, window=5000):
    """A guard with windows, fading scales, and a mixture of ridge regressions and AdaGrad.

    Four ridge regressions forget at different rates, and each gives a round less weight the larger its
    residual is. AdaGrad learns where these fail. The mixture follows the best of them. The target filter is
    wide, because the ridge regressions withstand targets themselves: it is there for the scale.

    Parameters
    ----------
    memory : float
        Of the scales, in rounds. After a change of all targets by 1,000 standard deviations, 1,000 are too
        many.
    patience : int
        So many bad rounds in a row are withstood, and as many good ones are lost after a change of units.
    window : int
        Of the filters, in rounds.

    Guarantee: none for the whole. The filters keep no row that is larger than 15 times the largest good row
    of the window, in the units of the scale, if at most 10 % of the window and no run longer than `patience`
    is bad (Theorem W).
    """
    ridges = (
        RobustRidge(weights=Redescending(3.0)),
        RobustRidge(memory=1000.0, weights=HuberWeights(0.7)),
        RobustRidge(memory=100.0, weights=Redescending(3.0)),
        RobustRidge(memory=33.0, weights=Redescending(3.0)),
    )
    first_order = AdaGrad(hf.Box(-10.0, 10.0), rate=0.008, ballast=1.0)
    mixture = Mixture((*ridges, first_order), hf.Absolute(), share=0.001)
    return hf.Guarded(
        Scaled(mixture, target=True, clip=_NO_CLIP, memory=float(memory)),
        hf.TopShare(0.1, slack=_FEATURE_SLACK, window=window, patience=patience),
        hf.TopShare(0.1, slack=_TARGET_SLACK, window=window, patience=patience),
        hf.Everything(),
    )
