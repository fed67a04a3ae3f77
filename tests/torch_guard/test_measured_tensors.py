"""Which tensors are measured: new groups, single ones, sparse ones, matrices."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-all installs it")

from torch_guard.training import gradients, model, same, snapshot  # noqa: E402

from holdfast.torch import guard  # noqa: E402


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


def test_tensors_that_are_replaced_in_a_group_are_measured():
    net, other = model(), model()
    optimizer = guard(torch.optim.SGD(net.parameters(), lr=0.1), outliers=1)
    for step in range(6):
        if step == 3:  # as sharding does
            optimizer.param_groups[0]["params"] = list(other.parameters())
        gradients(net if step < 3 else other, step, 1e9 if step == 5 else 1.0)
        optimizer.step()
    assert optimizer.holdfast.audit()["step"] == [0, 5]
