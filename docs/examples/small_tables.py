"""Robust estimators on small tables: those of scikit-learn that read the whole table, and `RobustRegressor`.

The target is linear in five columns, with noise of 0.5. The error is the mean distance of the predictions
from the truth, on 1,000 fresh rows.

    python docs/examples/small_tables.py

>>> X, y = table(200, 0.4, "another line")
>>> error(RANSACRegressor(random_state=0), X, y) < 0.5      # RANSAC finds the line of the majority
True
>>> error(RobustRegressor(random_state=0), X, y) > 3.0      # 40 % is more than RobustRegressor allows for
True
"""

import numpy as np
from sklearn.linear_model import HuberRegressor, RANSACRegressor, SGDRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from holdfast.sklearn import RobustRegressor

TRUTH = np.array([1.0, -2.0, 0.5, 0.0, 3.0])
CASES = (
    (200, 0.0, "nothing"),
    (200, 0.1, "targets of 100"),
    (200, 0.1, "rows x 1000"),
    (200, 0.4, "another line"),
    (2_000, 0.0, "nothing"),
    (2_000, 0.1, "targets of 100"),
    (2_000, 0.1, "rows x 1000"),
)
MODELS = {
    "HuberRegressor": lambda: HuberRegressor(max_iter=1_000),
    "RANSACRegressor": lambda: RANSACRegressor(random_state=0),
    "SGDRegressor": lambda: make_pipeline(StandardScaler(), SGDRegressor(random_state=0)),
    "RobustRegressor": lambda: RobustRegressor(random_state=0),
}


def table(rows, share, wrong):
    """A table in which a share of the rows is wrong."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, len(TRUTH)))
    y = X @ TRUTH + 0.5 * rng.normal(size=rows)
    bad = rng.random(rows) < share
    if wrong == "targets of 100":
        y[bad] = 100.0
    elif wrong == "rows x 1000":
        X[bad] *= 1000.0
    elif wrong == "another line":
        y[bad] = 40.0 - 3.0 * X[bad] @ TRUTH
    return X, y


def error(model, X, y):
    fresh = np.random.default_rng(1).normal(size=(1_000, len(TRUTH)))
    return float(np.abs(model.fit(X, y).predict(fresh) - fresh @ TRUTH).mean())


def main():
    print("| rows | wrong | " + " | ".join(f"`{name}`" for name in MODELS) + " |")
    print("|--:|---" + "|--:" * len(MODELS) + "|")
    for rows, share, wrong in CASES:
        data = table(rows, share, wrong)
        errors = " | ".join(f"{error(model(), *data):.2g}" for model in MODELS.values())
        print(f"| {rows:,} | {wrong if not share else f'{share:.0%}: {wrong}'} | {errors} |")


if __name__ == "__main__":
    main()
