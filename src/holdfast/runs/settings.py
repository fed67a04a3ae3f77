"""The settings of a run, as the command line has them, and the player that they stand for."""

import dataclasses
import json
import math
from typing import Any

from holdfast import losses
from holdfast.certificates.certified import Certified
from holdfast.defaults import ALL_LEARNERS, LEARNER, default_learner, named_learner, recommended
from holdfast.domains import Ball, Everywhere
from holdfast.filters import Quantile
from holdfast.io.sources import DECIMALS, Reading
from holdfast.io.typed import typed
from holdfast.learners import OGD
from holdfast.runs.files import RunError

LOSSES = {
    "absolute": losses.Absolute,
    "squared": losses.Squared,
    "huber": losses.Huber,
    "pinball": losses.Pinball,
    "epsilon_insensitive": losses.EpsilonInsensitive,
    "hinge": losses.Hinge,
    "squared_hinge": losses.SquaredHinge,
    "logistic": losses.Logistic,
}
_WITH_NUMBER = ("huber", "pinball", "epsilon_insensitive")
FOR_LABELS = ("hinge", "squared_hinge", "logistic")
_DELTA = 1e-6  # the probability that a threshold of the quantile filter fails


@dataclasses.dataclass(frozen=True)
class Settings:
    """The settings, as they are written on the command line."""

    target: str
    task: str = "auto"
    loss: str = "auto"
    outliers: str = "auto"
    learner: str = "auto"
    scale: bool = True
    memory: str = "auto"
    patience: str = "auto"
    missing: str = "auto"
    features: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    key: str | None = None
    format: str | None = None
    header: bool = True
    decimal: str = "auto"
    schema: str | None = None
    sizes: bool = True

    def to_json(self):
        return dataclasses.asdict(self)

    @staticmethod
    def from_json(found):
        """The settings that `to_json` wrote; raises ValueError if they are anything else.

        Those that an earlier version did not have are as they are by default.
        """
        if isinstance(found, dict):
            default = {name: value for name, value in _default().items() if name != "target"}
            found = default | found
        settings = typed(Settings, found)
        settings.check()
        return settings

    def check(self):
        """Raise if a setting has a value that is not allowed."""
        outliers_for(self.outliers)
        learner_for(self.learner)
        rows_for(self.memory, "--memory")
        rows_for(self.patience, "--patience")
        if self.loss != "auto":
            loss_for(self.loss, None)
        if self.decimal not in DECIMALS:
            raise RunError(f"--decimal must be {', '.join(DECIMALS)}: got {self.decimal!r}")

    def reading(self):
        """How to read the sources."""
        return Reading(self.format, self.header, self.decimal, self.schema)

    def player(self, regression, layout=None):
        """The player; it tracks a certificate if there can be one. By default the columns are few and dense.

        With keys the default learner is AdaGrad, because there is a state for each key, and that of a mixture
        is ten times as large.
        """
        outliers, loss = outliers_for(self.outliers), loss_for(self.loss, regression)
        if self.learner == "auto":
            columns = 0 if layout is None else math.inf if layout.is_sparse() else layout.feature_count()
            keyed = self.key is not None
            learner = default_learner(regression, outliers, self.scale, loss, columns, keyed)
        else:
            learner = learner_for(self.learner, loss)
        recency = rows_for(self.memory, "--memory"), rows_for(self.patience, "--patience")
        try:
            player = recommended(regression, outliers, learner, self.scale, *recency)
        except ValueError as problem:
            raise RunError(str(problem)) from None
        if not self.why_no_certificate():
            return Certified(player, outliers)
        return player

    def why_no_certificate(self):
        """A sentence; empty if there can be a certificate."""
        if self.scale:
            return (
                "There is none: features have a running scale, so the meaning of a weight changes from round "
                "to round, and there are no fixed weights to compare with. For a certificate learn with "
                "--no-scale and a count, such as --outliers 50."
            )
        outliers = outliers_for(self.outliers)
        if not (isinstance(outliers, int) and outliers >= 1):
            return "There is none: it needs a number of outliers. Learn with a count, such as --outliers 50."
        if not getattr(learner_for(self.learner), "domain", Everywhere()).bounded():
            return (
                f"There is none: the weights of {self.learner} are not bounded. Learn with another --learner."
            )
        return ""


def _default():
    """The settings of a new run, as JSON has them."""
    return json.loads(json.dumps(Settings("").to_json()))


def outliers_for(text):
    """The parameter `outliers` of `holdfast.defaults.recommended`: auto, a share, a count or a filter."""
    word = text.strip()
    try:
        if word in ("auto", "none"):
            return 0 if word == "none" else "auto"
        if word.startswith("quantile:"):
            return Quantile(float(word.removeprefix("quantile:")), delta=_DELTA)
        if word.endswith("%"):
            share = float(word[:-1]) / 100.0
        else:
            share = float(word)
            if share >= 1.0 and share.is_integer():
                return int(share)
    except ValueError:
        raise RunError(_wrong_outliers(text)) from None
    if not 0.0 < share < 1.0:
        raise RunError(_wrong_outliers(text))
    return share


def loss_for(text, regression):
    """A loss by name, such as huber:2; `auto` is absolute for numbers, hinge for labels."""
    if text == "auto":
        return losses.Absolute() if regression else losses.Hinge()
    name, _, value = text.partition(":")
    if name not in LOSSES:
        raise RunError(f"--loss must be one of {', '.join(LOSSES)}: got {text!r}")
    if value and name not in _WITH_NUMBER:
        raise RunError(f"--loss {name} takes no number: got {text!r}")
    if regression is not None and regression == (name in FOR_LABELS):
        others = [other for other in LOSSES if (other in FOR_LABELS) != regression]
        raise RunError(
            f"--loss {name} is for {'labels' if regression else 'numbers'}, and the target holds "
            f"{'numbers' if regression else 'labels'}: use one of {', '.join(others)}"
        )
    return _made(LOSSES[name], value, f"--loss {text}")


def learner_for(text, loss=None):
    """A learner by name, such as adaftrl, adagrad:0.01 or ogd:5; with a loss, one that suits it."""
    name, _, value = text.partition(":")
    if text == "auto":
        return LEARNER
    if name == "adagrad" and value:
        return LEARNER._replace(rate=_number(value, f"--learner {text}"))
    if name == "ogd" and value:
        return OGD(_made(Ball, value, f"--learner {text}"))
    if name not in ALL_LEARNERS or value:
        names = ", ".join(ALL_LEARNERS)
        raise RunError(f"--learner must be {names}, adagrad:RATE or ogd:RADIUS: got {text!r}")
    try:
        return ALL_LEARNERS[name] if loss is None else named_learner(name, loss)
    except ValueError as problem:
        raise RunError(f"--learner {text}: {problem}") from None


def rows_for(text, option):
    """A number of rows, or "auto"."""
    if text.strip() == "auto":
        return "auto"
    rows = _number(text, f"{option} {text}")
    if not (10.0 <= rows <= 1e6 and rows.is_integer()):
        raise RunError(f"{option} must be auto, or a number of rows from 10 to 1,000,000: got {text!r}")
    return int(rows)


def _made(rule: Any, value, where):
    try:
        return rule(_number(value, where)) if value else rule()
    except ValueError as problem:
        raise RunError(f"{where}: {problem}") from None


def _number(value, where):
    try:
        return float(value)
    except ValueError:
        raise RunError(f"{where}: {value!r} is not a number") from None


def _wrong_outliers(text):
    return (
        "--outliers must be auto, a share such as 1%, a count such as 50, a quantile such as quantile:0.99, "
        f"or none: got {text!r}"
    )
