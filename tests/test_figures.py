"""The figures of docs/why-a-filter.md are those that tools/figures.py draws, and show what the page says."""

import figures
import numpy as np
import pytest


def test_the_figures_are_current(tmp_path):
    figures.main(tmp_path)
    drawn = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(drawn) == 10
    assert drawn == {path.name: path.read_bytes() for path in figures.FOLDER.iterdir()}, "make figures"


@pytest.fixture(scope="module")
def games():
    """For each figure, what the usual rule and what TopK keeps."""
    return {
        name: [figures.played(rule(), stream())[2] for rule in rules]
        for name, (stream, _, *rules) in figures.FIGURES.items()
    }


def test_the_usual_rule_keeps_the_second_spike_and_the_one_in_the_warm_up(games):
    usual, ours = games["masking"]
    assert not usual[150] and usual[170] and not ours[[150, 170]].any()
    usual, ours = games["warm-up"]
    assert usual[20] and not ours[20] and ours.sum() == len(ours) - figures.BUDGET - 1


def test_after_a_change_the_usual_rule_keeps_nothing_and_topk_loses_its_budget(games):
    usual, ours = games["lock-out"]
    assert not usual[150:].any() and (~ours[150:]).sum() == figures.BUDGET


def test_after_one_nan_the_usual_rule_skips_128_good_rounds_more(games):
    usual, ours = games["nan"]
    assert (~usual[150:]).sum() == 1 + 128 and (~ours[150:]).sum() == 1


def test_a_ramp_ends_far_above_for_the_usual_rule_and_near_the_good_sizes_for_topk():
    stream, outliers, usual, ours = figures.FIGURES["ramp"]
    good = max(size for size in figures.steady())
    for rule, factor in ((usual(), 20.0), (ours(), 2.0)):
        sizes, _, kept = figures.played(rule, stream())
        assert kept[list(outliers)].all()
        assert (np.max(sizes[kept]) > factor * good) == (factor == 20.0)
