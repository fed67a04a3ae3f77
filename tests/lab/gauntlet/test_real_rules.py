"""Restated rules decide as the packages that they are of, where these are installed."""

import inspect
import math

import numpy as np
import pytest

from holdfast_lab.gauntlet.rules.adagc import AdaGC
from holdfast_lab.gauntlet.rules.fixed_clip import FixedClip
from holdfast_lab.gauntlet.rules.olmo_core import OLMoCore
from holdfast_lab.gauntlet.rules.ours import Guard
from holdfast_lab.gauntlet.rules.zclip import ZClip

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-all installs it")


def norms(seed, steps=600):
    """Usual norms, some spikes of many sizes, and a new scale."""
    rng = np.random.default_rng(seed)
    usual = rng.lognormal(0.0, 0.3, steps)
    usual[steps // 2 :] *= 3.0
    spikes = rng.choice(steps, steps // 20, replace=False)
    usual[spikes] *= 10.0 ** rng.uniform(0.5, 6.0, len(spikes))
    return usual.tolist()


def one_weight(size):
    parameter = torch.nn.Parameter(torch.zeros(1, dtype=torch.float64))
    parameter.grad = torch.tensor([size], dtype=torch.float64)
    return parameter


def test_the_guard_of_the_gauntlet_has_the_defaults_of_holdfast_torch():
    from holdfast.torch import guard

    real, ours = inspect.signature(guard).parameters, inspect.signature(Guard).parameters
    assert [ours[name].default for name in ours] == [real[name].default for name in ours]


@pytest.mark.parametrize("size", [0.5, 1.0, 7.0, 1e300, math.inf, math.nan])
def test_fixed_clip_is_that_of_pytorch(size):
    parameter = one_weight(size)
    torch.nn.utils.clip_grad_norm_([parameter], 1.0)
    assert size * FixedClip(1.0).keep(size) == pytest.approx(float(parameter.grad), rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("nan", [False, True])
def test_zclip_is_that_of_its_package(seed, nan):
    zclip = pytest.importorskip("zclip", reason="ZClip is not installed: pip install --no-deps zclip")
    theirs, mine, module = zclip.ZClip(), ZClip(), torch.nn.Module()
    for t, size in enumerate(norms(seed)):
        size = math.nan if nan and t == 300 else size
        module.weight = one_weight(size)
        theirs.step(module)
        expected = float(module.weight.grad)
        assert size * mine.keep(size) == pytest.approx(expected, rel=1e-6, nan_ok=True), t


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("nan", [False, True])
def test_olmo_core_is_that_of_its_package(seed, nan):
    words = "OLMo-core is not installed: pip install ai2-olmo-core"
    module = pytest.importorskip("olmo_core.optim.skip_step_optimizer", reason=words, exc_type=ImportError)
    theirs, mine = module.SkipStepOptimizer([one_weight(1.0)], {}), OLMoCore()
    for t, size in enumerate(norms(seed)):
        size = math.nan if nan and t == 300 else size
        theirs.latest_loss = torch.tensor(1.0, dtype=torch.float64)
        theirs.latest_grad_norm = torch.tensor(size, dtype=torch.float64)
        assert mine.keep(size) == bool(theirs.get_step_factor()), t


@pytest.mark.parametrize("seed", range(3))
def test_adagc_is_that_of_pytorch_optimizer(seed):
    words = "pytorch_optimizer is not installed: pip install --no-deps pytorch-optimizer"
    package = pytest.importorskip("pytorch_optimizer", reason=words)
    weights, arrived = [one_weight(1.0), one_weight(1.0)], []
    theirs = package.AdaGC(weights, lr=1.0, betas=(0.0, 0.0), eps=1e-8)
    recorder = type("Recorder", (), {"step": lambda self, gradients: arrived.append(gradients)})()
    mine = AdaGC(recorder)
    for t, sizes in enumerate(zip(norms(seed), norms(seed + 10), strict=True)):
        for weight, size in zip(weights, sizes, strict=True):
            weight.grad = torch.tensor([size], dtype=torch.float64)
        theirs.step()
        mine.step([np.array([size]) for size in sizes])
        for weight, gradient in zip(weights, arrived[-1], strict=True):
            # Without a memory of its own, the first moment of Adam is the clipped gradient.
            assert float(theirs.state[weight]["exp_avg"]) == pytest.approx(float(gradient[0]), rel=1e-6), t
