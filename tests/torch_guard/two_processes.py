"""A small training in two processes: `python two_processes.py RANK FOLDER ddp|fsdp` is one of them."""

import datetime
import functools
import os
import sys

import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

from holdfast.torch import guard

STEPS, HALF = 24, 11
KINDS = {
    "ddp": [("AdamW", {"fused": True}, "auto"), ("SGD", {"momentum": 0.9}, "select"), ("AdamW", {}, "auto")],
    "fsdp": [("AdamW", {"fused": True}, "auto"), ("AdamW", {}, "auto"), ("SGD", {"momentum": 0.9}, "select")],
}


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(6, 7), torch.nn.Tanh(), torch.nn.Linear(7, 1))


def batch(step):
    """Eight examples. In a bad step those of the second process are huge; or one of them is NaN."""
    generator = torch.Generator().manual_seed(step)
    x = torch.randn(8, 6, generator=generator)
    y = x.sum(1, keepdim=True)
    if step in (9, 14):
        y[4:] *= 1e5
    if step == 17:
        y[5] = float("nan")
    return x, y


def optimizer_for(net, case):
    name, options, strategy = case
    optimizer = getattr(torch.optim, name)(net.parameters(), lr=0.01, **options)
    return guard(optimizer, outliers=2, window=6, strategy=strategy, per="tensor")


def train(net, optimizer, steps, rank=0, world=1):
    for step in steps:
        x, y = (part.chunk(world)[rank] for part in batch(step))
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()


def result(net, optimizer):
    weights = [p.full_tensor() if hasattr(p, "full_tensor") else p for p in net.parameters()]
    return [w.detach().clone() for w in weights], optimizer.holdfast.audit()["step"]


def process(rank, folder, kind):
    os.environ.update(MASTER_ADDR="127.0.0.1", GLOO_SOCKET_IFNAME="lo")
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo",
        init_method=f"file://{folder}/meet",
        rank=rank,
        world_size=2,
        timeout=datetime.timedelta(minutes=5),
    )
    wrap = DistributedDataParallel
    if kind == "fsdp":
        wrap = functools.partial(fully_shard, mesh=dist.init_device_mesh("cpu", (2,)))
    found = []
    for case in KINDS[kind]:
        net = wrap(model())
        optimizer = optimizer_for(net, case)
        train(net, optimizer, range(HALF), rank, 2)
        saved = net.state_dict(), optimizer.state_dict()  # of this process
        net = wrap(model())
        optimizer = optimizer_for(net, case)
        net.load_state_dict(saved[0])
        optimizer.load_state_dict(saved[1])
        train(net, optimizer, range(HALF, STEPS), rank, 2)
        found.append(result(net, optimizer))
    torch.save(found, f"{folder}/{rank}")
    dist.destroy_process_group()
    # The result is on disk. While C++ takes the objects of this function down, gloo's threads may still run:
    # then the process aborts ("terminate called without an active exception") or never ends. Both were seen.
    os._exit(0)


if __name__ == "__main__":
    process(int(sys.argv[1]), sys.argv[2], sys.argv[3])
