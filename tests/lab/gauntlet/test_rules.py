"""Rules of other projects do what their sources do; and each of the known holes is there."""

import math

import numpy as np
import pytest

from holdfast_lab.gauntlet.optimizers import AdamW, Recorder, norm_of
from holdfast_lab.gauntlet.rules.adagc import AdaGC
from holdfast_lab.gauntlet.rules.autoclip import AutoClip
from holdfast_lab.gauntlet.rules.axlearn import Axlearn
from holdfast_lab.gauntlet.rules.fixed_clip import FixedClip
from holdfast_lab.gauntlet.rules.icefall import Icefall
from holdfast_lab.gauntlet.rules.if_finite import IfFinite
from holdfast_lab.gauntlet.rules.levanter import Levanter
from holdfast_lab.gauntlet.rules.llm_c import LlmC
from holdfast_lab.gauntlet.rules.maxtext import MaxText
from holdfast_lab.gauntlet.rules.olmo_core import OLMoCore
from holdfast_lab.gauntlet.rules.spam import Spam
from holdfast_lab.gauntlet.rules.zclip import ZClip
from holdfast_lab.gauntlet.stepping import STEPPERS, Ruled


def steady(count, seed=0):
    return np.random.default_rng(seed).lognormal(0.0, 0.2, count).tolist()


def after(rule, norms):
    for norm in norms:
        rule.keep(norm)
    return rule


def test_a_fixed_clip_multiplies_so_that_the_norm_is_the_limit():
    assert FixedClip(1.0).keep(0.5) == 1.0
    assert FixedClip(1.0).keep(100.0) == pytest.approx(0.01)
    assert math.isnan(FixedClip(1.0).keep(math.nan))


def test_autoclip_takes_the_percentile_of_all_norms_with_the_new_one():
    norms = steady(50)
    rule = AutoClip()
    factors = [rule.keep(norm) for norm in norms]
    for t, norm in enumerate(norms):
        limit = np.percentile(norms[: t + 1], 10.0)
        assert factors[t] == pytest.approx(min(1.0, limit / (norm + 1e-6)))


def test_zclip_shortens_what_is_far_above_its_mean_and_stops_at_nan():
    rule = after(ZClip(max_norm=math.inf), steady(200))
    z = (50.0 - rule.mean) / (math.sqrt(rule.variance) + 1e-6)
    expected = (rule.mean + 2.5 * math.sqrt(rule.variance) / (z / 2.5)) / 50.0
    assert rule.keep(50.0) == pytest.approx(expected, rel=1e-4)
    assert rule.keep(math.nan) == 1.0
    assert rule.keep(1e6) == 1.0  # its mean is NaN from now on


@pytest.mark.parametrize("rule", [OLMoCore, Levanter, MaxText])
def test_six_sigma_rules_skip_a_spike_and_are_masked_by_it(rule):
    rule = after(rule(), steady(100))
    assert not rule.keep(1e6)
    assert after(rule, steady(19, seed=1)).keep(4e5)


@pytest.mark.parametrize(("rule", "first"), [(OLMoCore, 64), (Levanter, 65), (MaxText, 64), (LlmC, 129)])
def test_six_sigma_rules_judge_from_a_step_on(rule, first):
    before = after(rule(), steady(first - 2))
    assert before.keep(1e6)
    assert not after(rule(), steady(first - 1)).keep(1e6)


def test_axlearn_is_locked_out_by_a_new_scale():
    rule = after(Axlearn(), steady(500))
    assert not any(rule.keep(100.0 * norm) for norm in steady(2000, seed=1))


def test_icefall_clips_at_twice_the_median_of_the_last_hundred():
    norms = steady(101)
    rule = after(Icefall(), norms)
    median = sorted(norms[1:])[50]
    assert rule.keep(1e3) == pytest.approx(2.0 * median / 1e3)
    assert rule.keep(math.nan) == 0.0


def test_apply_if_finite_is_that_of_optax():
    jax = pytest.importorskip("jax", reason="JAX is not installed: make test-all installs it")
    optax = pytest.importorskip("optax", reason="Optax is not installed: make test-all installs it")
    theirs, mine = optax.apply_if_finite(optax.sgd(1.0), max_consecutive_errors=2), IfFinite(2)
    state = theirs.init(jax.numpy.zeros(1))
    for t in np.random.default_rng(0).integers(3, size=60).tolist():
        norm = 1.0 if t == 0 else math.nan
        updates, state = theirs.update(jax.numpy.array([norm]), state)
        assert bool(updates[0] != 0.0) == mine.keep(norm)  # NaN is not 0


def test_adagc_clips_each_tensor_at_its_own_mean():
    recorder = AdamW([np.zeros(1), np.zeros(1)])
    seen = []
    recorder.step = lambda gradients, rate=1.0: seen.append([float(g[0]) for g in gradients])
    rule = AdaGC(recorder)
    for _ in range(150):
        rule.step([np.array([0.1]), np.array([0.5])])
    rule.step([np.array([10.0]), np.array([0.5])])
    assert seen[-1][0] == pytest.approx(1.05 * 0.1, rel=1e-3)
    assert seen[-1][1] == pytest.approx(0.5)


def test_spam_clips_single_entries():
    seen = []
    recorder = Recorder()
    recorder.step = lambda gradients, rate=1.0: seen.append(gradients[0].copy())
    rule = Spam(recorder)
    for _ in range(400):
        rule.step([np.array([1.0, 1.0])])
    rule.step([np.array([1.0, 1e6])])
    assert seen[-1][0] == 1.0
    assert seen[-1][1] < 100.0


def test_zero_times_nan_reaches_the_weights_of_who_multiplies():
    for rule, destroyed in ((OLMoCore, True), (MaxText, False)):
        optimizer = AdamW([np.ones(2)])
        ruled = Ruled(rule(), optimizer)
        for norm in steady(100):
            ruled.step([np.array([norm, 0.0])])
        ruled.step([np.array([math.nan, 0.0])])
        assert np.isnan(optimizer.weights[0]).any() == destroyed


def test_what_is_skipped_by_zero_leaves_finite_weights_as_they_were():
    optimizer = AdamW([np.ones(1)])
    ruled = Ruled(OLMoCore(), optimizer)
    for norm in steady(100):
        ruled.step([np.array([norm])])
    before = [array.copy() for array in optimizer.arrays()]
    ruled.step([np.array([1e6])])
    assert all(np.array_equal(a, b) for a, b in zip(before, optimizer.arrays(), strict=True))


@pytest.mark.parametrize("name", STEPPERS)
def test_usual_steps_arrive_sooner_or_later(name):
    recorder = Recorder()
    stepping = STEPPERS[name].make(recorder, 3)
    for norm in steady(300):
        recorder.arrived[:] = 0.0
        stepping.step([np.array([norm])])
    assert 0.0 < recorder.arrived[0] <= 3.0


def test_the_norm_of_large_gradients_does_not_overflow():
    assert norm_of([np.array([3e300]), np.array([4e300])]) == pytest.approx(5e300)
    assert math.isnan(norm_of([np.array([1.0, math.nan])]))
    assert norm_of([np.zeros(3)]) == 0.0
