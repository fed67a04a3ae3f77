import json

import pytest

from holdfast_lab.bench.table import (
    BEGIN,
    END,
    Row,
    Section,
    goals_summary,
    markdown,
    put_between_markers,
    text,
    to_json,
)

SECTIONS = [
    Section(
        "dense",
        "million rounds/s",
        [
            Row("ours", 6.0),
            Row("theirs", 2.0, 3.0, least=2.0),
            Row("others", least=2.0, note="not installed"),
        ],
        "ours / this",
        headline=True,
    ),
    Section("import", "ms", [Row("holdfast", 60.0, most=50.0)]),
]
ABOUT = {
    "date": "2026-01-31",
    "machine": "an abacus, 2 cores",
    "versions": {"holdfast": "0.1", "theirs": "1.2"},
}


@pytest.mark.parametrize(("ratio", "met"), [(1.9, False), (2.0, True), (3.0, True)])
def test_a_lower_limit_is_a_goal(ratio, met):
    assert Row("", 1e9, ratio, least=2.0).met() is met


@pytest.mark.parametrize(("ratio", "met"), [(1.0, True), (1.05, True), (1.1, False)])
def test_an_upper_limit_is_a_goal(ratio, met):
    assert Row("", 1e9, ratio, most=1.05).met() is met


def test_without_a_ratio_the_goal_is_for_the_value():
    assert Row("", 0.5, most=1.0).met() is True


def test_nan_meets_no_goal():
    assert Row("", 1.0, float("nan"), most=1.05).met() is False


def test_a_figure_that_was_not_measured_has_no_verdict():
    assert Row("", most=1.0, note="not installed").met() is None
    assert goals_summary(SECTIONS) == "1 of 2 goals met, 1 not measured."


def test_the_text_has_goal_and_verdict():
    lines = text(SECTIONS[0]).splitlines()
    assert lines[1].split() == ["million", "rounds/s", "ours", "/", "this", "goal", "met"]
    assert lines[3].split() == ["theirs", "2.00", "3.00", ">=", "2", "yes"]
    assert lines[4].split() == ["others", "not", "installed"]
    assert text(SECTIONS[1]).endswith("NO")


def test_json_has_all_sections():
    found = json.loads(to_json(ABOUT, SECTIONS))
    assert found["about"] == ABOUT
    assert [row["met"] for section in found["sections"] for row in section["rows"]] == [
        None,
        True,
        None,
        False,
    ]


def test_markdown_has_the_headlines_the_machine_and_the_command():
    table = markdown(ABOUT, SECTIONS, "holdfast bench")
    assert "| theirs | 2.00 | 3.00 | ≥ 2 | yes |" in table
    assert "import" not in table
    for part in ("`holdfast bench`", "2026-01-31", "an abacus, 2 cores", "theirs 1.2", "1 of 1 goals"):
        assert part in table


def test_only_the_text_between_the_markers_changes(tmp_path):
    path = tmp_path / "README.md"
    path.write_text(f"é before\n\n{BEGIN}\nold\n{END}\n\nafter", encoding="utf-8")
    for table in ("first\n", "second\n", "second\n"):
        put_between_markers(path, table)
        assert path.read_text(encoding="utf-8") == f"é before\n\n{BEGIN}\n{table}{END}\n\nafter"


@pytest.mark.parametrize("content", ["", BEGIN, END, f"{END}\n{BEGIN}"])
def test_a_file_without_both_markers_is_not_changed(tmp_path, content):
    path = tmp_path / "README.md"
    path.write_text(content)
    with pytest.raises(ValueError, match="no place for the table"):
        put_between_markers(path, "table\n")
    assert path.read_text() == content
