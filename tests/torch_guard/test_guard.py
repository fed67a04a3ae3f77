"""A guarded optimizer takes the good steps as it always did, and a skipped one changes nothing."""

import copy
import io
import pickle
import warnings

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-all installs it")

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


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))


def gradients(net, step, factor=1.0):
    generator = torch.Generator().manual_seed(step)
    for p in net.parameters():
        p.grad = factor * torch.randn(p.shape, generator=generator)


def snapshot(net, optimizer):
    state = {k: v for k, v in optimizer.state_dict().items() if k != "holdfast"}
    return copy.deepcopy(([p.detach() for p in net.parameters()], state))


def same(a, b):
    if torch.is_tensor(a):
        return torch.is_tensor(b) and torch.equal(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return a == b


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


def test_it_goes_on_with_the_same_bits_from_a_checkpoint():
    def run(steps, saved=None):
        net = model()
        optimizer = guard(torch.optim.AdamW(net.parameters(), lr=0.01), outliers=0.1, window=7)
        if saved is not None:
            file = torch.load(io.BytesIO(saved), weights_only=True)
            net.load_state_dict(file["net"])
            optimizer.load_state_dict(file["optimizer"])
        for step in steps:
            gradients(net, step, 50.0 if step % 9 == 5 else 1.0)
            optimizer.step()
        file = io.BytesIO()
        torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict()}, file)
        return net, optimizer, file.getvalue()

    whole, first = run(range(40)), run(range(23))
    rest = run(range(23, 40), first[2])
    assert same(snapshot(*whole[:2]), snapshot(*rest[:2]))
    assert whole[1].holdfast.audit() == rest[1].holdfast.audit()


def test_a_checkpoint_of_another_filter_is_refused():
    net = model()
    state = guard(torch.optim.SGD(net.parameters(), lr=0.1), outliers=3).state_dict()
    with pytest.raises(ValueError, match="guarded by TopK"):
        guard(torch.optim.SGD(net.parameters(), lr=0.1), outliers=4).load_state_dict(state)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_a_copy_has_a_guard_with_the_same_memory(copied):
    net = model()
    optimizer = guard(torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9), outliers=1)
    for step in range(5):
        gradients(net, step)
        optimizer.step()
    other = copied((net, optimizer))
    for one, its in ((net, optimizer), other):
        gradients(one, 5, 1e9)
        its.step()
    assert other[1].holdfast.skipped == optimizer.holdfast.skipped == 2
    assert "guarded by StepGuard(TopK" in repr(other[1])
    assert isinstance(other[1], torch.optim.SGD)


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


def test_a_new_parameter_group_is_measured_too():
    net, other = model(), torch.nn.Linear(2, 2)
    for per in ("all", "group", "tensor"):
        optimizer = guard(torch.optim.SGD(net.parameters(), lr=0.1), outliers=1, per=per)
        gradients(net, 0)
        optimizer.step()
        optimizer.add_param_group({"params": other.parameters()})
        for step in range(1, 5):
            gradients(net, step)
            gradients(other, step, 1e9 if step == 4 else 1e-3)
            optimizer.step()
        assert 4 in optimizer.holdfast.audit()["step"]


def test_a_spike_in_one_tensor_is_hidden_in_the_norm_of_all():
    for per, caught in (("all", False), ("tensor", True)):
        net = torch.nn.ParameterList([torch.zeros(1000), torch.zeros(2)])
        optimizer = guard(torch.optim.SGD(net.parameters(), lr=0.1), outliers=1, per=per)
        for step in range(10):
            gradients(net, step)
            if step == 8:
                net[1].grad.fill_(20.0)
            optimizer.step()
        assert (8 in optimizer.holdfast.audit()["step"]) is caught


def test_sparse_gradients_are_measured_by_their_values():
    table = torch.nn.Embedding(50, 3, sparse=True)
    optimizer = guard(torch.optim.SparseAdam(table.parameters(), lr=0.1), outliers=1)
    for step, factor in enumerate((1.0, 1.0, 1e9, 1.0)):
        optimizer.zero_grad()
        (factor * table(torch.tensor([step, 3, 3])).sum()).backward()
        optimizer.step()
    assert optimizer.holdfast.audit()["step"] == [0, 2]
    assert torch.isfinite(table.weight).all()


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
        with pytest.raises(ValueError, match="got"):
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


def test_matrices_of_muon_are_guarded():
    net = torch.nn.Linear(4, 3, bias=False)
    optimizer = guard(torch.optim.Muon(net.parameters(), lr=0.01), outliers=1)
    for step, factor in enumerate((1.0, 1.0, 1e9, 1.0, float("nan"), 1.0)):
        gradients(net, step, factor)
        before = snapshot(net, optimizer)
        optimizer.step()
        if step in (0, 2, 4):
            assert same(before[0], snapshot(net, optimizer)[0])
    assert optimizer.holdfast.audit()["step"] == [0, 2, 4]


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
    assert audits[0]["part"] == ["all", "loss", "loss", "all"]
    with pytest.raises(ValueError, match="loss=True"):
        guard(torch.optim.SGD(net.parameters(), lr=0.1)).holdfast.see_loss(torch.ones(()))


def test_tensors_that_are_replaced_in_a_group_are_measured():
    net, other = model(), model()
    optimizer = guard(torch.optim.SGD(net.parameters(), lr=0.1), outliers=1)
    for step in range(6):
        if step == 3:  # as sharding does
            optimizer.param_groups[0]["params"] = list(other.parameters())
        gradients(net if step < 3 else other, step, 1e9 if step == 5 else 1.0)
        optimizer.step()
    assert optimizer.holdfast.audit()["step"] == [0, 5]


def test_a_distributed_checkpoint_takes_the_guard_as_an_entry(tmp_path):
    checkpoint = pytest.importorskip("torch.distributed.checkpoint")

    def make():
        net = model()
        return net, guard(torch.optim.AdamW(net.parameters(), lr=0.01), outliers=1)

    net, optimizer = make()
    for step in range(5):
        gradients(net, step)
        optimizer.step()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checkpoint.save({"guard": optimizer.holdfast}, checkpoint_id=tmp_path)
        other = make()[1]
        checkpoint.load({"guard": other.holdfast}, checkpoint_id=tmp_path)
    assert same(other.holdfast.filter.state_dict(), optimizer.holdfast.filter.state_dict())
    assert (other.holdfast.steps, other.holdfast.kept) == (5, 4)
