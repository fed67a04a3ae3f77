"""What goes wrong in a run: nine scenarios, by letter. Each changes some batches, and says which are bad."""

import math
from typing import NamedTuple

import torch

START = 200  # before it, all batches are good, but for C


class TrainingBatch(NamedTuple):
    """A batch, a factor for its loss, and whether a step from it is bad."""

    x: torch.Tensor
    y: torch.Tensor  # a row of ten numbers for each digit, 1 for the right one
    factor: float = 1.0
    bad: bool = False
    attack: bool = False  # replace the gradient by the opposite, as large as the rule takes


def masking(step, batch):
    """A loss 1e6 times as large, and 20 steps later one of 4e5 times."""
    factor = {START: 1e6, START + 20: 4e5}.get(step, 1.0)
    return batch._replace(factor=factor, bad=factor != 1.0)


def one_nan(step, batch):
    """One NaN, then good batches."""
    return _spoiled(batch, math.nan) if step == START else batch


def early_spike(step, batch):
    """A loss 1e6 times as large in step 5."""
    return batch._replace(factor=1e6, bad=True) if step == 5 else batch


def many_nans(step, batch):
    """NaN in four of five batches, for 50 steps."""
    return _spoiled(batch, math.nan) if START <= step < START + 50 and step % 5 else batch


def new_scale(step, batch):
    """From some step on all losses are 100 times as large. No batch is bad."""
    return batch._replace(factor=100.0) if step >= START else batch


def ramp(step, batch):
    """In 40 steps the gradient is the opposite, and just as large as the rule takes."""
    return batch._replace(bad=True, attack=True) if START <= step < START + 80 and step % 2 else batch


def large_features(step, batch):
    """Features 1e6 times as large, in three batches. The derivative of the loss is bounded."""
    return batch._replace(x=1e6 * batch.x, bad=True) if step in (START, START + 30, START + 60) else batch


def large_label(step, batch):
    """One label is 1e6 instead of 1, in three batches."""
    if step not in (START, START + 30, START + 60):
        return batch
    y = batch.y.clone()
    y[0] *= 1e6
    return batch._replace(y=y, bad=True)


def infinities(step, batch):
    """An infinite feature, and a loss whose gradient overflows."""
    if step == START:
        return _spoiled(batch, math.inf)
    return batch._replace(factor=1e38, bad=True) if step == START + 30 else batch


def _spoiled(batch, value):
    x = batch.x.clone()
    x[0, 0] = value
    return batch._replace(x=x, bad=True)


SCENARIOS = {
    "A": masking,
    "B": one_nan,
    "C": early_spike,
    "D": many_nans,
    "E": new_scale,
    "F": ramp,
    "G": large_features,
    "H": large_label,
    "I": infinities,
}
