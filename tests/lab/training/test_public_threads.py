"""Public threads as small runs that fail without the guard and finish with it; and norms that shrink."""

import functools
import math

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-all installs it")
pytest.importorskip("sklearn")

from holdfast.torch import guard  # noqa: E402
from holdfast_lab.training import rules  # noqa: E402
from holdfast_lab.training.run import train  # noqa: E402


def bad_data(step, batch):
    if step not in (50, 51, 120):
        return batch
    x = batch.x.clone()
    x[3] = math.inf if step == 120 else math.nan
    return batch._replace(x=x, bad=True)


def test_torchtitan_916_bad_data_gives_nan_gradients():
    """https://github.com/pytorch/torchtitan/issues/916"""
    assert math.isnan(train(rules.Clip, bad_data, steps=200).loss)
    guarded = train(rules.Ours, bad_data, steps=200)
    assert (guarded.bad_taken, guarded.bad) == (0, 3)
    assert guarded.loss < 1.0


def test_vdvae_25_norms_rise_above_a_fixed_threshold_and_stay_there():
    """https://github.com/openai/vdvae/issues/25: threshold 400, norms above it, no step is taken any more."""

    def rising(step):
        return 300.0 if step < 100 else 3000.0

    fixed = train(functools.partial(rules.FixedThreshold, threshold=400.0), steps=300, scale=rising)
    assert fixed.good_lost > 0.8 * fixed.good
    guarded = train(rules.Ours, steps=300, scale=rising)
    assert guarded.good_lost < 0.3 * guarded.good
    assert guarded.loss < 0.7 * fixed.loss


def test_senpai_3294_a_threshold_from_another_task_skips_nearly_every_step():
    """https://github.com/wandb/senpai/pull/3294: 393 of 394 steps, norms near 400 and a threshold of 100."""

    def other_task(step):
        return 1000.0

    fixed = train(functools.partial(rules.FixedThreshold, threshold=100.0), steps=394, scale=other_task)
    assert fixed.good_lost > 0.99 * fixed.good
    guarded = train(rules.Ours, steps=394, scale=other_task)
    assert guarded.good_lost < 0.1 * guarded.good
    assert guarded.loss < 0.5 < fixed.loss


@pytest.mark.parametrize("times", [10.0, 30.0, 100.0])
def test_late_spikes_are_caught_although_norms_have_shrunk(times):
    """Norms fall from 10 to 0.16 as in training. Without a window all or most of four late spikes pass."""
    taken = {}
    generator = torch.Generator().manual_seed(0)
    noise = torch.rand(10_000, generator=generator).tolist()
    spikes = (8000, 8500, 9000, 9500)
    for window in (None, 1000):
        p = torch.nn.Parameter(torch.zeros(1))
        optimizer = guard(torch.optim.SGD([p], lr=0.0), outliers=20, window=window, history=10_000)
        for step in range(10_000):
            size = 10.0 * (0.016 ** (step / 10_000)) * (0.75 + 0.5 * noise[step])
            p.grad = torch.tensor([size * (times if step in spikes else 1.0)])
            optimizer.step()
        skipped = set(optimizer.holdfast.audit()["step"])
        taken[window] = sum(step not in skipped for step in spikes)
        assert len(skipped) < 200
    assert taken[1000] == 0
    assert taken[None] >= (4 if times < 100.0 else 1)
