"""Read a file that enters: `keep(size)`, or `partial_fit` and `predict`, or `wrap(optimizer)`.

The file is run as it is: it is code that you trust. docs/gauntlet.md says what it may contain.
"""

import functools
import importlib.util
from pathlib import Path
from typing import Any, NamedTuple

from holdfast_lab.gauntlet.learners import Known, Learner
from holdfast_lab.gauntlet.models.ruled import RuledLearner
from holdfast_lab.gauntlet.optimizers import Optimizer
from holdfast_lab.gauntlet.stepping import Ruled, Stepper


class Entry(NamedTuple):
    """A contestant of a file, for the tracks that it can play."""

    name: str
    learner: Learner | None
    stepper: Stepper | None

    def tracks(self) -> tuple[str, ...]:
        return ("streams",) * (self.learner is not None) + ("steps", "games") * (self.stepper is not None)


def read_entry(path: Path | None) -> Entry | None:
    """The entry of a file; a sentence that says what is missing, if it has none."""
    return None if path is None else _read(path.resolve())


@functools.cache
def _read(path: Path) -> Entry:
    spec = importlib.util.spec_from_file_location("gauntlet_entry", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"--entry is a Python file, and there is none at {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    name = f"{getattr(module, 'NAME', path.stem)} (entry)"
    rule, model, wrap = (getattr(module, word, None) for word in ("Rule", "Model", "wrap"))
    told = str(getattr(module, "TOLD", ""))
    if told not in ("", "k"):
        raise ValueError(f"TOLD in {path.name} is 'k', or is left out: got {told!r}")
    for made, verbs in ((rule, ("keep",)), (model, ("partial_fit", "predict"))):
        missing = [verb for verb in verbs if made is not None and not hasattr(made, verb)]
        if missing:
            raise ValueError(f"{path.name}: its class has no method {missing[0]}; see docs/gauntlet.md")
    stepper = learner = None
    words = "how many are bad" if told else ""
    if wrap is not None:
        stepper = Stepper(lambda optimizer, bad: _called(wrap, told, bad, optimizer), words)
    elif rule is not None:
        stepper = Stepper(lambda optimizer, bad: _ruled(rule, told, bad, optimizer), words)
    if model is not None:
        learner = Learner(lambda known: _model(model, told, known), words)
    elif rule is not None and stepper is not None:
        ruled = stepper
        learner = Learner(lambda known: RuledLearner(ruled, known.regression, known.bad), words)
    if stepper is None and learner is None:
        raise ValueError(
            f"{path.name} has none of: a class Rule with keep(size), a class Model with partial_fit(X, y) "
            "and predict(X), a function wrap(optimizer); see docs/gauntlet.md"
        )
    return Entry(name, learner, stepper)


def _called(function: Any, told: str, bad: int, *rest: Any) -> Any:
    return function(*rest, k=bad) if told else function(*rest)


def _ruled(rule: Any, told: str, bad: int, optimizer: Optimizer) -> Ruled:
    return Ruled(_called(rule, told, bad), optimizer)


def _model(model: Any, told: str, known: Known) -> Any:
    return _called(functools.partial(model, regression=known.regression), told, known.bad)
