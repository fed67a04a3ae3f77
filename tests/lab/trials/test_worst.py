"""Climbing towards the worst rounds finds none above a bound, and the page says how near it came."""

from pathlib import Path

import numpy as np
import pytest

import holdfast as hf
from holdfast.cli.main import main
from holdfast_lab.trials import worst_table
from holdfast_lab.trials.ratios import linear_ratio
from holdfast_lab.trials.worst import CASES, Case, Found, climb, search

PAGE = (Path(__file__).parents[3] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
MORE = {
    "AdaGrad on a simplex": Case(hf.AdaGrad(hf.Simplex()), "", widths=(3,)),
    "AdaGrad with a rate": Case(hf.AdaGrad(hf.Ball(1.0), 0.3, 1.0), ""),
    "AdaGrad on a lopsided box": Case(hf.AdaGrad(hf.Box([-1.0, 0.0], [1.0, 4.0])), "", widths=(2,)),
    "SoloFTRL on a ball": Case(hf.learners.SoloFTRL(hf.Ball(1.0), 2.0), ""),
    "SoloFTRL elsewhere": Case(hf.learners.SoloFTRL(hf.Ball(1.0, around=3.0)), ""),
    "AdaFTRL elsewhere": Case(hf.AdaFTRL(hf.Ball(1.0, around=-3.0)), ""),
    "FreeGrad in a box": Case(
        hf.learners.Bounded(hf.learners.Clipped(hf.learners.FreeGrad()), hf.Box(-1.0, 2.0)), ""
    ),
    "MetaGrad starting again": Case(hf.learners.Clipped(hf.MetaGrad(hf.Ball(1.0), etas=2)), ""),
    "Squint starting again": Case(hf.learners.Clipped(hf.learners.Squint(etas=2)), "", widths=(2,)),
}
FEWER = dict.fromkeys(["`Clipped(MetaGrad(Ball(1.0)))`", "`Clipped(Squint())`"], 15)


@pytest.mark.parametrize("name", [*CASES, *MORE])
def test_no_rounds_that_climbing_finds_exceed_the_bound(name):
    found = search((CASES | MORE)[name], FEWER.get(name, 90), lengths=(1, 8))
    assert 0.03 < found.worst <= 1.0 + 1e-9


def test_climbing_finds_what_there_is_to_find():
    """A bound that is too small: half of AdaFTRL's."""

    def measure(G):
        return 2.0 * linear_ratio(hf.AdaFTRL(hf.Ball(1.0)), G)

    assert climb(measure, 8, 1, 150, seed=0) > 1.3


def test_the_same_steps_give_the_same_answer():
    case = CASES["`AdaFTRL`"]
    assert search(case, 30, lengths=(1, 3)) == search(case, 30, lengths=(1, 3))
    assert isinstance(search(case, 3, lengths=(1,)), Found)


def test_the_table_is_written_between_its_markers(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("before\n{}\nstale\n{}\nafter\n".format(*worst_table.WORST), encoding="utf-8")
    few = {name: CASES[name] for name in ("`AdaFTRL`", "`Clipped(FreeGrad())`")}
    worst_table.search_all(page=page, cases=few, steps=3)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("after\n") and "stale" not in text
    assert "| `AdaFTRL` | a ball | Euclidean | convex | proved | 0." in text and "**not verified**" in text
    assert "AdaFTRL" in capsys.readouterr().out


def test_a_ratio_is_never_rounded_over_1():
    shown = [worst_table.ratio(value) for value in (0.99999, 1.0, 1.0 + 1e-12, 1.00001, 0.12345)]
    assert shown == ["0.999", "1", "1", "1.000010000", "0.123"]


def test_the_page_has_all_of_them_and_none_above_1():
    table = PAGE.split(worst_table.WORST[0])[1].split(worst_table.WORST[1])[0]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("| `")]
    ratios = {row[1].strip(): row[6].strip() for row in rows}
    assert list(ratios) == list(CASES)
    assert all(0.0 < float(ratio) <= 1.0 for ratio in ratios.values())
    assert np.mean([float(ratio) > 0.5 for ratio in ratios.values()]) > 0.9


def test_a_page_without_a_place_is_a_sentence_before_anything_is_searched(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("nothing", encoding="utf-8")
    assert main(["learners", "--search", "--write", str(page)]) == 2
    assert "page.md has no place for the table" in capsys.readouterr().err
