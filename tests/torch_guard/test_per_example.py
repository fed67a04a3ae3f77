"""Examples are judged one by one, and the rest of the batch is learned from."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-all installs it")

from holdfast import TopK  # noqa: E402
from holdfast.torch import PerExample  # noqa: E402


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))


def test_the_gradient_is_that_of_the_kept_examples_over_the_size_of_the_batch():
    net, loss = model(), torch.nn.functional.mse_loss
    examples = PerExample(net, loss, outliers=2)
    x = torch.randn(8, 3, generator=torch.Generator().manual_seed(1))
    y = x.sum(1, keepdim=True) + 5.0
    y[2], y[5] = 1e6, float("nan")
    _, kept = examples.backward(x, y)
    assert not kept[2]
    assert not kept[5]
    assert kept.sum() >= 5
    ours = [p.grad.clone() for p in net.parameters()]
    net.zero_grad()
    (loss(net(x[kept]), y[kept], reduction="sum") / 8).backward()
    for a, p in zip(ours, net.parameters(), strict=True):
        torch.testing.assert_close(a, p.grad)


def test_one_example_in_ten_may_be_bad_if_nothing_is_said():
    net = torch.nn.Linear(1, 1, bias=False)
    examples = PerExample(net, lambda output, size: (output * size).sum())
    x, sizes = torch.ones(50, 1), torch.ones(50)
    sizes[::10] = 1e6
    _, kept = examples.backward(x, sizes)
    assert kept.tolist() == (sizes == 1.0).tolist()


def test_a_memory_is_that_of_the_core_filter_whatever_the_batches():
    rule = TopK(2, window=7)
    sizes = torch.rand(60, generator=torch.Generator().manual_seed(0), dtype=torch.float64) ** -2
    sizes[[9, 30]] = float("inf")
    net = torch.nn.Linear(1, 1, bias=False, dtype=torch.float64)
    examples = PerExample(net, lambda output, size: (output * size).sum(), outliers=rule)
    for batch in sizes.split([3, 7, 1, 5, 7, 7, 2, 6, 7, 4, 5, 6]):
        _, kept = examples.backward(torch.ones(len(batch), 1, dtype=torch.float64), batch)
    state = rule.init(1)
    for size in sizes.tolist():
        state, threshold, _ = rule.decide(state, size)
    assert float(examples.filter._thresholds()) == threshold
    assert kept.tolist() == [size <= threshold for size in batch.tolist()]


def test_a_batch_is_not_longer_than_the_window():
    examples = PerExample(model(), torch.nn.functional.mse_loss, outliers=1, window=4)
    with pytest.raises(ValueError, match="window=4"):
        examples.backward(torch.ones(5, 3), torch.ones(5, 1))
