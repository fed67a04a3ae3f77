"""Logistic regression with heavy tails

The example of the paper. The features have the tail P(|x| > r) = 1 / r^1.3, so gradients have no variance,
and the usual theory of stochastic gradients says nothing. If the features above a quantile are skipped, and
the quantile grows with the length of the stream, the mean of all weights has a risk that goes to the best
one, at a rate that is proved.

Result: after 3,000 rounds the excess risk is 0.0047 without a filter and 0.0005 behind `Quantile`, in the
mean of 6 streams.

Data: drawn at random, as in van Erven, Sachs, Koolen and Kotłowski (2021), section 4.
"""

import math

import numpy as np
from common import name_lines, picture

import holdfast as hf
from holdfast.adversaries import HeavyTails
from holdfast.pages.palette import BLUE, RED

LENGTHS, SEEDS, TRUTH = (100, 300, 1000, 3000), range(6), 0.1


def excess_risk(filter, rounds, seed):
    """How much more the mean of the weights loses, on new rounds, than the true weight."""
    tails = HeavyTails(gamma=0.3, rounds=rounds, seed=seed, truth=TRUTH)
    player = hf.Filtered(hf.OGD(tails.domain), filter, on=hf.Features())
    average = hf.play(player, tails.stream, keep=["average"], compiled=False).average
    return tails.risk(average) - tails.risk([TRUTH])


def quantile(rounds):
    return hf.Quantile(1.0 - 1.0 / math.sqrt(rounds), horizon=rounds)


plain = [np.mean([excess_risk(hf.Everything(), T, seed) for seed in SEEDS]) for T in LENGTHS]
filtered = [np.mean([excess_risk(quantile(T), T, seed) for seed in SEEDS]) for T in LENGTHS]
print(f"means of {len(SEEDS)} streams")
for T, without, behind in zip(LENGTHS, plain, filtered, strict=True):
    print(f"{T:6,} rounds: excess risk {without:.4f} without a filter, {behind:.4f} behind Quantile")

with picture() as axes:
    axes.plot(LENGTHS, plain, "o-", color=RED, lw=2.5, label="no filter")
    axes.plot(LENGTHS, filtered, "o-", color=BLUE, lw=2.5, label="behind Quantile")
    axes.set(xscale="log", yscale="log", xlabel="rounds")
    axes.set_xticks(LENGTHS, [f"{T:,}" for T in LENGTHS])
    axes.set_title("Excess risk of the mean weights: features have no variance")
    axes.set_yticks(ticks := [0.001, 0.01, 0.1], ticks)
    axes.minorticks_off()
    name_lines(axes)
