"""A Kalman filter behind a gate: after a jump a chi-square gate locks itself out, a windowed one does not.

A level moves slowly and is measured with noise. Of the readings 2 % are wrong. After 2,000 of 4,000 readings
the level jumps by 30 standard deviations of the noise. A chi-square gate refuses what is unlikely under the
model, so after the jump it refuses every reading. `hf.Gate` compares a reading with the last ones: it refuses
as many as its budget, and then follows.

    python docs/examples/kalman_gate.py

>>> rows = [compared(name) for name in GATES]
>>> print(table(rows))
gate          wrong kept  right lost  error before  error after
none                  81           0         0.848        1.281
chi-square             0        1956         0.257       27.543
hf.Gate                0          35         0.253        0.650
"""

import math

import numpy as np

import holdfast as hf

ROUNDS, JUMP = 4_000, 2_000
MOVE, NOISE = 0.1, 1.0  # standard deviations of a step of the level, and of a reading
LIKELY = 3.29  # in standard deviations: 99.9 %, as chi-square <= 10.8

GATES = {
    "none": lambda: math.isfinite,
    "chi-square": lambda: lambda size: size <= LIKELY,
    "hf.Gate": lambda: hf.Gate(hf.TopShare(0.05, window=200)).keep,
}


def readings():
    """The level, what was measured, and which readings are wrong."""
    rng = np.random.default_rng(0)
    level = np.cumsum(MOVE * rng.standard_normal(ROUNDS)) + 30.0 * NOISE * (np.arange(ROUNDS) >= JUMP)
    measured, wrong = level + NOISE * rng.standard_normal(ROUNDS), rng.random(ROUNDS) < 0.02
    measured[wrong] += rng.choice([-50.0, 50.0], wrong.sum())
    return level, measured, wrong


def tracked(measured, keep):
    """The Kalman filter's estimate after each reading, and which it used."""
    estimate, variance = 0.0, NOISE**2
    estimates, kept = np.zeros(len(measured)), np.zeros(len(measured), bool)
    for t, reading in enumerate(measured):
        variance += MOVE**2
        spread = variance + NOISE**2
        innovation = reading - estimate
        kept[t] = keep(abs(innovation) / math.sqrt(spread))  # its size, in standard deviations
        if kept[t]:
            gain = variance / spread
            estimate, variance = estimate + gain * innovation, (1.0 - gain) * variance
        estimates[t] = estimate
    return estimates, kept


def compared(name):
    level, measured, wrong = readings()
    estimates, kept = tracked(measured, GATES[name]())
    errors = np.abs(estimates - level)
    before, after = errors[:JUMP].mean(), errors[JUMP:].mean()
    return name, np.sum(kept & wrong), np.sum(~kept & ~wrong), before, after


def table(rows):
    lines = ["gate          wrong kept  right lost  error before  error after"]
    lines += [
        f"{name:12}  {used:10d}  {lost:10d}  {before:12.3f}  {after:11.3f}"
        for name, used, lost, before, after in rows
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(table([compared(name) for name in GATES]))
