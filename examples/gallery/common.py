"""What the examples share: the style of the pictures, and the small tables of examples/data."""

import contextlib
import io
import sys
from importlib import resources
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from PIL import Image
from sklearn.preprocessing import StandardScaler

from holdfast.pages.palette import MATPLOTLIB

STYLE = MATPLOTLIB | {"font.size": 12, "axes.titlesize": 13, "axes.titlelocation": "left", "axes.grid": True}
STYLE |= {"axes.grid.axis": "y", "axes.axisbelow": True, "axes.titlepad": 12}
STYLE |= {"legend.frameon": False, "legend.fontsize": 11}


@contextlib.contextmanager
def picture(columns=1, **ratios):
    """The axes of a new picture. It is saved under the name in the command, or as NAME_OF_THE_SCRIPT.png."""
    script, *path = sys.argv
    with rc_context(STYLE):
        figure = Figure(figsize=(9.6, 3.8), dpi=100, facecolor="white", layout="constrained")
        yield figure.subplots(1, columns, **ratios)
        figure.savefig(pixels := io.BytesIO())
    few_colours = Image.open(pixels).convert("RGB").quantize(64)  # a third of the bytes
    few_colours.save(path[0] if path else Path(script).with_suffix(".png").name, optimize=True)


def table(name, **options):
    """A table of examples/data as an array."""
    path = Path(__file__).parents[1] / "data" / f"{name}.csv.gz"
    return np.loadtxt(path, delimiter=",", skiprows=1, **options)


def air_quality(*columns):
    """Columns of the hourly gas sensors that holdfast brings along; where a reading failed they have -200."""
    with resources.as_file(resources.files("holdfast.cli") / "data" / "air_quality.csv.gz") as path:
        return np.loadtxt(path, delimiter=",", skiprows=1, usecols=columns, unpack=True)


class ScaledSGD:
    """The usual pipeline for a stream: a running `StandardScaler`, then a linear model of scikit-learn."""

    def __init__(self, model):
        self.scaler, self.model = StandardScaler(), model

    def partial_fit(self, X, y, **classes):
        self.model.partial_fit(self.scaler.partial_fit(X).transform(X), y, **classes)

    def predict(self, X):
        return self.model.predict(self.scaler.transform(X))


def predictions(model, X, y, batch, **classes):
    """Learn from the first batch; then predict each batch and learn from it. Returns the predictions."""
    model.partial_fit(X[:batch], y[:batch], **classes)
    found = []
    for start in range(batch, len(y), batch):
        rows = slice(start, start + batch)
        found.append(model.predict(X[rows]))
        model.partial_fit(X[rows], y[rows])
    return np.concatenate(found)


def running_mean(errors, first=1):
    """The mean of the errors so far, from the first round that is shown."""
    rounds = np.arange(1, len(errors) + 1)
    return rounds[first - 1 :], (np.cumsum(errors) / rounds)[first - 1 :]


def name_lines(axes, gap=0.085):
    """Write the label of each line beside its end, in its colour. Call it when the axes have their limits."""
    to_axes, floor = axes.transScale + axes.transLimits, -1.0
    lines = [line for line in axes.get_lines() if not line.get_label().startswith("_")]
    ends = [(to_axes.transform((0.0, line.get_ydata()[-1]))[1], line) for line in lines]
    for height, line in sorted(ends, key=lambda end: end[0]):
        floor = max(height, floor + gap)
        style = {"color": line.get_color(), "weight": "bold", "va": "center"}
        place = {"xycoords": "axes fraction", "xytext": (8, 0), "textcoords": "offset points"}
        axes.annotate(line.get_label(), (1.0, floor), **place, **style)
