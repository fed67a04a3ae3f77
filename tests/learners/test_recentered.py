"""Learners made for domains around 0, elsewhere: the same but for where they are, and within their bounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from learners.trials import streams

import holdfast as hf
from holdfast.learners import Recentered
from holdfast.rounds import Round
from holdfast_lab.trials.ratios import curved_ratio, learned, linear_ratio

HERE = np.array([3.0, -2.0])
MAKERS = {
    "AdaFTRL": lambda around: hf.AdaFTRL(hf.Ball(0.5, around)),
    "ONS": lambda around: hf.ONS(hf.Ball(0.5, around), alpha=0.3),
    "MetaGrad": lambda around: hf.learners.Clipped(hf.MetaGrad(hf.Ball(0.5, around), etas=3)),
    "AdaGrad": lambda around: hf.AdaGrad(hf.Ball(0.5, around), rate=0.7),
    "AdaGrad on a simplex": lambda around: hf.AdaGrad(
        hf.domains.Shifted(hf.Simplex(), around) if np.any(around) else hf.Simplex()
    ),
}
every = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
far_away = pytest.mark.parametrize("around", [HERE, 1.5, 1e6], ids=str)


@every
@far_away
def test_it_plays_as_it_does_around_0(make, around):
    home, away, G = make(0.0), make(around), np.random.default_rng(0).standard_normal((40, 2))
    one, other = home.init(2), away.init(2)
    for g in G:
        one, other = home.update(one, Round(1.0, g)), away.update(other, Round(1.0, g))
        assert away.predict(other) == pytest.approx(home.predict(one) + around, rel=1e-12, abs=1e-12)
        assert away.domain.contains(away.predict(other))
    u = np.array([0.3, 0.2])
    assert away.bound(other, u + around) == pytest.approx(home.bound(one, u), rel=1e-9)


@pytest.mark.parametrize("name", ["AdaFTRL", "MetaGrad", "AdaGrad", "AdaGrad on a simplex"])
def test_the_regret_is_at_most_its_bound(name):
    @settings(max_examples=25)
    @given(streams(rounds=15))
    def holds(G):
        assert linear_ratio(MAKERS[name](HERE), G) <= 1.0 + 1e-9

    holds()


@settings(max_examples=25)
@given(streams(rounds=15))
def test_that_of_the_newton_step_too(G):
    assert curved_ratio(MAKERS["ONS"](HERE), G) <= 1.0 + 1e-9


def test_there_are_certificates_there():
    player = hf.Filtered(MAKERS["AdaFTRL"](HERE), hf.TopK(2))
    record = hf.play(player, hf.Gradients(np.random.default_rng(1).standard_normal((50, 2))), compiled=False)
    assert record.certificate(k=2).bound > 0.0


def test_it_is_made_by_the_learner_itself():
    assert MAKERS["AdaFTRL"](HERE) == Recentered(hf.AdaFTRL(hf.Ball(0.5)), hf.Ball(0.5, HERE))
    assert learned(MAKERS["AdaFTRL"](HERE), np.zeros((3, 2)))[1].w.tolist() == HERE.tolist()


@pytest.mark.parametrize(
    "domain", [hf.domains.L1Ball(1.0, around=2.0), hf.domains.Ellipsoid(np.eye(2), around=2.0)], ids=repr
)
@pytest.mark.parametrize("make", [hf.AdaFTRL, hf.AdaGrad, hf.MetaGrad, lambda d: hf.ONS(d, 1.0)])
def test_what_is_refused_around_0_is_refused_elsewhere(make, domain):
    with pytest.raises(TypeError, match="got"):
        make(domain)
