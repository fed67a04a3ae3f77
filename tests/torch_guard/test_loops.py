"""Training loops with closures, scalers, schedulers, compiled steps and clipping."""

import warnings

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-all installs it")

from torch_guard.training import gradients, model  # noqa: E402

from holdfast.torch import guard  # noqa: E402


def test_closures_are_measured_after_they_ran():
    net = model()
    optimizer = guard(torch.optim.SGD(net.parameters(), lr=0.1), outliers=1)
    losses = []
    for factor in (1.0, 1.0, 1e9, 1.0):

        def closure(factor=factor):
            optimizer.zero_grad()
            loss = factor * net(torch.ones(1, 3)).pow(2).sum()
            loss.backward()
            return loss

        losses.append(optimizer.step(closure).item())
    assert optimizer.holdfast.audit()["step"] == [0, 2]
    assert len(losses) == 4


def test_a_grad_scaler_sees_no_overflow_in_an_outlier():
    for options in ({"fused": True}, {}):
        net = model()
        optimizer = guard(torch.optim.AdamW(net.parameters(), lr=0.01, **options), outliers=1)
        scaler = torch.amp.GradScaler("cpu", init_scale=4.0, growth_interval=1000)
        scaler.scale(torch.ones(1))
        for step in range(6):
            gradients(net, step, 4.0 * (1e6 if step == 4 else 1.0))
            scaler.step(optimizer)
            scaler.update()
        assert optimizer.holdfast.audit()["step"] == [0, 4]
        assert scaler.get_scale() == 4.0
        gradients(net, 6, float("inf"))
        scaler.step(optimizer)
        scaler.update()
        assert scaler.get_scale() == 2.0
        sizes = optimizer.holdfast.log[: optimizer.holdfast.steps, 1]
        assert float(sizes[1]) < 20.0  # measured unscaled


def test_a_scheduler_made_before_or_after_the_guard_counts_its_own_steps():
    for first in (True, False):
        net = model()
        optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
        if first:
            guard(optimizer, outliers=1)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
        if not first:
            guard(optimizer, outliers=1)
        for step in range(3):
            gradients(net, step)
            optimizer.step()
            scheduler.step()
        assert optimizer.param_groups[0]["lr"] == 0.125
        assert optimizer.holdfast.skipped == 1


def test_a_compiled_step_decides_each_time():
    net = model()
    optimizer = guard(torch.optim.AdamW(net.parameters(), lr=0.01), outliers=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        step = torch.compile(optimizer.step, backend="eager")
        for i in range(6):
            gradients(net, i, 1e9 if i == 4 else 1.0)
            step()
    assert optimizer.holdfast.audit()["step"] == [0, 4]


def test_a_loop_that_also_clips_measures_before():
    for measured in (True, False):
        net = model()
        optimizer = guard(torch.optim.AdamW(net.parameters(), lr=0.01), outliers=1)
        for step in range(6):
            gradients(net, step, 1e6 if step == 4 else 1.0)
            if measured:
                optimizer.holdfast.measure()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
        assert (4 in optimizer.holdfast.audit()["step"]) is measured
        assert optimizer.holdfast.steps == 6
