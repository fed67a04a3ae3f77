"""Games: the oracle's regret is small, adversaries do harm, and climbing finds more than one try."""

import numpy as np
import pytest

from holdfast_lab.gauntlet.games import ADVERSARIES, climb, regret
from holdfast_lab.gauntlet.games_track import GameScenario, play_game
from holdfast_lab.gauntlet.stepping import STEPPERS


@pytest.mark.parametrize("name", ADVERSARIES)
@pytest.mark.parametrize("k", [1, 40])
def test_adversaries_have_at_most_k_outliers_and_the_oracle_little_regret(name, k):
    game = ADVERSARIES[name](k, 400, np.random.default_rng(0))
    assert game.outliers.sum() <= k
    assert len(game.slopes) == 400
    assert regret(None, game) <= 3.0  # 2 √2 G √T is the bound of adaptive descent on [-1, 1]


def test_without_outliers_who_takes_all_is_the_oracle():
    game = ADVERSARIES["awakening"](4, 400, np.random.default_rng(0))
    clean = game._replace(outliers=np.zeros(400, bool))
    assert regret(STEPPERS["none"], clean) == regret(None, clean)


def test_more_tries_find_no_less():
    one = climb(STEPPERS["none"], 4, 200, 1, 0)
    many = climb(STEPPERS["none"], 4, 200, 40, 0)
    assert many[0] - many[1] >= one[0] - one[1]
    assert many[0] - many[1] > 3.0


def test_textbook_filter_stays_below_its_theorem_against_climbing():
    """Theorem 1: 2 D G k more than the learner's own bound; here D = 2, and regret is over G √T."""
    k, rounds = 4, 400
    mine, _ = climb(STEPPERS["holdfast, Top-k"], k, rounds, 60, 0)
    assert mine <= 2.0 * np.sqrt(2.0) + 4.0 * 2.0 * (k + 1) / np.sqrt(rounds)


def test_the_same_scenario_gives_the_same_score():
    scenario = GameScenario("climb", 4, 200, 10)
    one, same = (play_game(STEPPERS["axlearn"], scenario).without_time() for _ in range(2))
    assert one == same
