"""A day in the wrong unit

A smart meter reports what a house has used in each quarter of an hour, in kWh. A model learns, day by day, to
compute it from the time of the day and the temperature. On Wednesday the meter reports the mean power in kW
instead: four times the number. On Sunday evening somebody finds out, and the journal of the model forgets
Wednesday.

Result: on the next Monday the mean error is 0.287 kWh with the bad day, and 0.088 after the journal has
forgotten it. That is the same model, bit for bit, as one that never saw Wednesday.

Data: drawn at random in the script: a daily course, heating below 15 degrees, and noise.
"""

import numpy as np
from common import picture

import holdfast as hf
from holdfast.pages.palette import BLUE, INK, RED
from holdfast.sklearn import RobustRegressor

DAYS, QUARTERS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "next Mon"], 96
rng = np.random.default_rng(3)
hour = np.tile(np.arange(QUARTERS) / 4, len(DAYS))
day = np.repeat(np.arange(len(DAYS)), QUARTERS)
outside = 8 + 4 * np.sin(2 * np.pi * (hour - 9) / 24) + rng.normal(0, 2.5, len(DAYS))[day]
angle = 2 * np.pi * hour / 24
X = np.column_stack([np.sin(angle), np.cos(angle), np.sin(2 * angle), np.cos(2 * angle), outside])
kwh = 0.35 + 0.1 * np.sin(angle - 2.5) + 0.06 * np.sin(2 * angle - 1) + 0.05 * np.maximum(15 - outside, 0)
kwh = kwh * np.exp(rng.normal(0, 0.15, len(kwh)))
reported = np.where(day == 2, 4 * kwh, kwh)
week, monday = day < 7, day == 7


def learned(readings, days=range(7)):
    """A journal of these days; rows have the name of their day."""
    journal = hf.Journal(RobustRegressor(), every=QUARTERS)
    for i in days:
        journal.partial_fit(X[day == i], readings[day == i], row_ids=[DAYS[i]] * QUARTERS)
    return journal


journal = learned(reported)
forecasts = {"with Wednesday in kW": (RED, journal.model.predict(X[monday]))}
forgotten = journal.forget(["Wed"])
forecasts["Wednesday forgotten"] = (BLUE, journal.model.predict(X[monday]))
clean = learned(kwh, [0, 1, 3, 4, 5, 6]).model.predict(X[monday])
same = np.array_equal(clean, forecasts["Wednesday forgotten"][1])
print(f"forgotten: {forgotten.rows} rows; learned again: {forgotten.replayed} rows")
for name, (_, forecast) in forecasts.items():
    print(f"{name:20} error {np.abs(forecast - kwh[monday]).mean():.3f} kWh next Monday")
print(f"the same bits as a model that never saw Wednesday: {same}")

with picture(2) as (left, right):
    left.plot(np.arange(7 * QUARTERS) / QUARTERS, reported[week], color=INK, lw=0.8)
    left.set(title="What the meter reported", xlim=(0, 7))
    left.set_xticks(np.arange(7) + 0.5, DAYS[:7])
    right.plot(hour[monday], kwh[monday], color=INK, lw=0.8, label="used")
    for name, (color, forecast) in forecasts.items():
        right.plot(hour[monday], forecast, color=color, lw=2.5, label=name)
    right.set(title="The next Monday, kWh in a quarter of an hour", xlim=(0, 24), xlabel="hour")
    right.set_ylim(0, 1.25 * max(forecast.max() for _, forecast in forecasts.values()))
    right.legend(loc="lower left")
