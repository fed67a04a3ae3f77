"""Patience: which changes `Robust` follows, and which bursts it withstands."""

import math
import pickle

import pytest
from river import datasets, linear_model, naive_bayes, neighbors, preprocessing
from river_models.streams import error, labels, numbers, scaled

import holdfast as hf
from holdfast.river import Robust

CHANGES = {
    "units": lambda x, y: ({"a": 1000.0 * x["a"], "b": x["b"]}, y),
    "level of the target": lambda x, y: (x, y + 5000.0),
    "both": lambda x, y: ({"a": x["a"] - 1e5, "b": 100.0 * x["b"]}, 50.0 * y),
}


def neighbours():
    return neighbors.KNNRegressor(engine=neighbors.LazySearch(window_size=20))


def changed(change, at, rows=900, until=math.inf):
    """The stream, with a change from row `at` on, and True for all rows after 300 more."""
    for t, (x, y) in enumerate(numbers(rows)):
        yield *(change(x, y) if at <= t < until else (x, y)), t >= at + 300


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_lasting_change_is_followed_after_the_patience(change):
    model = Robust(neighbours(), patience=50)
    assert error(model, changed(change, 400)) < 1.1 * error(neighbours(), changed(change, 400))
    assert 50 <= model.skipped < 90


def test_scalers_in_a_pipeline_follow_too():
    pipeline = scaled(preprocessing.TargetStandardScaler(linear_model.LinearRegression()))
    alone = error(pipeline.clone(), changed(CHANGES["units"], 400))
    assert error(Robust(pipeline, patience=50), changed(CHANGES["units"], 400)) < 1.2 * alone


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.filterwarnings("ignore::holdfast.HoldfastWarning")
def test_a_burst_shorter_than_the_patience_teaches_nothing(change):
    model, before = Robust(neighbours(), patience=200), None
    for t, (x, y, _) in enumerate(changed(change, 600, 800, until=790)):
        if t == 600:
            before = pickle.dumps(model.model)
        if t < 790:
            model.learn_one(x, y)
    assert pickle.dumps(model.model) == before
    kept = model.kept
    model.learn_one(x, y)
    assert model.kept == kept + 1


def test_a_classifier_follows_a_change_of_units():
    model, right = Robust(naive_bayes.GaussianNB(), patience=50), []
    for t, (x, y) in enumerate(labels(1200)):
        x = {name: 1000.0 * value for name, value in x.items()} if t >= 400 else x
        right += [model.predict_one(x) == y] if t >= 900 else []
        model.learn_one(x, y)
    assert model.kept > 1050 and sum(right) > 0.7 * len(right)


@pytest.mark.parametrize(
    "change", [*CHANGES.values(), lambda x, y: (x, 0.001 * y)], ids=[*CHANGES, "smaller targets"]
)
@pytest.mark.filterwarnings("ignore::holdfast.HoldfastWarning")
def test_outliers_are_found_again_after_a_change(change):
    """Units are measured anew from recent values, and a filter forgets sizes that are in other units."""
    model, missed = Robust(neighbours(), patience=100), 0
    for t, (x, y) in enumerate(numbers(2000)):
        x, y = change(x, y) if t >= 500 else (x, y)
        is_wild, kept = t >= 1000 and t % 20 == 7, model.kept
        model.learn_one(x, 1000.0 * y if is_wild else y)
        missed += is_wild and model.kept > kept
    assert missed == 0


@pytest.mark.parametrize("outliers", [20, hf.Quantile(0.9)])
def test_with_a_count_or_a_filter_there_is_no_patience(outliers):
    with pytest.raises(ValueError, match="a count or a filter"):
        Robust(neighbours(), outliers=outliers, patience=100)


@pytest.mark.parametrize("wrong", [3, True, "long", math.nan, -1])
def test_patience_is_a_number_of_rows(wrong):
    with pytest.raises(ValueError, match='patience must be "auto", or a number of rows'):
        Robust(neighbours(), patience=wrong)


def test_a_copy_has_the_same_patience():
    model = Robust(neighbours(), patience=70).clone()
    assert model.patience == model._filters.filters[0].patience == 70


def test_ten_percent_of_wild_rows_cost_little_by_default():
    def rows(wild):
        for t, (x, y) in enumerate(datasets.TrumpApproval()):
            bad = t % 10 == 5 and t > 100
            yield {name: wild * v for name, v in x.items()} if bad else x, y, not bad and t > 100

    pipeline = scaled(preprocessing.TargetStandardScaler(linear_model.LinearRegression()))
    assert error(Robust(pipeline.clone()), rows(1000.0)) < 1.1 * error(Robust(pipeline.clone()), rows(1.0))
