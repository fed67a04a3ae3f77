"""A fleet of meters

Eight meters stand at one place, and each has a model of its own: what it usually reads at which hour of the
day. `hf.play_many` plays one game for each key, in one call, with a filter for each: what is an outlier for
the hygrometer is usual for a gas sensor. When the station fails, every meter reads -200. The gas sensors
usually read about 1,000, so for them -200 is not far, and they hardly suffer.

Result: the meters failed in 216 readings, and the filters skip 211 of them. Without filters the error of
the absolute humidity is 17.0 times that of the same models without the bad readings, and that of the
temperature 1.5 times. Behind `TopShare(0.05)` both are 1.0 times.

Data: Air Quality, S. De Vito (2008), UCI Machine Learning Repository, CC BY 4.0; comes with holdfast.
"""

import numpy as np
from common import air_quality, picture

import holdfast as hf
from holdfast.pages.palette import BLUE, INK, RED

METERS = ("CO", "NMHC", "NOx", "NO2", "O3", "temperature", "rel. humidity", "abs. humidity")
readings = np.transpose(air_quality(*range(1, 9)))[:1000]  # a row for each hour
hour, meter = np.indices(readings.shape).reshape(2, -1)
y, turn = readings.ravel(), 2.0 * np.pi * hour / 24.0
X = np.stack([np.ones_like(turn), np.sin(turn), np.cos(turn), np.sin(2.0 * turn), np.cos(2.0 * turn)], axis=1)
good = y != -200.0


def play(filter, rounds):
    """A game for each meter: which readings are kept, and the mean error of each meter on good ones."""
    player = hf.Filtered(hf.OnlineRidge(), filter)
    replay = hf.Replay(X[rounds], y[rounds], hf.Squared())
    record = hf.play_many(player, replay, meter[rounds], keep=["predictions", "kept"], compiled=False)
    errors, scored = np.abs(record.predictions - y[rounds]), good[rounds] & (hour[rounds] >= 48)
    return record.kept, np.array([errors[scored & (meter[rounds] == key)].mean() for key in range(8)])


every = np.ones_like(good)
_, without_faults = play(hf.Everything(), good)
_, plain = play(hf.Everything(), every)
kept, filtered = play(hf.TopShare(0.05), every)
found, others = np.sum(~kept & ~good), np.sum(~kept & good)
print(f"{np.sum(~good)} readings failed; the filters skip {found} of them, and {others} others")
print("error, as a multiple of that without the failed readings:")
for name, before, after in zip(METERS, plain / without_faults, filtered / without_faults, strict=True):
    print(f"{name:14} {before:4.1f} without filters, {after:.1f} behind TopShare(0.05)")

with picture() as axes:
    axes.axhline(1.0, color=INK, lw=1.5, ls="--")
    axes.plot(METERS, plain / without_faults, "o", color=RED, ms=10, label="no filter")
    axes.plot(
        METERS, filtered / without_faults, "o", color=BLUE, ms=10, label="a TopShare(0.05) for each meter"
    )
    axes.set(yscale="log", ylim=(0.7, 40))
    axes.set_yticks(ticks := [1, 3, 10, 30], ticks)
    axes.minorticks_off()
    axes.set_title("Error of each meter's model, as a multiple of that without the failed readings")
    axes.legend(loc="upper left")
    axes.tick_params(axis="x", labelsize=10)
