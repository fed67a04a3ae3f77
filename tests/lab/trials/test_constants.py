"""`holdfast trials --constants`: the settings, and what is measured with them."""

import numpy as np
import pytest

from holdfast.defaults import recommended
from holdfast_lab.trials.bad_row_trials import FOR_LABELS, FOR_NUMBERS
from holdfast_lab.trials.bad_rows import CLEAN, corrupt_rows
from holdfast_lab.trials.constants import Setting, errors, ratios, settings_of
from holdfast_lab.trials.data import Table


@pytest.mark.parametrize("trials", [FOR_NUMBERS, FOR_LABELS])
@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_each_setting_gives_a_player_that_differs_in_it(trials, factor):
    player = recommended(trials is FOR_NUMBERS)
    for setting in settings_of(trials):
        changed = setting.times(player, factor)
        if setting.name not in ("knee", "most"):  # they have limits
            assert np.array_equal(setting.value(changed), np.multiply(setting.value(player), factor)), setting


def test_most_is_never_below_knee():
    player = recommended(True)
    assert Setting("", "knee").times(player, 2.0).most == 60.0
    assert Setting("", "most").times(player, 0.5).most == player.knee


def test_errors_are_those_of_the_scored_rounds():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2))
    table = Table(X, X @ [1.0, 2.0], np.zeros(200, bool), regression=True)
    cells = [(corrupt_rows(table, kind, 0.1, 0), kind, 1) for kind in (CLEAN, "X x1000")]
    found = errors(recommended(True, delay=0), cells)
    assert [clean for _, clean in found] == [True, False]
    assert all(0.0 < error < 0.1 for error, _ in found)


def test_ratios_are_geometric_means_of_clean_and_of_bad_cells():
    usual = [(1.0, True), (1.0, False), (1.0, False)]
    assert ratios([(2.0, True), (1.0, False), (4.0, False)], usual) == pytest.approx([2.0, 2.0])
