"""A fleet of meters

Eight meters stand at one place, and each has a model of its own: what it usually reads at which hour of the
day. When the station fails, every meter reads -200. The gas sensors usually read about 1,000, so for them
-200 is not far. The absolute humidity is about one, and for it -200 is very far. So one filter for all
meters does not help: it compares with the gas sensors. `hf.play_many` plays a game for each key in one
call, with a filter for each.

Result: the error of the absolute humidity is 16.8 times that of the same model without the failed readings,
with no filter and with one filter for all, and 1.0 times with a filter for each meter. That of the
temperature is 1.5, 1.5 and 1.0 times.

Data: Air Quality, S. De Vito (2008), UCI Machine Learning Repository, CC BY 4.0; comes with holdfast.
"""

import numpy as np
from common import air_quality, picture

import holdfast as hf
from holdfast.pages.palette import BLUE, GREY, INK, RED

METERS = ("CO", "NMHC", "NOx", "NO2", "O3", "temperature", "rel. humidity", "abs. humidity")
readings = np.transpose(air_quality(*range(1, 9)))[:1000]  # a row for each hour
hour, meter = np.indices(readings.shape).reshape(2, -1)
y, turn = readings.ravel(), 2.0 * np.pi * hour / 24.0
X = np.stack([np.ones_like(turn), np.sin(turn), np.cos(turn)], axis=1)
each = (np.eye(8)[meter][:, :, None] * X[:, None, :]).reshape(-1, 24)  # three columns for each meter
good = y != -200.0


def errors(filter, X, key, rounds=slice(None)):
    """Play a game for each key. The mean error of each meter on good readings, from the third day on."""
    player = hf.Filtered(hf.OnlineRidge(), filter)
    game = hf.Replay(X[rounds], y[rounds], hf.Squared())
    record = hf.play_many(player, game, key[rounds], keep=["predictions"], compiled=False)
    off, scored = np.abs(record.predictions - y[rounds]), good[rounds] & (hour[rounds] >= 48)
    return np.array([off[scored & (meter[rounds] == one)].mean() for one in range(8)])


ideal = errors(hf.Everything(), X, meter, good)  # without the failed readings
runs = {
    "no filter": (GREY, "s", errors(hf.Everything(), X, meter) / ideal),
    "one filter for all": (RED, "^", errors(hf.TopShare(0.05), each, np.zeros_like(meter)) / ideal),
    "a filter for each meter": (BLUE, "o", errors(hf.TopShare(0.05), X, meter) / ideal),
}
print(f"{np.sum(~good)} of {len(y):,} readings failed; error as a multiple of that without them:")
for name, (_, _, ratios) in runs.items():
    print(
        f"{name:24} temperature {ratios[5]:.1f}, rel. humidity {ratios[6]:.1f}, abs. humidity {ratios[7]:.1f}"
    )

with picture() as axes:
    axes.axhline(1.0, color=INK, lw=1.5, ls="--")
    for name, (color, marker, ratios) in runs.items():
        axes.plot(METERS, ratios, marker, color=color, ms=10, label=name)
    axes.set(yscale="log", ylim=(0.7, 60))
    axes.set_yticks(ticks := [1, 3, 10, 30], ticks)
    axes.minorticks_off()
    axes.set_title("Error of each meter's model, as a multiple of that without the failed readings")
    axes.legend(loc="upper left")
    axes.tick_params(axis="x", labelsize=10)
