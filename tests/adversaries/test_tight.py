"""On this sequence Algorithm 1 with OGD pays 4 D G k, and not more than Theorem 1 allows."""

import math

import numpy as np
import pytest

import holdfast as hf
from holdfast.adversaries import Tight


@pytest.mark.parametrize("k", [1, 2, 5, 50, 500])
@pytest.mark.parametrize("G, D", [(1.0, 1.0), (3.0, 0.5)])
def test_the_regret_is_four_d_g_k_and_theorem_1_holds(k, G, D):
    tight = Tight(k, G, D)
    record = hf.play(hf.Filtered(hf.OGD(tight.domain), hf.TopK(k)), tight, compiled=False)
    g, inliers = tight.stream.G[:, 0], tight.inliers
    regret = (record.losses - tight.comparator[0] * g)[inliers].sum()
    assert (~inliers).sum() == k
    assert record.kept[~inliers].all()
    assert not record.kept[k + 1 : 15 * k + 1].any()  # the inliers of growing size
    assert regret >= 0.99 * 4.0 * D * G * k
    assert regret <= math.sqrt(2.0) * D * math.sqrt(np.sum(g[record.kept] ** 2)) + 4.0 * D * G * k
    if k >= 50:
        assert regret <= 1.01 * 4.0 * D * G * k
