"""A small model, its gradients, and comparisons of states, for the tests of the guard."""

import copy

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-all installs it")


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
