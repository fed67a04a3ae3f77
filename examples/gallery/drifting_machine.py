"""A machine that drifts

A server sends an alarm when its network traffic is far above the usual. But what is usual changes: after an
incident its regular bursts of 3 MB are gone. A filter that remembers everything goes on comparing with the
old days, and misses later bursts. A filter with a window forgets the old days.

Result: of the first 2,000 readings both filters skip 13: some at the start, which have nothing to be
compared with, and the incident. In the quiet time after that `TopShare(0.01)` skips 0 and `TopShare(0.01,
window=300)` skips 5, all at least twice as large as what is usual then.

Data: traffic of an Amazon EC2 server (ec2_network_in_257a54), Numenta Anomaly Benchmark, MIT.
"""

import numpy as np
from common import picture, table

import holdfast as hf
from holdfast.pages.palette import BLUE, GREY, INK, RED

traffic, CHANGE = table("server_traffic", usecols=1), 2000  # bytes in each five minutes


def judged(filter):
    """The thresholds, and which readings are not kept."""
    gate = hf.Gate(filter)
    decisions = [gate.decide(reading) for reading in traffic]
    return np.array([d.threshold for d in decisions]), np.array([not d.kept for d in decisions])


gates = {
    "endless memory": (RED, *judged(hf.TopShare(0.01))),
    "window of 300": (BLUE, *judged(hf.TopShare(0.01, window=300))),
}
for name, (_, _, skipped) in gates.items():
    before, after = skipped[:CHANGE].sum(), skipped[CHANGE:].sum()
    print(f"{name:15} skips {before} of the first {CHANGE:,} readings, {after} later")

with picture() as axes:
    axes.plot(traffic, ".", ms=2, color=GREY)
    skipped = gates["window of 300"][2]
    axes.plot(
        np.flatnonzero(skipped),
        traffic[skipped],
        "x",
        color=INK,
        ms=7,
        mew=2,
        label="skipped with the window",
    )
    for name, (color, threshold, _) in gates.items():
        axes.plot(threshold, color=color, lw=2.5, label=f"threshold, {name}")
    axes.set(yscale="log", ylim=(1e5, 1e9), xlim=(0, len(traffic)), xlabel="readings, one every five minutes")
    axes.set_title("Bytes that a server receives in five minutes")
    axes.legend(ncols=3, loc="upper right")
