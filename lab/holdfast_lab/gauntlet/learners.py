"""Contestants of the track `streams`, by name."""

import copy
import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from holdfast_lab.gauntlet.models.ours import Robust
from holdfast_lab.gauntlet.models.published import Published
from holdfast_lab.gauntlet.models.river_models import RiverModel, linear, tree
from holdfast_lab.gauntlet.models.ruled import RuledLearner
from holdfast_lab.gauntlet.models.sklearn_models import Refitted, ScaledSGD
from holdfast_lab.gauntlet.models.vw_model import VowpalWabbit
from holdfast_lab.gauntlet.stepping import OURS, STEPPERS


class Model(Protocol):
    """What plays a stream."""

    def partial_fit(self, X: np.ndarray, y: np.ndarray) -> Any: ...

    def predict(self, X: np.ndarray) -> np.ndarray: ...


class Known(NamedTuple):
    """What is known of a stream before it starts; `bad` is for those that are told."""

    regression: bool
    bad: int


class Learner(NamedTuple):
    """A contestant: how to make it, and what it is told that the others are not."""

    make: Callable[[Known], Model]
    told: str = ""
    ours: bool = False
    numbers_only: bool = False
    needs: str = ""  # a package that may be missing
    slow: bool = False  # not in --quick


def _huber_loss(known: Known) -> str:
    return "huber" if known.regression else "modified_huber"


def _sk(name: str, **parameters: Any) -> Any:
    from sklearn import linear_model

    return getattr(linear_model, name)(**parameters)


def _ruled(name: str) -> Learner:
    stepper = STEPPERS[name]
    return Learner(lambda k: RuledLearner(stepper, k.regression, k.bad), told=stepper.told, ours=stepper.ours)


LEARNERS: dict[str, Learner] = {
    OURS: Learner(lambda k: Robust(k.regression), ours=True),
    "holdfast, no filter": Learner(lambda k: Robust(k.regression, outliers=0), ours=True),
    "sklearn SGD": Learner(lambda k: ScaledSGD(k.regression)),
    "sklearn SGD, Huber": Learner(lambda k: ScaledSGD(k.regression, loss=_huber_loss(k))),
    "sklearn Huber, window": Learner(lambda k: Refitted(_sk("HuberRegressor"), every=100), numbers_only=True),
    "sklearn RANSAC, window": Learner(
        lambda k: Refitted(_sk("RANSACRegressor", random_state=0)), numbers_only=True
    ),
    "sklearn TheilSen, window": Learner(
        lambda k: Refitted(_sk("TheilSenRegressor", random_state=0), every=250), numbers_only=True, slow=True
    ),
    "River": Learner(lambda k: RiverModel(linear(k.regression), k.regression), needs="river"),
    "River, clip": Learner(
        lambda k: RiverModel(linear(k.regression, clip=True), k.regression), needs="river"
    ),
    "River, clip, filter": Learner(
        lambda k: RiverModel(linear(k.regression, True, True), k.regression), needs="river"
    ),
    "River tree": Learner(lambda k: RiverModel(tree(k.regression), k.regression), needs="river"),
    "River tree, Robust": Learner(
        lambda k: RiverModel(tree(k.regression, robust=True), k.regression), needs="river", ours=True
    ),
    "Vowpal Wabbit": Learner(lambda k: VowpalWabbit(k.regression), needs="vowpalwabbit"),
    "WoLF": Learner(lambda k: Published("WoLF", True), numbers_only=True),
    "QC-SGD": Learner(lambda k: Published("QC-SGD", k.regression)),
    **{
        f"AdaGrad + {name}": _ruled(name)
        for name in (
            "none",
            "fixed clip",
            "AutoClip",
            "ZClip",
            "OLMo-core",
            "axlearn",
            "icefall",
            OURS,
            "holdfast, Top-k",
        )
    },
}
# The oracle is the best of these, each of which meets the good rows only.
PANEL = (OURS, "sklearn SGD, Huber", "AdaGrad + none")


def copied(model: Model) -> Model | None:
    """A copy for an adversary to try things on; None if it cannot be copied."""
    try:
        return copy.deepcopy(model)
    except (TypeError, AttributeError, ValueError, RuntimeError):
        return None


def nothing_known(count: int) -> np.ndarray:
    """Predictions of a contestant that failed."""
    return np.full(count, math.nan)
