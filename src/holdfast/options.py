"""The one reader of options: outliers, loss, learner, memory, delay, missing cells.

The estimators, River, Spark and the command line read them here, from text or from objects. An option that is
read again is the same. A mistake has one sentence, in the words of the caller (`Words`).
"""

import math
import numbers
from collections.abc import Iterable
from typing import Any, NamedTuple

from holdfast import learners, losses
from holdfast.domains import Ball, Box
from holdfast.filters import Everything, Quantile, TopK, TopShare
from holdfast.protocols import Filter, Learner, LipschitzLoss, Loss
from holdfast.roles import Rule, check_role
from holdfast.rule import replaced
from holdfast.steady import Diagonal, Logits, Ridges
from holdfast.steady.choice import ridges_for
from holdfast.terminal import Refusal, quoted

LEARNER = learners.AdaGrad(Box(-10.0, 10.0), rate=0.008, ballast=1.0)
LEARNERS = {  # for standardised features; docs/learners.md says which settings were chosen by trial
    "adagrad": LEARNER,
    "ogd": learners.OGD(Ball(10.0), learners.Adaptive(0.03)),
    "adaftrl": learners.AdaFTRL(Ball(1.0)),
    "soloftrl": learners.SoloFTRL(Ball(10.0)),
    "freegrad": learners.Bounded(learners.Clipped(learners.FreeGrad(10.0)), Ball(10.0)),
    "ons": learners.ONS(Ball(3.0), alpha=0.1),
    "metagrad": learners.Clipped(learners.MetaGrad(Ball(3.0))),
    "diagonalmetagrad": learners.DiagonalMetaGrad(Box(-3.0, 3.0)),
    "scaleinvariant": learners.ScaleInvariant(),
    "onlineridge": learners.OnlineRidge(),
    "vaw": learners.VAW(),
}
FOR_NUMBERS = {"first_order": Ridges(covariance=Diagonal()), "second_order": Ridges()}  # numbers as targets
FOR_LABELS = {"logits": Logits()}
ALL_LEARNERS = LEARNERS | FOR_LABELS | FOR_NUMBERS
LOSSES: dict[str, Any] = {
    "absolute_error": losses.Absolute(),
    "squared_error": losses.Squared(),
    "huber": losses.Huber(),
    "pinball": losses.Pinball(),
    "epsilon_insensitive": losses.EpsilonInsensitive(),
    "hinge": losses.Hinge(),
    "squared_hinge": losses.SquaredHinge(),
    "log_loss": losses.Logistic(),
}
LOSSES_FOR_LABELS = ("hinge", "squared_hinge", "log_loss")
_OF_LABELS = tuple(type(LOSSES[name]) for name in LOSSES_FOR_LABELS)
MISSING = ("impute", "skip", "raise")

_MADE_FOR = {
    "squared": ("squared_error",),
    "logistic": ("log_loss",),
    "exp-concave": ("squared_error", "log_loss", "squared_hinge"),
}
_FOR_EXPERTS = ("adahedge", "squint", "eg")
_WITH_NUMBER = ("huber", "pinball", "epsilon_insensitive")
_MOST_OUTLIERS = 10_000_000  # as a count; a filter stores so many sizes
_LEAST_ROWS, _MOST_ROWS = 10, 10_000_000  # of memory and patience
_MOST_DELAY = 1_000_000  # rows
_DELTA = 1e-6  # the probability that a threshold of the quantile filter fails

Outliers = str | float | int | Filter  # "auto", a share below 1, a count, or a filter


class Words(NamedTuple):
    """How a caller writes options: `memory=5` in Python, `--memory 5` on the command line.

    >>> PYTHON.given("memory", "auto"), TERMINAL.given("memory", "auto")
    ("memory='auto'", '--memory auto')
    """

    python: bool
    objects: bool = True  # whether rules may be given, and not only text and numbers

    def name(self, option: str) -> str:
        return option if self.python else f"--{option.replace('_', '-')}"

    def given(self, option: str, value: object) -> str:
        """The option and its value, as they are written."""
        return f"{option}={value!r}" if self.python else f"{self.name(option)} {value}"

    def word(self, text: str) -> str:
        """A word that can be given."""
        return f'"{text}"' if self.python else text

    def value(self, value: object) -> str:
        """A value that was given."""
        return repr(value) if self.python else quoted(value)

    def of_loss(self, loss: Any) -> str:
        return repr(loss) if self.objects else self.given("loss", loss_name(loss))

    def of_learner(self, learner: Any, name: str | None = None) -> str:
        return type(learner).__name__ if self.objects or name is None else self.given("learner", name)

    def error(self, sentence: str) -> ValueError:
        return ValueError(sentence) if self.python else Refusal(sentence)

    def wrong(self, option: str, allowed: str, value: object) -> ValueError:
        """The error for a value that is not allowed."""
        return self.error(f"{self.name(option)} must be {allowed}: got {self.value(value)}")


