"""Record the gradient norms of real trainings, some of whose batches are bad.

`python -m holdfast_lab.training.record_norms TEXT FOLDER`: TEXT is a folder of Markdown and Python
files, such as a checkout of this project. Each training writes a file with the columns step, norm, loss
and bad into FOLDER. The norms are those before clipping. A bad batch is one that was spoilt on purpose.
"""

import csv
import gzip
import math
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from holdfast.terminal import tell

Spoil = Callable[[Tensor, Tensor, torch.Generator], tuple[Tensor, Tensor]]


class Text:
    """Bytes of files, and random pieces of them."""

    def __init__(self, folder: Path, device: str) -> None:
        files = sorted(
            path for kind in ("*.md", "*.py") for path in folder.rglob(kind) if ".venv" not in str(path)
        )
        data = b"\n".join(path.read_bytes() for path in files)
        self.bytes = torch.tensor(list(data), dtype=torch.uint8).long().to(device)

    def batch(self, rows: int, length: int, random: torch.Generator) -> tuple[Tensor, Tensor]:
        """Random pieces, and the byte that follows each of theirs."""
        starts = torch.randint(
            len(self.bytes) - length - 1, (rows,), generator=random, device=self.bytes.device
        )
        places = starts[:, None] + torch.arange(length + 1, device=self.bytes.device)
        pieces = self.bytes[places]
        return pieces[:, :-1], pieces[:, 1:]


class Transformer(nn.Module):
    """A small GPT on bytes."""

    def __init__(self, layers: int, width: int, length: int) -> None:
        super().__init__()
        self.token, self.place = nn.Embedding(256, width), nn.Embedding(length, width)
        layer = nn.TransformerEncoderLayer(
            width, width // 64, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.end = nn.Linear(width, 256)

    def forward(self, x: Tensor) -> Tensor:
        length = x.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(length, device=x.device)
        h = self.token(x) + self.place(torch.arange(length, device=x.device))
        return self.end(self.layers(h, mask=mask, is_causal=True))


class Recurrent(nn.Module):
    """A two-layer LSTM on bytes."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.token, self.cells = nn.Embedding(256, width), nn.LSTM(width, width, 2, batch_first=True)
        self.end = nn.Linear(width, 256)

    def forward(self, x: Tensor) -> Tensor:
        return self.end(self.cells(self.token(x))[0])


def none(x: Tensor, y: Tensor, random: torch.Generator) -> tuple[Tensor, Tensor]:
    """Nothing is spoilt."""
    return x, y


def noise(x: Tensor, y: Tensor, random: torch.Generator) -> tuple[Tensor, Tensor]:
    """Random bytes, as of a file that is no text."""
    x = torch.randint(256, x.shape, generator=random, device=x.device)
    return x, x.roll(-1, 1)


def one_byte(x: Tensor, y: Tensor, random: torch.Generator) -> tuple[Tensor, Tensor]:
    """The same byte again and again, as of an empty page."""
    byte = int(torch.randint(256, (1,), generator=random, device=x.device))
    return torch.full_like(x, byte), torch.full_like(y, byte)


def wrong_order(x: Tensor, y: Tensor, random: torch.Generator) -> tuple[Tensor, Tensor]:
    """Targets of other rows, as after a shuffle of one file only."""
    return x, y.roll(1, 0)


class Training(NamedTuple):
    """What is trained, how, and which share of its batches is spoilt."""

    model: Callable[[], nn.Module]
    optimizer: Callable[[Any], torch.optim.Optimizer]
    clip: float
    spoil: Spoil = none
    share: float = 0.0
    steps: int = 3000
    rows: int = 64
    length: int = 256
    warm_up: int = 100


def gpt() -> nn.Module:
    return Transformer(6, 384, 256)


def adamw(rate: float) -> Callable[[Any], torch.optim.Optimizer]:
    return lambda parameters: torch.optim.AdamW(
        parameters, rate, betas=(0.9, 0.95), weight_decay=0.1, fused=True
    )


TRAININGS = {
    "gpt_clean": Training(gpt, adamw(1e-3), 1.0),
    "gpt_noise": Training(gpt, adamw(1e-3), 1.0, noise, 0.02),
    "gpt_one_byte": Training(gpt, adamw(1e-3), 1.0, one_byte, 0.02),
    "gpt_wrong_order": Training(gpt, adamw(1e-3), 1.0, wrong_order, 0.02),
    "gpt_large_step": Training(gpt, adamw(6e-3), math.inf, warm_up=20),
    "lstm_clean": Training(lambda: Recurrent(512), adamw(3e-3), 1.0),
    "lstm_noise": Training(lambda: Recurrent(512), adamw(3e-3), 1.0, noise, 0.05),
    "lstm_sgd": Training(
        lambda: Recurrent(512), lambda parameters: torch.optim.SGD(parameters, 2.0, momentum=0.9), 0.25
    ),
}


def record(training: Training, text: Text, seed: int) -> Iterator[tuple[int, float, float, int]]:
    """Train, and yield step, norm, loss and whether the batch was spoilt."""
    torch.manual_seed(seed)
    device = text.bytes.device
    random = torch.Generator(device).manual_seed(seed)
    spoilt = torch.rand(training.steps, generator=torch.Generator().manual_seed(seed)) < training.share
    model = training.model().to(device)
    optimizer = training.optimizer(model.parameters())
    rate = optimizer.param_groups[0]["lr"]
    norms, losses = [], []
    for step in range(training.steps):
        fraction = min(1.0, (step + 1) / training.warm_up)
        optimizer.param_groups[0]["lr"] = (
            rate * fraction * (0.55 + 0.45 * math.cos(math.pi * step / training.steps))
        )
        x, y = text.batch(training.rows, training.length, random)
        if spoilt[step]:
            x, y = training.spoil(x, y, random)
        with torch.autocast(device.type, torch.bfloat16):
            loss = functional.cross_entropy(model(x).float().reshape(-1, 256), y.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        norms.append(nn.utils.clip_grad_norm_(model.parameters(), training.clip).detach())
        losses.append(loss.detach())
        optimizer.step()
    for step, (norm, value) in enumerate(
        zip(torch.stack(norms).tolist(), torch.stack(losses).tolist(), strict=True)
    ):
        yield step, norm, value, int(spoilt[step])


def main() -> None:
    source, folder = Path(sys.argv[1]), Path(sys.argv[2])
    on_gpu = torch.cuda.is_available()
    text = Text(source, "cuda" if on_gpu else "cpu")
    tell(f"{len(text.bytes):,} bytes of text, {torch.cuda.get_device_name() if on_gpu else 'CPU'}")
    for name, training in TRAININGS.items():
        begin = time.perf_counter()
        rows = list(record(training, text, seed=0))
        with gzip.open(folder / f"{name}.csv.gz", "wt", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("step", "norm", "loss", "bad"))
            writer.writerows((step, f"{norm:.6g}", f"{loss:.6g}", bad) for step, norm, loss, bad in rows)
        norms = sorted(norm for _, norm, _, _ in rows)
        spoilt = sorted(norm for _, norm, _, bad in rows if bad)
        tell(
            f"{name}: {time.perf_counter() - begin:.0f} s, last loss {rows[-1][2]:.3f}, norm median"
            f" {norms[len(norms) // 2]:.3g}, largest {norms[-1]:.3g}, of spoilt batches median"
            f" {spoilt[len(spoilt) // 2] if spoilt else math.nan:.3g}"
        )


if __name__ == "__main__":
    main()
