"""The table in docs/torch.md: how a step of each optimizer is skipped on a GPU."""

import contextlib
import inspect
import pathlib

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-all installs it")

from holdfast.torch.skipping import FoundInf, NoGradients, Select, strategy_for  # noqa: E402

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "torch.md"
SAID = {FoundInf: "flag in the fused kernel", Select: "choice on the device", NoGradients: "one wait a step"}


def after_a_step(name, options):
    """An optimizer that has its state, on the device "meta": not the host, and tensors have no values."""
    device = "cpu" if options.get("fused") else "meta"
    p = torch.nn.Parameter(torch.zeros(2, 2, device=device))
    optimizer = getattr(torch.optim, name)([p], lr=0.1, **options)
    indices = torch.zeros(1, 1, dtype=torch.int64, device=device)
    p.grad = (
        torch.sparse_coo_tensor(indices, p.detach()[:1], (2, 2), check_invariants=False)
        if name == "SparseAdam"
        else torch.zeros_like(p)
    )
    with contextlib.suppress(
        Exception
    ):  # capturable: the state is there when torch finds that "meta" is no GPU
        optimizer.step()
    return optimizer, torch.device("meta")


def table():
    ways = {}
    for name, cls in sorted(vars(torch.optim).items()):
        if (
            not isinstance(cls, type)
            or not issubclass(cls, torch.optim.Optimizer)
            or name in ("Optimizer", "LBFGS")
        ):
            continue
        settings = inspect.signature(cls.__init__).parameters
        for options in ({}, {"capturable": True}, {"fused": True}):
            if all(option in settings for option in options):
                way = type(strategy_for(*after_a_step(name, options)))
                said = ", ".join(f"{option}=True" for option in options)
                ways.setdefault(way, []).append(f"`{name}({said})`" if said else f"`{name}`")
    rows = [f"| {SAID[way]} | {', '.join(ways[way])} |" for way in SAID]
    return "\n".join(["| a step is skipped by | optimizers |", "|---|---|", *rows])


def test_the_page_has_the_table():
    assert table() in PAGE.read_text(encoding="utf-8")


def test_a_plain_adam_with_a_state_counts_on_the_device_from_now_on():
    optimizer, device = after_a_step("AdamW", {})
    (p,) = optimizer.param_groups[0]["params"]
    assert optimizer.state[p]["step"].device.type == "cpu"
    assert isinstance(strategy_for(optimizer, device), Select)
    assert optimizer.param_groups[0]["capturable"]
    assert optimizer.state[p]["step"].device == p.device


def test_a_step_of_the_users_own_and_a_cpu_are_left_as_they_are():
    class Own(torch.optim.Adam):
        def step(self, closure=None):
            return super().step(closure)

    for cls, device in ((Own, "meta"), (torch.optim.Adam, "cpu")):
        p = torch.nn.Parameter(torch.zeros(2, device=device))
        optimizer = cls([p], lr=0.1)
        strategy_for(optimizer, torch.device(device))
        assert not optimizer.param_groups[0]["capturable"]