PYTHON, SPARK, TERMINAL = Words(True), Words(True, False), Words(False, False)


def is_auto(value: object) -> bool:
    """Whether nothing was chosen: "auto", or None."""
    return value is None or (isinstance(value, str) and value.strip() == "auto")


# -- outliers


def read_outliers(value: Any, words: Words = PYTHON, option: str = "outliers") -> Any:
    """How many rounds may be wrong: "auto", a share below a half, a count, or a filter; 0 keeps every round.

    >>> read_outliers("5%"), read_outliers("50"), read_outliers("none"), read_outliers(0.05)
    (0.05, 50, 0, 0.05)
    """
    found: Any = _outliers_of_text(value.strip()) if isinstance(value, str) else value
    none = f"{words.word('none')}, or a filter" if words.objects else f"or {words.word('none')}"
    allowed = (
        f"{words.word('auto')}, a share such as {words.word('1%')}, a count up to {_MOST_OUTLIERS:,}, a "
        f"quantile such as {words.word('quantile:0.99')}, {none}"
    )
    if isinstance(found, Rule):
        check_role(found, Filter)
        return found
    if isinstance(found, str):
        return found
    if isinstance(found, bool) or not isinstance(found, numbers.Real):
        raise TypeError(f"outliers must be {allowed}: got {value!r}")
    count = _number_of(found)
    if 0.5 <= count < 1.0:
        raise words.wrong(option, "fewer than half of the rows, or they look right", value)
    if not 0.0 <= count <= _MOST_OUTLIERS or (count >= 1.0 and count != int(count)):
        raise words.wrong(option, allowed, value)
    return int(count) if count == int(count) else count


