"""A gate in front of a Kalman filter

A Kalman filter follows the flow of water in a pipe. Three times the pipe is closed for some hours, and the
reading falls from 102 to 24 l/s. These readings should not be followed. Then, at hour 950, somebody sets
the meter to cubic metres an hour: every reading is 3.6 times as large. A chi-square gate, as in the
textbooks, refuses what is unlikely under the model, so it refuses everything from then on. `hf.Gate`
refuses as many as its budget, 24 readings, and then follows.

Result: while the pipe is closed, the estimate is off by 65.2 l/s without a gate, by 1.6 with the chi-square
gate and by 1.9 with `hf.Gate`. After the change of units it is off by 1.7 without a gate, by 266.5 with the
chi-square gate and by 19.3 with `hf.Gate`.

Data: WaterFlow of River (BSD-3-Clause), donated by Tecnojest s.r.l. The change of units is ours.
"""

import math

import numpy as np
from common import picture
from river.datasets import WaterFlow

import holdfast as hf
from holdfast.pages.palette import BLUE, GREY, INK, RED

MOVE, NOISE, CHANGE = 0.3, 0.5, 950  # how far the flow moves in an hour, the noise of a reading; and the hour
flow = np.array([reading for _, reading in WaterFlow()])
closed = flow < 80.0
usual = np.where(closed, np.median(flow), flow)
for readings in (flow, usual):
    readings[CHANGE:] *= 3.6


def tracked(keep):
    """The estimate of a Kalman filter after each reading. It uses the readings that the gate keeps."""
    estimate, variance, estimates = flow[0], NOISE**2, []
    for reading in flow:
        variance += MOVE**2
        spread = variance + NOISE**2
        if keep(abs(reading - estimate) / math.sqrt(spread)):  # its size, in standard deviations
            gain = variance / spread
            estimate, variance = estimate + gain * (reading - estimate), (1.0 - gain) * variance
        estimates.append(estimate)
    return np.array(estimates)


runs = {
    "no gate": (INK, tracked(lambda size: True)),
    "chi-square gate": (RED, tracked(lambda size: size <= 3.29)),  # 99.9 % of what the model expects
    "hf.Gate": (BLUE, tracked(hf.Gate(hf.TopK(24, window=100)).keep)),
}
for name, (_, estimates) in runs.items():
    error = np.abs(estimates - usual)
    during, after = error[closed].mean(), error[CHANGE:].mean()
    print(f"{name:15}  off by {during:4.1f} while closed, {after:5.1f} after the change")

with picture(2) as panels:
    for axes, hours, limits in zip(panels, ((60, 260), (850, 1050)), ((0, 120), (0, 420)), strict=True):
        axes.plot(flow, "o", color=GREY, ms=4, label="readings")
        for name, (color, estimates) in runs.items():
            axes.plot(estimates, color=color, lw=2.5, label=name)
        axes.set(xlim=hours, ylim=limits, xlabel="hour")
    panels[0].set_title("The pipe is closed twice, l/s")
    panels[1].set_title("Closed once more; then m³/h, not l/s")
    panels[1].legend(loc="upper left")
