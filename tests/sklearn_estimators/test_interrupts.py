"""Ctrl-C during `partial_fit`: no model has learned a part of its rows."""

import math
import signal

import numpy as np
import pytest
from sklearn_estimators.tables import three_classes

from holdfast._compiled.compiling import expecting
from holdfast.sklearn import RobustClassifier, passes

PARAMETERS = {"outliers": 0, "learner": "ogd", "scale": False, "loss": "hinge"}  # fast to compile


@pytest.mark.parametrize("expected", [0, math.inf], ids=["interpreted", "compiled"])
def test_all_models_have_learned_the_rows_before_the_interrupt(expected, monkeypatch):
    X, y = three_classes()
    classes, real = np.unique(y), passes.judged
    with expecting(expected):
        whole, model = (RobustClassifier(**PARAMETERS).partial_fit(X[:50], y[:50], classes) for _ in range(2))
    whole.partial_fit(X[50:90], y[50:90])

    def interrupted(*args):
        signal.raise_signal(signal.SIGINT)
        return real(*args)

    monkeypatch.setattr(passes, "judged", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X[50:90], y[50:90])
    monkeypatch.undo()
    for each in (whole, model):
        each.partial_fit(X[90:], y[90:])
    assert whole.coef_.tobytes() == model.coef_.tobytes()
    assert whole.audit_counts_ == model.audit_counts_


@pytest.mark.parametrize("expected", [0, math.inf], ids=["interpreted", "compiled"])
def test_an_interrupted_fit_ends_after_a_whole_pass_and_can_be_continued(expected, monkeypatch):
    X, y = three_classes(rows=200)
    real, calls = passes.judged, []

    def interrupted(*args):
        calls.append(args)
        if len(calls) == 4:  # there are three models: in the second pass
            signal.raise_signal(signal.SIGINT)
        return real(*args)

    model, whole = (RobustClassifier(**PARAMETERS, random_state=0, n_epochs=n) for n in (3, 2))
    with expecting(expected):
        whole.fit(X, y)
        monkeypatch.setattr(passes, "judged", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
        monkeypatch.undo()
    assert model.n_iter_ == 2 and model.coef_.tobytes() == whole.coef_.tobytes()
    for each in (whole, model):
        each.partial_fit(X, y)
    assert model.coef_.tobytes() == whole.coef_.tobytes()
