"""A label is judged with the forecast that was given for its id, whatever the model has learned since."""

import json
import math

import numpy as np
import pytest
from serve.conftest import settle

from holdfast.intervals.widths import LABELS, NUMBERS, Widths, label_scores
from holdfast.io.columns import Target
from holdfast.serve.judge import Judge, Judged, judge

NUMBER, LABEL = Target("y", ()), Target("y", ("no", "yes"))


def test_a_number_is_judged_by_its_error_and_outliers_are_not_in_the_intervals():
    near, far = ('{"prediction": 2.0, "outlier": %s}' % word for word in ("false", "true"))  # noqa: UP031
    assert judge(NUMBER, near, "5.0") == Judged(3.0, 3.0)
    assert judge(NUMBER, far, "5.0").error == 3.0
    assert math.isnan(judge(NUMBER, far, "5.0").score)
    assert math.isnan(judge(NUMBER, '{"prediction": null, "outlier": false}', "5.0").error)


def test_a_label_is_judged_by_its_margin():
    forecast = json.dumps({"prediction": "yes", "outlier": False, "margins": [-2.0, 2.0]})
    assert judge(LABEL, forecast, "yes") == Judged(0.0, float(label_scores(np.array([2.0]))[0]))
    assert judge(LABEL, forecast, "no") == Judged(1.0, float(label_scores(np.array([-2.0]))[0]))


@pytest.mark.parametrize(("target", "tracker"), [(NUMBER, NUMBERS), (LABEL, LABELS)])
def test_judging_goes_on_where_it_was_saved(target, tracker):
    scores = np.abs(np.random.default_rng(0).normal(size=400)) + 1.0
    judged = [Judged(float(score), float(score)) for score in scores]
    whole = Judge(target, Widths(tracker).numbers())
    whole.add(judged)
    half = Judge(target, Widths(tracker).numbers())
    half.add(judged[:150])
    rest = Judge(target, Widths(tracker).numbers())
    rest.load(half.to_text())
    rest.add(judged[150:])
    assert rest.to_text() == whole.to_text()
    assert np.isfinite(whole.table()).all()
    assert whole.count == 400


def test_a_late_label_is_judged_with_the_forecast_of_its_id(served, run, clock):
    client = served(run)
    asked = client.post("/predict", json={"row": {"a": 1.0, "b": 0.0}}).json()["predictions"][0]
    clock.now += 3600.0
    rows = [{"a": 0.1 * i, "b": 0.0, "y": 7.0 * i} for i in range(-30, 30)]
    for _ in range(10):  # the world has changed
        client.post("/learn", json={"rows": rows})
    settle(client)
    before = client.get("/model").json()["judged"]
    now = client.post("/predict", json={"row": {"a": 1.0, "b": 0.0}}).json()["predictions"][0]
    assert abs(now["prediction"] - asked["prediction"]) > 1.0
    client.post("/label", json={"id": asked["id"], "target": 2.0})
    settle(client)
    after = client.get("/model").json()["judged"]
    assert after["count"] == before["count"] + 1
    error = after["error"] * after["count"] - before["error"] * before["count"]
    assert error == pytest.approx(abs(2.0 - asked["prediction"]), rel=1e-6)
