"""The bounds of OGD: against games, and against the paper's."""

import numpy as np
from bounds.inputs import few_gradients, in_order
from hypothesis import given
from hypothesis import strategies as st

import holdfast as hf
from holdfast import bounds
from holdfast.rounds import Round


@given(few_gradients, st.sampled_from([0.1, 0.5, 1.0, 3.0]))
def test_the_learners_bound_holds_at_every_scale_of_its_step(gradients, scale):
    ogd = hf.OGD(hf.domains.Interval(-1.0, 1.0), hf.learners.Adaptive(scale))
    state, regret, sizes = ogd.init(1), abs(sum(gradients)), np.abs(gradients)
    for g in gradients:
        regret += g * ogd.predict(state)[0]
        state = ogd.update(state, Round(g, np.ones(1)))
    G, T = sizes.max(), len(sizes)
    assert in_order(regret, bounds.ogd_hindsight(2.0, sizes, scale), bounds.ogd(2.0, G, T, scale))
    assert in_order(bounds.ogd_hindsight(2.0, sizes), bounds.ogd_paper(2.0, G, T))
    in_any_order = bounds.ogd_strongly_convex_hindsight(0.7, sizes)
    assert in_order(in_any_order, bounds.ogd_strongly_convex(G, 0.7, T))
