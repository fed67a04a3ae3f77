"""Ad clicks and a bot

A bidder predicts what a click will cost in the next hour, from the costs of the last three hours. In seven
hours a click costs more than a dollar, over ten times as much as usual: a bot, perhaps, or a broken
counter; the source does not say. A River pipeline learns from these hours, too, and then its predictions
are wrong for many hours. `Robust` around the pipeline is the one changed line. `RobustRegressor` takes the
place of the whole pipeline.

Result: in the 1,621 other hours the mean error of the pipeline is 28.3 cents; half of the clicks cost less
than 7.3 cents. With `Robust` or `RobustRegressor` it is 1.7 cents. Without any model, if the cost of the last
hour is the prediction, it is 2.5 cents.

Data: cost per click (exchange-4_cpc_results), Numenta Anomaly Benchmark, MIT. Nothing was changed.
"""

import numpy as np
from common import name_lines, picture, running_mean, table
from river import linear_model, preprocessing

from holdfast.pages.palette import BLUE, GREEN, INK, RED
from holdfast.river import Robust, RobustRegressor

cents = 100.0 * table("cost_per_click", usecols=1)
ordinary = cents[3:] < 100.0


def pipeline():
    scaled = preprocessing.TargetStandardScaler(linear_model.LinearRegression())
    return preprocessing.StandardScaler() | scaled


def predictions(model):
    found = []
    for t in range(3, len(cents)):
        lags = {f"{ago} hours ago": cents[t - ago] for ago in (1, 2, 3)}
        found.append(model.predict_one(lags))
        model.learn_one(lags, cents[t])
    return np.array(found)


runs = {
    "River": (RED, predictions(pipeline())),
    "River, Robust": (BLUE, predictions(Robust(pipeline()))),
    "RobustRegressor": (GREEN, predictions(RobustRegressor())),
    "as the hour before": (INK, cents[2:-1]),
}
print(f"a click costs {np.median(cents):.1f} cents (median); there are {ordinary.sum():,} ordinary hours")
for name, (_, predicted) in runs.items():
    errors = np.abs(predicted - cents[3:])
    print(f"{name:18}  mean error {errors[ordinary].mean():4.1f} cents in them")

with picture(2, width_ratios=(1, 1.4)) as (left, right):
    left.plot(cents, color=INK, lw=0.8)
    left.set(yscale="log", xlabel="hour", title="Cost of a click, cents")
    left.set_yticks(ticks := [3, 10, 30, 100, 300], ticks)
    for name, (color, predicted) in runs.items():
        errors = np.abs(predicted - cents[3:])[ordinary]
        right.plot(*running_mean(errors, first=20), color=color, label=name, lw=2.5)
    right.set(yscale="log", xlabel="ordinary hours", title="Mean error so far, cents")
    right.set_yticks(ticks := [1, 3, 10, 30], ticks)
    for axes in (left, right):
        axes.minorticks_off()
    name_lines(right)
