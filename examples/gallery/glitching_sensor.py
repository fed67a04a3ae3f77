"""A glitching sensor

Five cheap gas sensors, a thermometer and a hygrometer stand beside a road. A model learns, day by day, to
compute from them how much benzene is in the air. Now and then everything fails for some hours, and the
logger writes -200 into every column. Nothing was added to the data: these are the real faults.

Result: in the good hours the mean error of a running scaler and SGD is 27.02 µg/m³. It is 1.04 if somebody
removes the bad hours by hand. `RobustRegressor` has 0.47, with the bad hours in the data.

Data: Air Quality, S. De Vito (2008), UCI Machine Learning Repository, CC BY 4.0; comes with holdfast.
"""

import numpy as np
from common import ScaledSGD, air_quality, name_lines, picture, predictions, running_mean
from sklearn.linear_model import SGDRegressor

from holdfast.pages.palette import BLUE, INK, RED
from holdfast.sklearn import RobustRegressor

HOURS, DAY = 3000, 24
*X, benzene, failed = air_quality(*range(1, 9), 9, 10)
X, benzene, good = np.transpose(X)[:HOURS], benzene[:HOURS], failed[:HOURS] == 0


def sgd():
    return ScaledSGD(SGDRegressor(learning_rate="constant", random_state=0))


def errors(model, X, y):
    return np.abs(predictions(model, X, y, batch=DAY) - y[DAY:])


# The step 0.01 is the best of 0.001, 0.003 and 0.01 without the faults.
runs = {
    "SGD": (RED, errors(sgd(), X, benzene)[good[DAY:]]),
    "SGD, faults removed": (INK, errors(sgd(), X[good], benzene[good])),
    "robust": (BLUE, errors(RobustRegressor(), X, benzene)[good[DAY:]]),
}
print(f"the sensors failed in {np.sum(~good)} of {HOURS:,} hours")
for name, (_, wrong) in runs.items():
    print(f"{name:20} error {wrong.mean():.2f} µg/m³ in the good hours")

with picture(2, width_ratios=(1, 1.4)) as (left, right):
    left.plot(X[:, 0], color=INK, lw=0.6)
    left.set(title="One of the sensors", xlabel="hour")
    for name, (color, wrong) in runs.items():
        right.plot(*running_mean(wrong, first=48), color=color, label=name, lw=2.5)
    right.set(yscale="log", xlim=(0, HOURS), xlabel="good hours", title="Mean error so far, µg/m³ of benzene")
    right.set_yticks(ticks := [1, 3, 10, 30], ticks)
    right.minorticks_off()
    name_lines(right)
