"""Rows of a data frame as rounds, and rounds as rows."""

from river import compose
from river.utils.dataframe import into_frame, into_series, to_native_frame, to_native_series


def rounds(X):
    """The rows of a frame as dicts."""
    frame = into_frame(X)
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.rows()]


def answers(y):
    return into_series(y).to_list()


def some_rows(X, kept):
    """The rows of a frame that are kept."""
    return into_frame(X).filter(kept).to_native()


def some(y, kept):
    """The entries of a series that are kept."""
    return into_series(y).filter(kept).to_native()


def series(values, X):
    """Predictions, as a series that goes with the frame."""
    return to_native_series(values, name=None, like=into_frame(X))


def frame(rows, X):
    """Probabilities by label, as a frame that goes with the frame."""
    labels = list(dict.fromkeys(label for row in rows for label in row))
    return to_native_frame(
        {label: [row.get(label, 0.0) for row in rows] for label in labels}, like=into_frame(X)
    )


def learns_batches(model):
    """Whether a model, and in a pipeline every step, can learn from many rounds at once."""
    steps = model.steps.values() if isinstance(model, compose.Pipeline) else [model]
    return all(hasattr(step, "learn_many") for step in steps)
