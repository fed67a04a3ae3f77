"""On a GPU, a guarded Adam or AdamW with default options never waits for the device."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-all installs it")

from holdfast.torch import guard  # noqa: E402

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU on this machine")
BAD = {20: 1e9, 21: float("nan"), 40: 1e6}  # the step, and the factor of its loss


def trained(cls, guarded, steps, waits="default", **options):
    """The weights after these steps of a small model, and its guard."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1)).cuda()
    x = torch.randn(60, 32, 8, device="cuda")
    factors = torch.tensor([BAD.get(step, 1.0) for step in range(60)], device="cuda")
    optimizer = cls(model.parameters(), lr=0.01, **options)
    optimizer = guard(optimizer, outliers=5) if guarded else optimizer
    for number, step in enumerate(steps):
        torch.cuda.set_sync_debug_mode(waits if number >= 10 else "default")
        optimizer.zero_grad()
        (factors[step] * (model(x[step]) - 1.0).square().mean()).backward()
        optimizer.step()
    torch.cuda.set_sync_debug_mode("default")
    return [p.detach().clone() for p in model.parameters()], optimizer


@pytest.mark.parametrize("cls", [torch.optim.Adam, torch.optim.AdamW])
def test_a_plain_adam_never_waits_and_ends_where_it_would_without_the_bad_steps(cls):
    weights, optimizer = trained(cls, True, range(60), waits="error")
    assert optimizer.param_groups[0]["capturable"]
    skipped = {int(step) for step in optimizer.holdfast.audit()["step"]}
    assert set(BAD) <= skipped
    good = [step for step in range(60) if step not in skipped]
    expected, _ = trained(cls, False, good, capturable=True)
    assert all(torch.equal(one, other) for one, other in zip(weights, expected, strict=True))