def _outliers_of_text(text: str) -> object:
    """A share or count, NaN if it is none; "auto"; or a filter."""
    if text in ("auto", "none"):
        return 0 if text == "none" else text
    name, _, level = text.partition(":")
    if name == "quantile":
        p = _number_of(level)
        return Quantile(p, delta=_DELTA) if 0.0 < p < 1.0 else math.nan
    share = _number_of(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    return math.nan if text.endswith("%") and share >= 1.0 else share


def filter_of(outliers: Any, **fields: Any) -> Any:
    """The filter for a share, a count or a filter that was read. The fields are those of `TopShare`."""
    if isinstance(outliers, Rule):
        return outliers
    if outliers == 0:
        return Everything()
    return TopShare(outliers, **fields) if outliers < 1 else TopK(outliers)


def filter_for_training(outliers: Any, window: int | None, slack: float) -> Any:
    """The filter for steps of training, on a device: `TopK` or `TopShare`, whose memory is fixed.

    >>> filter_for_training("1%", window=1000, slack=2.0).share
    0.01
    """
    read: Any = read_outliers(outliers)
    if isinstance(read, float):
        return TopShare(read, slack=slack, exact=True, window=window)
    if isinstance(read, int) and read > 0:
        return TopK(read, slack=slack, window=window)
    if type(read) not in (TopK, TopShare):
        raise ValueError(
            f"outliers must be a share, a number of steps, a TopK or a TopShare: got {outliers!r}"
        )
    return read if type(read) is TopK else read._replace(exact=True)


# -- numbers of rows, missing cells


def read_rows(option: str, value: object, words: Words = PYTHON) -> float | None:
    """`memory` or `patience`, a number of rows; None for "auto"."""
    if is_auto(value):
        return None
    rows = _number_of(value)
    if not _LEAST_ROWS <= rows <= _MOST_ROWS:
        numbers_of_rows = f"a number of rows from {_LEAST_ROWS} to {_MOST_ROWS:,}"
        raise words.wrong(option, f"{words.word('auto')}, or {numbers_of_rows}", value)
    return rows


def read_delay(value: Any, words: Words = PYTHON, batch: bool = False) -> int:
    """How many rows are predicted before they are learned from; 0 for "batch", where that is allowed."""
    if batch and isinstance(value, str) and value == "batch":
        return 0
    if not is_whole(value) or not 1 <= value <= _MOST_DELAY:
        also = f"{words.word('batch')} or " if batch else ""
        raise words.wrong("delay", f"{also}a number of rows from 1 to {_MOST_DELAY:,}", value)
    return int(value)


def read_missing(value: object, allowed: tuple[str, ...] = MISSING, words: Words = PYTHON) -> str:
    """What to do with missing cells."""
    if not isinstance(value, str) or value not in allowed:
        raise words.wrong("missing", _listed(map(words.word, allowed)), value)
    return value


def read_missing_share(value: Any) -> float:
    if not 0.0 <= value < 1.0:
        raise ValueError(f"missing_share is a share of cells, below 1: got {value!r}")
    return float(value)


def read_audit_size(value: Any) -> int:
    if not is_whole(value) or value < 0:
        raise ValueError(f"audit_size counts skipped rows, at least 0: got {value!r}")
    return int(value)


def is_whole(value: object) -> bool:
    """Whether this is an integer, and not True or False."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


def _number_of(value: Any) -> float:
    """A number, also from text; NaN if it is none."""
    try:
        return math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


# -- losses


def read_loss(value: object, regression: bool | None, words: Words = PYTHON) -> Any:
    """A loss, from itself or from text such as "huber:2"; "auto" or None is the default.

    `regression`: whether targets are numbers; None if that is not known yet.

    >>> read_loss("huber:2", regression=True), read_loss("auto", regression=False)
    (Huber(knee=2.0), Logistic())
    """
    if is_auto(value):
        return losses.Absolute() if regression else losses.Logistic()
    if isinstance(value, str):
        return _loss_of_text(value.strip(), regression, words)
    if not isinstance(value, Rule):
        raise TypeError(f"loss must be a name or a loss of holdfast, such as Huber(2.0): got {value!r}")
    check_role(value, Loss)
    if isinstance(value, losses.Linear):
        raise words.error("Linear() has no smallest value, so no model fits best: use another loss")
    if regression and isinstance(value, _OF_LABELS):
        raise _for_other_targets(words.of_loss(value), True, words)
    return value


def _loss_of_text(text: str, regression: bool | None, words: Words) -> Any:
    name, has_number, number = text.partition(":")
    if name not in LOSSES:
        names = ", ".join(_losses_for(regression)) + (", or a loss of holdfast" if words.objects else "")
        raise words.wrong("loss", f"one of {names}", text)
    if has_number and name not in _WITH_NUMBER:
        raise words.error(f"{words.given('loss', text)}: {name} takes no number")
    if regression is not None and regression == (name in LOSSES_FOR_LABELS):
        raise _for_other_targets(words.given("loss", name), regression, words)
    return _made(type(LOSSES[name]), number, words.given("loss", text), words) if number else LOSSES[name]


def _losses_for(regression: bool | None) -> list[str]:
    return [name for name in LOSSES if regression is None or (name in LOSSES_FOR_LABELS) != regression]


def _for_other_targets(loss: str, regression: bool, words: Words) -> ValueError:
    mine, others = ("numbers", "labels") if regression else ("labels", "numbers")
    names = ", ".join(_losses_for(regression))
    return words.error(f"{loss} is for {others}, and the targets are {mine}: use one of {names}")


def loss_name(loss: Any) -> str:
    """A loss as text, which `read_loss` reads.

    >>> loss_name(losses.Huber(2.0)), loss_name(losses.Logistic())
    ('huber:2', 'log_loss')
    """
    name = next((name for name, known in LOSSES.items() if type(known) is type(loss)), repr(loss))
    return name if loss == LOSSES.get(name) or not loss._fields else f"{name}:{loss[0]:g}"


# -- learners


def read_learner(value: object, loss: Any, words: Words = PYTHON) -> Any:
    """A learner for a linear model with this loss, from itself or its name; None or "auto" is the default.

    The default is None here, because it depends on more. Raises if learner and loss do not go together.

    >>> read_learner("adaftrl", losses.Logistic())
    AdaFTRL(domain=Ball(radius=1.0, around=0.0))
    """
    if is_auto(value):
        return None
    if isinstance(value, str):
        return _learner_of_text(value.strip(), loss, words)
    if not isinstance(value, Rule | type):
        example = "a name or a learner of holdfast, such as OGD(Ball(1.0))"
        raise TypeError(f"learner must be {example}: got {value!r}")
    if not isinstance(value, Ridges | Logits):
        check_role(value, Learner)
        refuse_experts(value)
    if loss is not None:
        refuse_pair(value, loss, words)
    return value


def _learner_of_text(text: str, loss: Any, words: Words) -> Any:
    name, has_number, number = text.partition(":")
    if name in _FOR_EXPERTS:
        raise words.error(
            f"{words.given('learner', name)} divides weight among experts, and a linear model has features "
            f"instead: use one of {', '.join(LEARNERS)}"
        )
    if name not in ALL_LEARNERS or (has_number and name not in ("adagrad", "ogd")):
        names = f"{', '.join(ALL_LEARNERS)}, adagrad:RATE or ogd:RADIUS"
        raise words.wrong("learner", names + (", or a learner itself" if words.objects else ""), text)
    where = words.given("learner", text)
    if has_number and name == "adagrad":
        box, ballast = LEARNER.domain, LEARNER.ballast
        return _made(lambda rate: learners.AdaGrad(box, rate, ballast), number, where, words)
    if has_number:
        return learners.OGD(_made(Ball, number, where, words))
    if loss is None:
        return ALL_LEARNERS[name]
    if name in FOR_NUMBERS:
        if isinstance(loss, _OF_LABELS):
            other = f"{words.of_loss(loss)} is for labels: use adagrad"
            raise words.error(f"{where} is for numbers as targets, and {other}")
        return replaced(ridges_for(loss), covariance=FOR_NUMBERS[name].covariance)
    return suited(ALL_LEARNERS[name], loss, words, name)


def suited(learner: Any, loss: Any, words: Words = PYTHON, name: str | None = None) -> Any:
    """The learner, with the Lipschitz constant of the loss if it needs it; raises if the two do not fit."""
    refuse_pair(learner, loss, words, name)
    if isinstance(learner, Logits) or learner.needs().losses != "Lipschitz":
        return learner
    check_role(loss, LipschitzLoss)
    if not loss.lipschitz() < math.inf:
        which = words.of_learner(learner, name)
        raise words.error(
            f"{which} must know how steep a loss can be, and {words.of_loss(loss)} has no limit"
        )
    return learner._replace(steepest=loss.lipschitz())


def refuse_pair(learner: Any, loss: Any, words: Words = PYTHON, name: str | None = None) -> None:
    """Raise if a learner would learn with another loss than this one."""
    which, other = words.of_learner(learner, name), words.of_loss(loss)
    own = learner.loss if isinstance(learner, learners.Mixture | Ridges) else loss
    if own != loss:
        raise words.error(
            f"{which} learns with {words.of_loss(own)}, not with {other}: give both the same loss"
        )
    if isinstance(learner, Ridges):
        return
    if isinstance(learner, Logits | learners.RobustRidge):
        needed = "logistic" if isinstance(learner, Logits) else "squared"
    else:
        needed = learner.needs().losses if learner.needs() is not None else "any"
    allowed = _MADE_FOR.get(needed, ())
    if allowed and not isinstance(loss, tuple(type(LOSSES[name]) for name in allowed)):
        use = _listed(words.of_loss(LOSSES[name]) for name in allowed)
        raise words.error(f"{which} is made for {needed} losses: use it with {use}, not with {other}")


def refuse_weights(learner: Any) -> None:
    """Raise if a learner uses more than the gradient, because a weight can only multiply the gradient."""
    ridges = learners.OnlineRidge | learners.VAW | learners.RobustRidge
    if isinstance(learner, ridges | learners.ScaleInvariant | learners.Mixture):
        raise ValueError(
            f"{type(learner).__name__} uses the target as well as the gradient, so rows cannot have "
            "weights: repeat rows instead, or use another learner"
        )


def refuse_experts(learner: Any) -> None:
    """Raise if the weights of a learner are shares, which are never negative."""
    needs = learner.needs()
    if needs is not None and needs.domain == "simplex":
        raise ValueError(
            f"{learner!r} divides weight among experts, so its weights are never negative; a linear model "
            f"needs signs: use one of {', '.join(LEARNERS)}"
        )


def refuse_without_default(
    memory: object, patience: object, delay: object = 1, words: Words = PYTHON
) -> None:
    """Raise if an option was given that only the default player has (`holdfast.steady.Steady`)."""
    options = {"memory": memory, "patience": patience, "delay": None if delay in (1, "batch") else delay}
    given = [words.given(name, value) for name, value in options.items() if not is_auto(value)]
    if given:
        are, them = ("is", "it") if len(given) == 1 else ("are", "them")
        default = (
            'learner=None, scale=True, no wide sparse rows, and for labels loss="log_loss"'
            if words.python
            else "--learner auto, scaled features, no sparse columns, and for labels --loss log_loss"
        )
        raise words.error(
            f"{' and '.join(given)} {are} for the default learner ({default}): leave {them} or the others out"
        )


def _made(rule: Any, number: str, where: str, words: Words) -> Any:
    """A rule with this number as its parameter."""
    value = _number_of(number)
    if math.isnan(value):
        raise words.error(f"{where}: {words.value(number)} is not a number")
    try:
        return rule(value)
    except ValueError as problem:
        raise words.error(f"{where}: {problem}") from None
