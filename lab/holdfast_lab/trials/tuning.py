"""The settings of the learners that can be chosen by name: those with the smallest errors on public data."""

import math
from typing import Any, NamedTuple

import numpy as np

import holdfast as hf
from holdfast.defaults import recommended
from holdfast.learners import ONS, Clipped
from holdfast.options import LEARNER, LEARNERS, suited
from holdfast_lab.trials.corruptions import corrupt
from holdfast_lab.trials.data import available, load

KINDS = ("natural", "features x1000", "target attack")
_ROUNDS = 10_000  # of any stream, at most
_FEW, _NARROW = 1_000, 25  # rounds and features, at most, for learners with rounds of cost dim³
_SERIES = 5  # of a data set, at most

GRID: dict[str, list[Any]] = {
    "adagrad": [hf.AdaGrad(hf.Box(-10.0, 10.0), rate, 1.0) for rate in (0.002, 0.004, 0.008, 0.016, 0.03)],
    "ogd": [hf.OGD(hf.Ball(10.0), hf.learners.Adaptive(scale)) for scale in (0.01, 0.03, 0.1, 0.3)],
    "adaftrl": [hf.AdaFTRL(hf.Ball(radius)) for radius in (0.3, 1.0, 3.0, 10.0)],
    "soloftrl": [hf.learners.SoloFTRL(hf.Ball(10.0), strength) for strength in (0.3, 1.0, 3.0, 10.0)],
    "freegrad": [
        hf.learners.Bounded(hf.learners.Clipped(hf.learners.FreeGrad(e)), hf.Ball(10.0))
        for e in (0.01, 0.1, 1.0, 10.0)
    ],
    "ons": [hf.ONS(hf.Ball(3.0), alpha) for alpha in (0.01, 0.1, 1.0)],
    "metagrad": [hf.learners.Clipped(hf.MetaGrad(hf.Ball(radius))) for radius in (1.0, 3.0, 10.0)],
    "diagonalmetagrad": [hf.learners.DiagonalMetaGrad(hf.Box(-far, far)) for far in (1.0, 3.0, 10.0)],
    "scaleinvariant": [hf.ScaleInvariant(epsilon) for epsilon in (0.01, 0.1, 1.0)],
    "onlineridge": [hf.OnlineRidge(strength) for strength in (0.1, 1.0, 10.0, 100.0)],
    "vaw": [hf.VAW(strength) for strength in (0.1, 1.0, 10.0, 100.0)],
}


class Tried(NamedTuple):
    """A setting, and its errors as multiples of those of the default: their geometric mean, and the worst."""

    name: str
    setting: object
    mean: float
    worst: float
    where: str

    def is_chosen(self):
        return self.setting == LEARNERS[self.name]


def tune(folder, name, settings, kinds=KINDS, rounds=_ROUNDS, compiled=True):
    """All settings of a name, on all data sets of the folder that fit its losses."""
    ratios: dict = {setting: {} for setting in settings}
    is_cubic = isinstance(settings[0], ONS | Clipped)
    for data in available(folder):
        tables = load(folder, data)[:_SERIES]
        if not _has_loss(name, tables[0].regression) or (is_cubic and tables[0].X.shape[1] > _NARROW):
            continue
        tables = [table.first(min(rounds, _FEW) if is_cubic else rounds) for table in tables]
        for kind in kinds:
            streams = [corrupt(table, kind, (0, i)) for i, table in enumerate(tables)]
            usual = error(LEARNER, hf.Absolute() if tables[0].regression else hf.Hinge(), streams, compiled)
            for setting in settings:
                loss = loss_for(name, tables[0].regression)
                ratios[setting][f"{data}, {kind}"] = error(setting, loss, streams, compiled) / usual
    return [_summary(name, setting, found) for setting, found in ratios.items()]


def loss_for(name, regression):
    learner: Any = LEARNERS[name]
    if learner.needs().losses in ("squared", "exp-concave"):
        return hf.Squared() if regression else hf.Logistic()
    return hf.Absolute() if regression else hf.Hinge()


def _has_loss(name, regression):
    learner: Any = LEARNERS[name]
    return regression or learner.needs().losses != "squared"


def error(learner, loss, streams, compiled):
    """The mean error on the good rounds of all streams, with the guard and the scales of the estimators."""
    errors = []
    for stream in streams:
        table = stream.table
        player = recommended(table.regression, learner=suited(learner, loss))
        replay = hf.Replay(table.X, table.y, loss)
        predictions = hf.play(player, replay, keep=("predictions",), compiled=compiled).predictions
        errors.append(stream.errors(predictions)[stream.scored])
    mean = float(np.concatenate(errors).mean())
    return mean if streams[0].table.regression else max(mean, 1e-3)  # an error of 0 would be luck


def _summary(name, setting, found):
    worst = max(found, key=lambda where: found[where])
    mean = math.exp(sum(math.log(ratio) for ratio in found.values()) / len(found))
    return Tried(name, setting, mean, found[worst], worst)
