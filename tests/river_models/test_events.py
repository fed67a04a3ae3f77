"""`on_event` of River's estimators: the events of scikit-learn's, with the names of features."""

import numpy as np
import pytest

from holdfast.levels import Events
from holdfast.river import RobustClassifier, RobustRegressor


def table(rows=1_300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 2))
    X[1_100:1_140, 1] = X[1_099, 1]
    y = X @ [1.0, 2.0] + rng.normal(size=rows)
    X[1_000, 0] = 1e6
    return X, y


@pytest.mark.parametrize("regression", [True, False])
def test_skipped_rows_and_frozen_features_are_events(regression):
    X, y = table()
    events = Events()
    model = (RobustRegressor if regression else RobustClassifier)(on_event=events)
    for x, target in zip(X.tolist(), y.tolist(), strict=True):
        model.learn_one(dict(zip("ab", x, strict=True)), target if regression else target > 0.0)
    assert [(event.kind, event.key, event.begin, event.end) for event in events] == [
        ("glitch", "a", 1_001, 1_001),
        ("frozen", "b", 1_100, 0),
        ("frozen", "b", 1_100, 1_140),
    ]
