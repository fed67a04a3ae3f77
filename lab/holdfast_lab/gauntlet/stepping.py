"""Contestants of the tracks `steps` and `games`: a rule, or what has `step`, in front of an optimizer."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from holdfast_lab.gauntlet.optimizers import Gradients, Optimizer, norm_of
from holdfast_lab.gauntlet.rules.adagc import AdaGC
from holdfast_lab.gauntlet.rules.autoclip import AutoClip
from holdfast_lab.gauntlet.rules.axlearn import Axlearn
from holdfast_lab.gauntlet.rules.fixed_clip import FixedClip
from holdfast_lab.gauntlet.rules.icefall import Icefall
from holdfast_lab.gauntlet.rules.if_finite import IfFinite
from holdfast_lab.gauntlet.rules.levanter import Levanter
from holdfast_lab.gauntlet.rules.llm_c import LlmC
from holdfast_lab.gauntlet.rules.maxtext import MaxText
from holdfast_lab.gauntlet.rules.nothing import Nothing
from holdfast_lab.gauntlet.rules.olmo_core import OLMoCore
from holdfast_lab.gauntlet.rules.ours import Guard, Textbook
from holdfast_lab.gauntlet.rules.spam import Spam
from holdfast_lab.gauntlet.rules.zclip import ZClip


class Stepping(Protocol):
    """What a contestant is while it plays: gradients come in, and it calls its optimizer, or not."""

    def step(self, gradients: Gradients) -> None: ...


class Ruled:
    """A rule with `keep(size)` in front of an optimizer."""

    def __init__(self, rule: Any, optimizer: Optimizer) -> None:
        self.rule, self.optimizer = rule, optimizer

    def step(self, gradients: Gradients) -> None:
        answer = self.rule.keep(norm_of(gradients))
        if isinstance(answer, bool | np.bool_):
            if answer:
                self.optimizer.step(gradients)
            elif getattr(self.rule, "ZEROES", False):
                self._multiply_by_zero(gradients)
        elif answer == 0.0 and getattr(self.rule, "ZERO_GRADIENT", False):
            self.optimizer.step([np.zeros_like(g) for g in gradients])
        else:
            with np.errstate(all="ignore"):
                self.optimizer.step([float(answer) * g for g in gradients])

    def _multiply_by_zero(self, gradients: Gradients) -> None:
        """Take the step, and add 0 times what it changed to what was there before."""
        before = [array.copy() for array in self.optimizer.arrays()]
        self.optimizer.step(gradients)
        with np.errstate(all="ignore"):
            for array, old in zip(self.optimizer.arrays(), before, strict=True):
                array[:] = old + 0.0 * (array - old)


class Stepper(NamedTuple):
    """A contestant: what it makes of an optimizer, being told (or not) how many steps are bad."""

    make: Callable[[Optimizer, int], Stepping]
    told: str = ""  # what it is told that the others are not
    ours: bool = False


def of_rule(new: Callable[[], Any]) -> Callable[[Optimizer, int], Stepping]:
    """A contestant of a rule that is told nothing."""
    return lambda optimizer, bad: Ruled(new(), optimizer)


def _plain(wrapper: Callable[[Optimizer], Stepping]) -> Callable[[Optimizer, int], Stepping]:
    return lambda optimizer, bad: wrapper(optimizer)


OURS, NONE = "holdfast", "none"
STEPPERS: dict[str, Stepper] = {
    OURS: Stepper(of_rule(Guard), ours=True),
    "holdfast, 1 %": Stepper(of_rule(lambda: Guard(0.01)), ours=True),
    "holdfast, Top-k": Stepper(lambda o, bad: Ruled(Textbook(bad), o), told="how many are bad", ours=True),
    NONE: Stepper(of_rule(Nothing)),
    "fixed clip": Stepper(of_rule(FixedClip)),
    "AutoClip": Stepper(of_rule(AutoClip)),
    "ZClip": Stepper(of_rule(ZClip)),
    "OLMo-core": Stepper(of_rule(OLMoCore)),
    "levanter": Stepper(of_rule(Levanter)),
    "MaxText": Stepper(of_rule(MaxText)),
    "llm.c": Stepper(of_rule(LlmC)),
    "axlearn": Stepper(of_rule(Axlearn)),
    "icefall": Stepper(of_rule(Icefall)),
    "AdaGC": Stepper(_plain(AdaGC)),
    "SPAM-like": Stepper(_plain(Spam)),
    "apply_if_finite": Stepper(of_rule(IfFinite)),
}
