"""The picture of docs/scikit-learn.md: `python -m holdfast_lab.audit_picture docs/images/audit.png`.

What an estimator skips in a table of sensors with wrong units, stuck targets and missing cells.
"""

import sys

import numpy as np

from holdfast.pages.palette import MATPLOTLIB

_NAMES = ("temperature", "humidity", "wind", "pressure")


def sensor_table(rows=2000, seed=0):
    """Rows of four sensors and a target, in which some cells and targets are wrong."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    X = rng.normal([15.0, 60.0, 4.0, 1013.0], [6.0, 12.0, 2.0, 8.0], (rows, 4))
    y = 0.5 * X[:, 0] - 0.1 * X[:, 1] + rng.normal(size=rows)
    picked = rng.permutation(np.arange(100, rows))
    X[picked[:60], 3] *= 100.0  # pascals instead of hectopascals
    X[picked[60:75], 2] = 9999.0  # the code of a broken sensor
    X[picked[75:80], 1] = np.inf
    y[picked[80:105]] = -999.0
    return pd.DataFrame(X, columns=_NAMES), y


def draw(path):
    """Fit a regression to the table, and draw its audit."""
    from matplotlib import pyplot as plt
    from matplotlib import rc_context

    from holdfast.sklearn import AuditDisplay, RobustRegressor

    model = RobustRegressor(0.1, random_state=0).fit(*sensor_table())
    with rc_context(MATPLOTLIB | {"font.size": 11}):
        figure = AuditDisplay.from_estimator(model).figure_
        figure.savefig(path, dpi=100, facecolor="white")
        plt.close(figure)


if __name__ == "__main__":
    draw(sys.argv[1])
