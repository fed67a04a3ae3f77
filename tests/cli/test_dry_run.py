"""What --dry-run prints: one table of 80 columns, with notices."""

from pathlib import Path

from cli.conftest import output

TABLES = Path(__file__).parent.parent / "io" / "awkward"


def test_a_dry_run_is_one_table_of_at_most_80_columns_and_writes_nothing(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in sorted(TABLES.glob("*.csv")):
        lines = output(capsys, "learn", path, "--target", "y", "--dry-run").splitlines()
        assert lines[0].split() == ["column", "read", "as", "examples", "missing"]
        assert max(map(len, lines)) <= 80
    assert not list(tmp_path.iterdir())


def test_each_row_has_examples_the_share_of_missing_cells_and_its_notice_below(capsys):
    lines = output(capsys, "learn", TABLES / "units.csv", "--target", "y", "--dry-run").splitlines()
    assert lines[1].split() == ["share", "number", "2.4", "%", "0.2", "%", "-5.9", "%", "0", "%"]
    assert lines[2] == "    '2.4 %' is read as 2.4: the unit %"
    lines = output(capsys, "learn", TABLES / "dashes.csv", "--target", "y", "--dry-run").splitlines()
    assert lines[1].endswith("25 %")
    lines = output(capsys, "learn", TABLES / "pandas_index.csv", "--target", "y", "--dry-run").splitlines()
    assert lines[1].split()[:4] == ["(no", "name)", "left", "out"]
