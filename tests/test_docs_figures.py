"""Figures in sentences of the pages are those of the tables that they come from."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
RESULTS = (DOCS / "real-data.md").read_text(encoding="utf-8")
BENCHMARKS = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
COMPARISON = (DOCS / "comparison.md").read_text(encoding="utf-8")


def sentence(page, pattern):
    """The figures that a pattern finds on a page, whose lines may be broken anywhere."""
    found = re.search(pattern, " ".join(page.split()))
    assert found, f"no sentence like {pattern!r}: change the test with the sentence"
    return found.groups()


def written(name):
    """What a command has written into the page."""
    return RESULTS.split(f"trials --{name}: begin -->")[1].split(f"<!-- holdfast trials --{name}: end")[0]


def rows(text, width):
    """The rows of tables with so many columns."""
    cells = (
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if "|" in line
    )
    return [row for row in cells if len(row) == width and not set(row[0]) <= set(":-")]


def within(name, share):
    """In how many cases the default is within 5 % of the oracle, of how many, with this share of bad rows."""
    found = re.findall(rf"{share}% bad: within 5 % of the oracle in (\d+) of (\d+)", written(name))
    return tuple(sum(int(pair[i]) for pair in found) for i in (0, 1))


def ratios(name, player):
    """The errors of a player over those of the default on clean rows, by table, one row ahead."""
    head, *table = rows(written(name), 8)
    column, own = head.index(player), head.index("default")
    return {row[0]: float(row[column]) / float(row[own]) for row in table if row[1] == "1"}


def test_the_counts_for_numbers_are_sums_of_the_lines_below_the_table():
    met, cases, share = map(int, sentence(RESULTS, r"in (\d+) of (\d+) cases \((\d+) %; the goal"))
    counted = [within("numbers", share) for share in (1, 5, 10)]
    assert (met, cases) == tuple(map(sum, zip(*counted, strict=True)))
    assert share == round(100 * met / cases)


def test_the_misses_by_bursts_are_those_of_the_table():
    (said,) = sentence(RESULTS, r"(\d+) of the misses are bursts of wrong targets")
    bursts = [row for row in rows(written("numbers"), 5) if row[0].startswith("burst y")]
    cells = [re.match(r"(\d+) of (\d+)", cell) for row in bursts for cell in row[2:]]
    assert cells and int(said) == sum(int(cell[2]) - int(cell[1]) for cell in cells)


def test_the_rest_without_bursts_and_one_table_is_as_good_as_the_page_says():
    cases, worst = sentence(RESULTS, r"at most 1.05 in \d+ of (\d+) cases, and at worst ([\d.]+\d)")
    table = [row for row in rows(written("numbers"), 5) if row[1].isdigit()]
    cells = [cell for row in table if not row[0].startswith("burst y") for cell in row[2:]]
    found = [re.fullmatch(r"\d+ of (\d+), worst ([\d.]+), (.+)", cell).groups() for cell in cells]
    assert int(cases) == sum(int(tables) - 1 for tables, _, _ in found)
    others = [float(ratio) for _, ratio, table in found if table != "covid_deaths"]
    assert float(worst) == max(others) >= max(float(ratio) for _, ratio, _ in found)


def test_the_shares_for_labels_are_those_of_the_lines_below_the_table():
    said = sentence(RESULTS, r"it is within 5 % in (\d+), (\d+) and (\d+) % of the cases with 1, 5 and 10 %")
    assert [int(share) for share in said] == [
        round(100 * met / cases) for met, cases in (within("labels", share) for share in (1, 5, 10))
    ]


def test_the_summary_of_the_benchmarks_has_the_same_counts():
    said = sentence(
        BENCHMARKS,
        r"in (\d+) of (\d+) cases; (\d+) of the (\d+) others are bursts .* "
        r"within 5 % in (\d+) of (\d+) cases",
    )
    numbers, labels = (
        tuple(map(sum, zip(*(within(name, share) for share in (1, 5, 10)), strict=True)))
        for name in ("numbers", "labels")
    )
    (bursts,) = sentence(RESULTS, r"(\d+) of the misses are bursts of wrong targets")
    assert tuple(map(int, said)) == (*numbers, int(bursts), numbers[1] - numbers[0], *labels)


def test_what_robustness_costs_is_in_the_table_of_speed():
    said = sentence(BENCHMARKS, r"`TopK` adds (\d+) % .* `TopShare` (\d+) %, `Quantile` (\d+) %")
    cost = BENCHMARKS.split("the cost of robustness")[1].split("**sparse")[0]
    found = [
        re.search(rf"{name}\([^|]*\| *[\d.]+ *\| *([\d.]+)", cost)[1]
        for name in ("TopK", "TopShare", "Quantile")
    ]
    assert [int(share) for share in said] == [round(100 * (float(ratio) - 1.0)) for ratio in found]


def test_after_every_change_the_default_is_as_near_to_sgd_as_the_page_says():
    kinds, most = map(int, sentence(RESULTS, r"After all (\d+) kinds of change it is at most (\d+) % behind"))
    head, *table = rows(written("drift"), 10)
    column = head.index("default")
    assert kinds == len({row[0] for row in table})
    assert max(float(row[column]) for row in table) <= 1.0 + most / 100


def test_wolf_is_as_far_from_the_default_as_the_comparison_says():
    said = sentence(
        COMPARISON,
        r"within 3 % of our default on (\w+) of (\w+) tables; .* error is ([\d.]+) to ([\d.]+) times",
    )
    found = sorted(ratios("numbers", "WoLF").values())
    near = [ratio for ratio in found if ratio <= 1.03]
    words = ("zero", "one", "two", "three", "four", "five", "six")
    assert said[:2] == (words[len(near)], words[len(found)])
    assert said[2:] == (f"{found[len(near)]:.3g}", f"{found[-1]:.2g}")


def test_the_range_for_rows_that_are_alike_is_that_of_the_table():
    said = sentence(
        RESULTS, r"batches of 50 and 500, SGD and QC-SGD make ([\d.]+) to ([\d.]+) times our mistakes"
    )
    head, *table = rows(written("labels"), 8)
    peers = [head.index(name) for name in ("QC-SGD", "SGD, fading scale", "SGD, tuned")]
    alike = [row for row in table if row[0] == "room_occupancy" and row[1] != "1"]
    found = [float(row[peer]) for row in alike for peer in peers]
    assert tuple(map(float, said)) == (min(found), max(found))
    (part,) = sentence(RESULTS, r"peers make down to ([\d.]+) times its mistakes in batches of 50 and 500")
    assert float(part) == min(found)


@pytest.mark.slow
def test_the_table_of_small_tables_is_what_its_script_prints():
    script = DOCS / "examples" / "small_tables.py"
    printed = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True).stdout
    table = [line for line in printed.splitlines() if line.startswith("|")]
    assert len(table) == 9
    assert "\n".join(table) in COMPARISON
