"""The comparison of learners, on streams of a few rounds, interpreted."""

import math

import numpy as np
import pytest

import holdfast as hf
from holdfast import learners as room
from holdfast.cli.main import main
from holdfast_lab.trials import learners_table
from holdfast_lab.trials.learners import (
    DIMS,
    ENTRIES,
    FILTER,
    Line,
    RaceSize,
    measure,
    regret_a_round,
)
from holdfast_lab.trials.streams import absolute, bowls, experts, ordinary, scattered, squared

FEW = RaceSize(rounds=300, seeds=1, turns=1, entries=1000, compiled=False)
STREAMS = [absolute, bowls, experts, squared]


def names_in(rule):
    """The classes of a learner and of all that it wraps."""
    inner = getattr(rule, "learner", None)
    return {type(rule).__name__} | (names_in(inner) if inner is not None else set())


def test_every_learner_is_compared():
    wrappers = {
        *("Recentered", "Averaged", "Bounded", "Fixed", "Scaled", "Mixture"),
        "Penalized",
    }
    others = {
        "Adaptive",
        "LogWealth",
        "StronglyConvex",
        "Redescending",
        "HuberWeights",
        "InverseMultiquadric",
    }
    without_a_bound = {
        "OnlineLogistic",
        "RobustRidge",
        "ReservedEpochs",
    }  # that of the last is no function of u
    compared = set().union(*(names_in(entry.learner) for entry in ENTRIES.values()))
    assert compared == set(room.__all__) - wrappers - others - without_a_bound


@pytest.mark.parametrize("name", ENTRIES)
def test_each_meets_the_losses_and_the_sizes_that_it_needs(name):
    entry = ENTRIES[name]
    needs = entry.learner.needs()
    losses = {"strongly convex": bowls, "exp-concave": squared, "squared": squared}
    by_default = experts if needs.domain == "simplex" else absolute
    assert entry.stream is losses.get(needs.losses, by_default)
    sizes = {"range": hf.measures.Range(), "loss form": hf.measures.LossForm(1.0), "features": hf.Features()}
    assert entry.on == sizes.get(needs.size, hf.measures.Gradient())


@pytest.mark.parametrize("stream", STREAMS)
def test_outliers_are_huge_and_the_other_rounds_the_same(stream):
    clean, spoiled = stream(ordinary(500, 1), 3, 1), stream(scattered(500, 1), 3, 1)
    for before, after in zip(clean.adversary[:1], spoiled.adversary[:1], strict=True):
        same = spoiled.inliers
        assert np.array_equal(before[same], after[same])
        assert (np.abs(after[~same]).max(axis=1) > 10.0 * np.abs(before).max()).all()
    assert clean.inliers.all() and 0 < (~spoiled.inliers).sum() < 20


@pytest.mark.parametrize("stream", [bowls, experts, squared])
def test_nobody_fixed_is_better_than_the_comparator(stream):
    played = stream(scattered(400, 2), 3, 2)
    for step in np.vstack([np.eye(3), -np.eye(3)]):
        u = played.comparator + 0.01 * step if stream is not experts else np.abs(step)
        assert regret_a_round(hf.Filtered(hf.learners.Fixed(u), hf.Everything()), played, False) >= 0.0


@pytest.mark.parametrize("name", ["`OGD`", "`VAW`", "`AdaHedge`", "`OGD`, strongly convex"])
def test_a_filter_is_worth_having(name):
    entry, rounds = ENTRIES[name], 1500
    regrets = [
        regret_a_round(entry.player(filter), entry.stream(sizes(rounds, 3), 5, 3), False)
        for filter, sizes in ((hf.Everything(), ordinary), (hf.Everything(), scattered), (FILTER, scattered))
    ]
    assert regrets[2] < 2.0 * regrets[0] + 0.01 < regrets[1]


def test_a_learner_that_lost_its_way_fails():
    clean = absolute(np.ones(50), 2, 0)
    endless = hf.Filtered(hf.learners.Fixed([1e308, 1e308]), hf.Everything())
    assert regret_a_round(endless, clean, False) == math.inf
    assert learners_table.regret(math.inf) == "fails"


def test_the_table_is_written_between_its_markers(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("before\n{}\nstale\n{}\nafter\n".format(*learners_table.MARKERS), encoding="utf-8")
    few = {name: ENTRIES[name] for name in ("`OGD`", "`EG(0.05)`")}
    learners_table.compare_learners(page=page, entries=few, scale=FEW)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("after\n") and "stale" not in text
    assert "| `OGD` | absolute | 0." in text and "| `EG(0.05)` | experts | 0." in text
    assert "EG(0.05)" in capsys.readouterr().out


def test_every_cell_of_the_table_has_a_figure():
    assert DIMS[-1] == 1000
    assert all(value > 0.0 for value in measure("`ONS`", FEW._replace(rounds=60, dims=(2, 20))).microseconds)
    line = Line("a", "b", 0.12345, 0.5, 1e9, math.inf, (0.123, 45.67, 12345.6))
    cells = ("a", "b", "0.1235", "0.5000", "1e+09", "fails", "0.12", "45.7", "12,346")
    assert learners_table.cells(line) == cells


def test_a_page_without_a_place_is_a_sentence_before_anything_is_measured(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("nothing", encoding="utf-8")
    assert main(["learners", "--write", str(page)]) == 2
    assert "page.md has no place for the table" in capsys.readouterr().err
