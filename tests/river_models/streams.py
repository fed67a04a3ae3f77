"""Models and streams that the tests of the River models share."""

import math
import random

from river import forest, linear_model, multiclass, naive_bayes, neighbors, preprocessing, rules, tree

from holdfast.river import LinearClassifier, LinearRegressor


def scaled(model):
    return preprocessing.StandardScaler() | model


MODELS = {
    "LinearRegression": linear_model.LinearRegression(),
    "LogisticRegression": linear_model.LogisticRegression(),
    "Perceptron": linear_model.Perceptron(),
    "SoftmaxRegression": linear_model.SoftmaxRegression(),
    "PAClassifier": linear_model.PAClassifier(),
    "PARegressor": linear_model.PARegressor(),
    "BayesianLinearRegression": linear_model.BayesianLinearRegression(),
    "HoeffdingTreeClassifier": tree.HoeffdingTreeClassifier(),
    "HoeffdingTreeRegressor": tree.HoeffdingTreeRegressor(),
    "GaussianNB": naive_bayes.GaussianNB(),
    "KNNClassifier": neighbors.KNNClassifier(engine=neighbors.LazySearch(window_size=50)),
    "KNNRegressor": neighbors.KNNRegressor(engine=neighbors.LazySearch(window_size=50)),
    "ARFClassifier": forest.ARFClassifier(n_models=1, seed=1),
    "AMRules": rules.AMRules(),
    "OneVsRestClassifier": multiclass.OneVsRestClassifier(linear_model.LogisticRegression()),
    "scaler, LogisticRegression": scaled(linear_model.LogisticRegression()),
    "scaler, LinearRegression": scaled(linear_model.LinearRegression()),
    "scaler, target scaler": scaled(preprocessing.TargetStandardScaler(linear_model.LinearRegression())),
    "LinearClassifier": scaled(LinearClassifier()),
    "LinearRegressor": scaled(preprocessing.TargetStandardScaler(LinearRegressor())),
}


def spoiled(data, spoil, share=0.01, seed=0):
    """The rows, some of them spoiled, and whether each is unchanged."""
    rng = random.Random(seed)
    for x, y in data:
        bad = rng.random() < share
        yield (*(spoil(x, y) if bad else (x, y)), not bad)


def wild_targets(x, y):
    return x, 1e4 * y


def wild_features(x, y):
    return {name: 1000.0 * value for name, value in x.items()}, y


def one_wild_feature(x, y):
    return x | {"gallup": 1000.0 * x["gallup"]}, y


def all_nan(x, y):
    return dict.fromkeys(x, math.nan), y


def error(model, rows):
    """The mean error on the rows that are not spoiled, each predicted before it is learned from."""
    errors = []
    for x, y, good in rows:
        prediction = model.predict_one(x)
        if good:
            errors.append(prediction != y if isinstance(y, bool | str) else abs(prediction - y))
        model.learn_one(x, y)
    return sum(errors) / len(errors)


def numbers(rows=1000, seed=0):
    """A stream that linear models, trees and neighbours can learn, with features in different units."""
    rng = random.Random(seed)
    for _ in range(rows):
        a, b = rng.gauss(0.0, 1.0), rng.gauss(0.0, 1.0)
        yield {"a": 1000.0 + a, "b": 0.001 * b}, 50.0 + 3.0 * a - 2.0 * b + 0.1 * rng.gauss(0.0, 1.0)


def labels(rows=1000, seed=0):
    return ((x, y > 50.0) for x, y in numbers(rows, seed))


def spoiled_rows(regression):
    for t, (x, y) in enumerate(numbers(300)):
        x = x | {"a": 1e9} if t % 50 == 20 else x
        yield x | {"b": math.nan} if t % 50 == 30 else x, y if regression else y > 50.0
