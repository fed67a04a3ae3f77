"""The track `games`: lower bounds, two more adversaries, and hill climbing against each contestant."""

import math
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from holdfast_lab.gauntlet.games import ADVERSARIES, climb, regret
from holdfast_lab.gauntlet.scores import Score, finite
from holdfast_lab.gauntlet.stepping import Stepper
from holdfast_lab.gauntlet.steps_track import contestants, steppers_of
from holdfast_lab.gauntlet.track import Setting, Track

CLIMB = "climb"
_SEEDS = 5  # of a random adversary


class GameScenario(NamedTuple):
    """An adversary, its number of outliers, and the rounds. `budget` is that of hill climbing."""

    adversary: str
    k: int
    rounds: int = 400
    budget: int = 0
    seed: int = 0

    @property
    def name(self) -> str:
        tries = f", {self.budget} tries" if self.budget else ""
        return f"game {self.adversary}: {self.k} of {self.rounds}{tries}" + (
            f", seed {self.seed}" if self.seed else ""
        )


def scenarios(setting: Setting) -> list[GameScenario]:
    ks = (4, 40) if setting.quick else (1, 4, 40, 80)
    budget, rounds = (60, 400) if setting.quick else (600, 400)
    some = [GameScenario(name, k, rounds) for name in ADVERSARIES for k in ks]
    some += [GameScenario(CLIMB, k, rounds, budget) for k in ks]
    return [each._replace(seed=setting.seed) for each in some]


def measure(setting: Setting, scenario: GameScenario, names: Sequence[str]) -> dict[str, Score | None]:
    steppers = steppers_of(setting)
    return {name: play_game(steppers[name], scenario) for name in names}


def play_game(stepper: Stepper, scenario: GameScenario) -> Score:
    """Regret over G √T, the mean of some seeds; the excess is what it has beyond the oracle's."""
    start, note = time.process_time(), ""
    try:
        if scenario.adversary == CLIMB:
            mine, least = climb(stepper, scenario.k, scenario.rounds, scenario.budget, scenario.seed)
        else:
            make = ADVERSARIES[scenario.adversary]
            games = [
                make(scenario.k, scenario.rounds, np.random.default_rng([scenario.seed, each]))
                for each in range(_SEEDS)
            ]
            mine = float(np.mean([regret(stepper, game) for game in games]))
            least = float(np.mean([regret(None, game) for game in games]))
    except (RuntimeError, ValueError, OverflowError, ZeroDivisionError) as problem:
        mine, least, note = math.inf, 0.0, f"raised: {str(problem)[:80]}"
    broken = not math.isfinite(mine)
    rounds = scenario.rounds * (scenario.budget or _SEEDS)
    return Score(
        finite(mine),
        None if broken else finite(mine - least),
        broken=broken,
        note=note or ("NaN or infinity reached the weights" if broken else ""),
        microseconds=1e6 * (time.process_time() - start) / rounds,
    )


GAMES = Track(scenarios, contestants, measure)
