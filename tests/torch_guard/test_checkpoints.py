"""Checkpoints and copies have the memory of the guard."""

import copy
import io
import pickle
import warnings

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-all installs it")

from torch_guard.training import gradients, model, same, snapshot  # noqa: E402

from holdfast.torch import guard  # noqa: E402


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
