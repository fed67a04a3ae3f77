"""A guarded optimizer takes the good steps as it always did, and a skipped one changes nothing."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-all installs it")

from torch_guard.training import gradients, model, same, snapshot  # noqa: E402

from holdfast.torch import guard  # noqa: E402

ADAM_LIKE = ("Adam", "AdamW", "SGD", "Adagrad")
OPTIMIZERS = {
    name: cls
    for name, cls in vars(torch.optim).items()
    if isinstance(cls, type)
    and issubclass(cls, torch.optim.Optimizer)
    and name not in ("Optimizer", "LBFGS", "SparseAdam", "Muon")
}
CASES = [(name, {}) for name in OPTIMIZERS]
CASES += [(name, {"fused": True}) for name in ADAM_LIKE]
CASES += [
    ("SGD", {"momentum": 0.9, "fused": True}),
    ("SGD", {"momentum": 0.9, "dampening": 0.5, "fused": True}),
]
CASES += [
    ("SGD", {"momentum": 0.9, "nesterov": True}),
    ("AdamW", {"foreach": True}),
    ("Adam", {"amsgrad": True}),
]


@pytest.mark.parametrize(("name", "options"), CASES)
@pytest.mark.parametrize("strategy", ["auto", "sync", "select"])
def test_skipped_steps_leave_no_trace(name, options, strategy):
    """Compared with an optimizer that is never asked for these steps, bit for bit."""
    nets = model(), model()
    free = OPTIMIZERS[name](nets[0].parameters(), lr=0.01, **options)
    guarded = guard(OPTIMIZERS[name](nets[1].parameters(), lr=0.01, **options), outliers=2, strategy=strategy)
    skipped = 0
    for step in range(30):
        factor = {7: 1e6, 12: float("nan"), 13: float("inf"), 21: 1e30}.get(step, 1.0)
        gradients(nets[1], step, factor)
        before = snapshot(nets[1], guarded)
        guarded.step()
        if step in guarded.holdfast.audit()["step"]:
            skipped += 1
            now = snapshot(nets[1], guarded)
            for p, state in now[1]["state"].items():  # fused SGD gets its buffers before the first step
                before[1]["state"].setdefault(p, {name: 0 * value for name, value in state.items()})
            assert same(before, now)
        else:
            gradients(nets[0], step, factor)
            free.step()
    assert skipped == 6
    assert same([p.detach() for p in nets[0].parameters()], [p.detach() for p in nets[1].parameters()])


def test_one_step_in_ten_may_be_bad_if_nothing_is_said():
    """No bad step is taken, and no good one lost but the first ones."""
    p = torch.nn.Parameter(torch.zeros(1))
    optimizer = guard(torch.optim.SGD([p], lr=1.0))
    bad = torch.rand(400, generator=torch.Generator().manual_seed(0)) < 0.1
    bad[:10] = False
    for is_bad in bad.tolist():
        p.grad = torch.tensor([1e6 if is_bad else 1.0])
        optimizer.step()
    assert sorted(optimizer.holdfast.audit()["step"]) == [0, 1, 2, 3, *bad.nonzero().flatten().tolist()]


class Counting(torch.optim.SGD):
    """Like some of other packages: a step that calls `super().step()`, and counts of steps on the host."""

    def step(self, closure=None):
        result = super().step(closure)
        for group in self.param_groups:
            group["steps"] = group.get("steps", 0) + 1
            group["rate"].mul_(0.5)
            for p in group["params"]:
                if p.grad is not None:
                    self.state[p]["calls"] = self.state[p].get("calls", 0) + 1
        return result


@pytest.mark.parametrize("options", [{"fused": True}, {}])
def test_a_step_that_raised_is_forgotten(options):
    net = model()
    optimizer = guard(torch.optim.AdamW(net.parameters(), lr=0.01, **options), outliers=1)

    def closure(step, fails):
        gradients(net, step, 1e9 if fails else 1.0)
        if fails:
            optimizer.param_groups[0]["lr"] = "broken"
        return torch.zeros(())

    for step in range(8):
        optimizer.param_groups[0]["lr"] = 0.01
        try:
            optimizer.step(lambda step=step: closure(step, step == 4))
        except (TypeError, RuntimeError, AttributeError):
            assert step == 4
    assert optimizer.holdfast.audit()["step"] == [0, 4]
    assert all(p.grad is not None for p in net.parameters())


@pytest.mark.parametrize("strategy", ["sync", "select"])
def test_what_an_optimizer_counts_on_the_host_is_undone(strategy):
    net = model()
    groups = [{"params": list(net.parameters()), "rate": torch.ones(1), "steps": 0}]
    optimizer = guard(Counting(groups, lr=0.1, momentum=0.9), outliers=1, strategy=strategy)
    rate = optimizer.param_groups[0]["rate"]
    for step, factor in enumerate((1.0, 1.0, 1e9, 1.0, float("nan"), 1.0)):
        gradients(net, step, factor)
        optimizer.step()
    assert optimizer.holdfast.kept == 3
    assert optimizer.param_groups[0]["steps"] == 3
    assert optimizer.param_groups[0]["rate"] is rate
    assert rate.item() == 0.125
    assert all(state["calls"] == 3 for state in optimizer.state.values())


def test_bad_settings_are_refused():
    net = model()
    sgd = torch.optim.SGD(net.parameters(), lr=0.1)
    for wrong in (
        {"outliers": 0},
        {"outliers": 1.5},
        {"outliers": True},
        {"per": "layer"},
        {"strategy": "x"},
        {"history": 0},
    ):
        with pytest.raises((TypeError, ValueError), match="got"):
            guard(sgd, **wrong)
    with pytest.raises(ValueError, match="window"):
        guard(sgd, outliers=0.01, window=None)
    with pytest.raises(TypeError, match="LBFGS"):
        guard(torch.optim.LBFGS(net.parameters()))
    guard(sgd)
    with pytest.raises(ValueError, match="already"):
        guard(sgd)


def test_metrics_need_no_wait():
    net = model()
    optimizer = guard(torch.optim.SGD(net.parameters(), lr=0.1), outliers=1)
    assert optimizer.holdfast.metrics() == {}
    for step in range(4):
        gradients(net, step)
        optimizer.step()
        figures = optimizer.holdfast.metrics()
    assert figures.keys() == {"kept", "skipped", "size", "threshold"}


def test_flat_shards_are_refused():
    net = model()
    next(net.parameters())._fsdp_flattened = True
    with pytest.raises(TypeError, match="fully_shard"):
        guard(torch.optim.SGD(net.parameters(), lr=0.1))


def test_the_loss_is_judged_too():
    def run(by_closure, optimizer, net):
        for step in range(12):

            def closure(step=step):
                gradients(net, step, 1e9 if step == 9 else 1.0)
                return torch.tensor(50.0 if step == 5 else float("nan") if step == 7 else 1.0)

            if by_closure:
                optimizer.step(closure)
            else:
                optimizer.holdfast.see_loss(closure())
                optimizer.step()
        return optimizer.holdfast.audit()

    audits = []
    for by_closure in (True, False):
        net = model()
        optimizer = guard(torch.optim.SGD(net.parameters(), lr=0.1), outliers=1, loss=True)
        audits.append(run(by_closure, optimizer, net))
        copied = guard(torch.optim.SGD(net.parameters(), lr=0.1), outliers=1, loss=True)
        copied.load_state_dict(optimizer.state_dict())
        assert same(copied.holdfast.loss_filter.state_dict(), optimizer.holdfast.loss_filter.state_dict())
    assert audits[0]["step"] == audits[1]["step"] == [0, 5, 7, 9]
    assert audits[0]["column"] == ["", "loss", "loss", ""]
    assert audits[0]["check"] == ["gradient", "loss", "", "gradient"]
    assert audits[0]["reason"] == ["warm-up", "loss", "not readable", "gradient"]
    with pytest.raises(ValueError, match="loss=True"):
        guard(torch.optim.SGD(net.parameters(), lr=0.1)).holdfast.see_loss(torch.ones(()))
