"""What the guard of an optimizer costs on a GPU, and what it saves.

`python -m holdfast_lab.bench.torch_steps` trains a transformer of 139 million parameters to predict the bytes
of Python's standard library, with bf16 autocast and fused AdamW, and prints one JSON object.
"""

import json
import pathlib
import statistics
import sysconfig

import torch
from torch import nn

from holdfast.torch import guard

WIDTH, DEPTH, HEADS, CONTEXT, BATCH = 768, 14, 12, 1024, 32
POISONED, BROKEN = range(19, 200, 20), (50, 111, 112)  # steps with a loss 1e4 times as large, and with NaN


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(self.norms[0](x)).view(b, t, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(b, t, WIDTH))
        return x + self.mlp(self.norms[1](x))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(50304, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(DEPTH)))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 256)

    def forward(self, x):
        places = torch.arange(x.shape[1], device=x.device)
        return self.head(self.norm(self.blocks(self.tokens(x) + self.places(places))))


def text():
    files = sorted(pathlib.Path(sysconfig.get_path("stdlib")).glob("*.py"))
    data = b"".join(file.read_bytes() for file in files)
    return torch.frombuffer(bytearray(data), dtype=torch.uint8).to("cuda", torch.int64)


class Training:
    """A model, its optimizer, and a step on the batch of a number."""

    def __init__(self, guarded, data, compiled=False):
        torch.manual_seed(0)
        self.model = Transformer().cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-4, fused=True)
        if guarded:
            guard(self.optimizer, outliers=0.01, window=1000)
        generator = torch.Generator().manual_seed(1)
        starts = torch.randint(len(data) - CONTEXT - 1, (400, BATCH), generator=generator)
        offsets = starts[:, :, None] + torch.arange(CONTEXT + 1)
        self.batches = data[offsets.cuda()]

    def step(self, number, factor=1.0, clip=False):
        batch = self.batches[number % len(self.batches)]
        with torch.autocast("cuda", torch.bfloat16):
            logits = self.model(batch[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1).float(), batch[:, 1:].flatten())
        self.optimizer.zero_grad()
        (loss * factor).backward()
        if clip:
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.detach()


def times(data, rounds=12, steps=10):
    """Milliseconds a step, in turns, so that all three meet the same clock of the GPU."""
    plain, guarded = Training(False, data), Training(True, data)
    kinds = {"plain": (plain, False), "clip_grad_norm_": (plain, True), "guard": (guarded, False)}
    spent: dict[str, list[float]] = {name: [] for name in kinds}
    for turn in range(rounds):
        for name, (training, clip) in kinds.items():
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for i in range(steps):
                training.step(turn * steps + i, clip=clip)
            end.record()
            end.synchronize()
            if turn >= 2:
                spent[name].append(begin.elapsed_time(end) / steps)
    return {name: statistics.median(one) for name, one in spent.items()}


def curves(data):
    """The losses on good batches: of a run without bad steps, and with them, guarded, clipped and plain."""
    bad = set(POISONED) | set(BROKEN)
    runs = {}
    for name in ("clean", "guard", "clip_grad_norm_", "plain"):
        training = Training(name in ("clean", "guard"), data)
        if name == "guard":
            torch.cuda.set_sync_debug_mode("error")
        losses = []
        for number in range(200):
            factor = 1e4 if number in POISONED else float("nan") if number in BROKEN else 1.0
            if name == "clean" and number in bad:
                continue
            loss = training.step(number, factor, clip=name == "clip_grad_norm_")
            if number not in bad:
                losses.append(loss)
        torch.cuda.set_sync_debug_mode("default")
        runs[name] = torch.stack(losses).tolist()
        if name == "guard":
            runs["skipped"] = training.optimizer.holdfast.audit()["step"]
    return runs


def main():
    data = text()
    with torch.device("meta"):
        parameters = sum(p.numel() for p in Transformer().parameters())
    runs = curves(data)
    names = ("clean", "guard", "clip_grad_norm_", "plain")
    result = {
        "torch": torch.__version__,
        "gpu": torch.cuda.get_device_name(),
        "parameters": parameters,
        "milliseconds": times(data),
        "last losses": {name: statistics.fmean(runs[name][-20:]) for name in names},
        "largest difference": max(abs(a - b) for a, b in zip(runs["clean"], runs["guard"], strict=True)),
        "skipped": runs["skipped"],
        "bad": sorted({*POISONED, *BROKEN}),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
