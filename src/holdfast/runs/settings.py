"""The settings of a run, as the command line has them, and the player that they stand for."""

import dataclasses
import json
import math
from typing import Any

from holdfast import losses
from holdfast.certificates.certified import Certified
from holdfast.defaults import (
    ALL_LEARNERS,
    LEARNER,
    default_learner,
    named_learner,
    recommended,
    recommended_loss,
)
from holdfast.domains import Ball, Everywhere
from holdfast.filters import Quantile
from holdfast.io.sources import DECIMALS, Reading
from holdfast.io.typed import typed
from holdfast.learners import OGD, Scaled
from holdfast.runs.files import RunError
from holdfast.steady import Logits, Ridges, Steady
from holdfast.steady.player import FEW_STORED
from holdfast.terminal import quoted

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
_MOST_OUTLIERS = 10_000_000  # as a count; a filter stores so many sizes
_MOST_DELAY = 1_000_000  # rows
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
    delay: int = 1
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
    prior: bool = True
    evict: int | None = None

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
        if not 1 <= self.delay <= _MOST_DELAY:
            raise RunError(f"--delay counts rows, from 1 to {_MOST_DELAY:,}: got {self.delay}")
        if self.loss != "auto":
            loss_for(self.loss, None)
        if self.evict is not None and not 1 <= self.evict < 1 << 53:
            raise RunError(f"--evict counts rows, at least 1: got {self.evict}")
        if self.key is None and self.evict is not None:
            raise RunError("--evict removes keys, and there are none: add --key COLUMN")
        if self.key is None and not self.prior:
            raise RunError("--no-prior is about new keys, and there are none: add --key COLUMN")
        if self.decimal not in DECIMALS:
            raise RunError(f"--decimal must be {', '.join(DECIMALS)}: got {self.decimal!r}")

    def reading(self):
        """How to read the sources."""
        return Reading(self.format, self.header, self.decimal, self.schema)

    def has_prior(self):
        """Whether new keys start from a shared prior. A certificate is about keys that start from nothing."""
        return self.key is not None and self.prior and bool(self.why_no_certificate())

    def player(self, regression, layout=None):
        """The player; it tracks a certificate if there can be one. By default the columns are few and dense.

        With keys it is the same, but the default stores fewer of its first rounds, because there is a state
        for each key.
        """
        columns = 0 if layout is None else math.inf if layout.is_sparse() else layout.feature_count()
        outliers, loss = outliers_for(self.outliers), loss_for(self.loss, regression)
        recency = rows_for(self.memory, "--memory"), rows_for(self.patience, "--patience")
        if self.learner != "auto":
            learner = learner_for(self.learner, loss)
        else:
            learner = default_learner(regression, self.scale, loss, columns)
        steady = self.scale and isinstance(learner, Ridges | Logits)
        if recency != ("auto", "auto") and not steady:
            raise RunError(_wrong("--memory and --patience are", "them", regression))
        if self.delay != 1 and not steady:
            raise RunError(_wrong("--delay is", "it", regression))
        try:
            player = recommended(regression, outliers, learner, self.scale, *recency, self.delay)
        except ValueError as problem:
            raise RunError(str(problem)) from None
        if self.key is not None and isinstance(player, Steady):
            player = player._replace(stored=FEW_STORED)
        if not self.why_no_certificate():
            return Certified(player, outliers)
        return player

    def why_no_certificate(self):
        """A sentence; empty if there can be a certificate."""
        if self.scale:
            return (
                "There is no certificate: features have a running scale, so the meaning of a weight changes "
                "from round to round, and there are no fixed weights to compare with. For a certificate "
                "learn with --no-scale and a count, such as --outliers 50."
            )
        outliers = outliers_for(self.outliers)
        if not (isinstance(outliers, int) and outliers >= 1):
            return (
                "There is no certificate: it needs a number of outliers. Learn with a count, such as "
                "--outliers 50."
            )
        if not getattr(learner_for(self.learner), "domain", Everywhere()).bounded():
            return (
                f"There is no certificate: the weights of {self.learner} are not bounded. Learn with another "
                "--learner."
            )
        return ""


def _default():
    """The settings of a new run, as JSON has them."""
    return json.loads(json.dumps(Settings("").to_json()))


def outliers_for(text, option="--outliers"):
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
            if 1.0 <= share <= _MOST_OUTLIERS and share.is_integer():
                return int(share)
    except ValueError:
        raise RunError(_wrong_outliers(text, option)) from None
    if not 0.0 < share < 1.0:
        raise RunError(_wrong_outliers(text, option))
    return share


def loss_for(text, regression):
    """A loss by name, such as huber:2; `auto` is absolute for numbers, logistic for labels."""
    if text == "auto":
        return recommended_loss(regression)
    name, _, value = text.partition(":")
    if name not in LOSSES:
        raise RunError(f"--loss must be one of {', '.join(LOSSES)}: got {quoted(text)}")
    if value and name not in _WITH_NUMBER:
        raise RunError(f"--loss {name} takes no number: got {quoted(text)}")
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
        return _made(_adagrad, value, f"--learner {text}")
    if name == "ogd" and value:
        return OGD(_made(Ball, value, f"--learner {text}"))
    if name not in ALL_LEARNERS or value:
        names = ", ".join(ALL_LEARNERS)
        raise RunError(f"--learner must be {names}, adagrad:RATE or ogd:RADIUS: got {quoted(text)}")
    try:
        return ALL_LEARNERS[name] if loss is None else named_learner(name, loss)
    except ValueError as problem:
        raise RunError(f"--learner {text}: {problem}") from None


def learner_name(player):
    """The name of the learner inside a player of `Settings`."""
    learner = player.core().learner
    return type(learner.learner if isinstance(learner, Scaled) else learner).__name__


def _adagrad(rate):
    return type(LEARNER)(**LEARNER._asdict() | {"rate": rate})


def rows_for(text, option):
    """A number of rows, or "auto"."""
    if text.strip() == "auto":
        return "auto"
    rows = _number(text, f"{option} {text}")
    if not (10.0 <= rows <= 1e6 and rows.is_integer()):
        raise RunError(f"{option} must be auto, or a number of rows from 10 to 1,000,000: got {quoted(text)}")
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
        raise RunError(f"{where}: {quoted(value)} is not a number") from None


def _wrong(which, again, regression):
    """A sentence about options that only the default player has."""
    learner = "auto or second_order" if regression else "auto or logits, --loss logistic"
    return (
        f"{which} for --learner {learner}, with scaled features (auto: not sparse): "
        f"leave {again} out, or leave those as they are"
    )


def _wrong_outliers(text, option):
    return (
        f"{option} must be auto, a share such as 1%, a count from 1 to {_MOST_OUTLIERS:,}, a quantile such "
        f"as quantile:0.99, or none: got {quoted(text)}"
    )
