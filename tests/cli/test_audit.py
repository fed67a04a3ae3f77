"""What audit prints of a run, and what another budget would skip."""

import itertools
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from cli.conftest import output
from samples import thinned


def test_the_audit_lists_the_outliers_with_the_worst_first(source, table, learn, capsys):
    run, _, _ = learn(source, "--target", "y")
    found = json.loads(output(capsys, "audit", run, "--json", "--worst", "1000"))
    outliers = 1 + np.flatnonzero(
        (np.abs(np.column_stack([table[n] for n in "abc"])).max(axis=1) > 50) | (table["y"] < -1000)
    )
    rows = [row["row"] for row in found["worst"]]
    late = set(outliers[outliers > 30])
    assert len(late - set(rows)) <= 0.1 * len(late)  # a feature is clipped at 8 standard deviations
    times = [row["times"] for row in found["worst"]]
    assert times == sorted(times, reverse=True)
    assert sum(found["skipped_by_reason"].values()) == found["skipped"] == len(rows)
    assert "the target is too far" in output(capsys, "audit", run)


@pytest.mark.parametrize(
    ("outliers", "target"),
    thinned(list(itertools.product(["auto", "3%", "20", "quantile:0.9", "none"], ["y", "positive"])), 3),
)
def test_a_replay_of_the_same_budget_skips_the_same_rounds(table, learn, tmp_path, capsys, target, outliers):
    rows = table | {"positive": np.where(table["b"] > 0, "yes", "no")}
    pacsv.write_csv(pa.table(rows), tmp_path / "rows.csv")
    drop = "positive" if target == "y" else "y"
    run, _, _ = learn(tmp_path / "rows.csv", "--target", target, "--drop", drop, "--outliers", outliers)
    found = json.loads(output(capsys, "audit", run, "--replay", outliers, "--json"))
    assert found["skipped"] == found["skipped_in_the_run"]
    assert found["newly_skipped"] == found["no_longer_skipped"] == []


def test_a_replay_of_a_larger_budget_skips_more(source, learn, capsys):
    run, _, _ = learn(source, "--target", "y", "--outliers", "5")
    few, many = (json.loads(output(capsys, "audit", run, "--replay", f"k={k}", "--json")) for k in (5, 100))
    assert few["skipped"] == few["skipped_in_the_run"] < many["skipped"]


def test_a_cell_that_is_no_number_is_blamed_on_its_column_and_named_once(learn, tmp_path, capsys):
    cells = ["oops" if i % 17 == 16 else str(i % 5) for i in range(400)]
    (tmp_path / "rows.csv").write_text(
        "a,b,y\n" + "".join(f"{a},{i % 7},{i % 7}.5\n" for i, a in enumerate(cells))
    )
    run, _, said = learn(tmp_path / "rows.csv", "--target", "y")
    assert "a: 5.8 % of the cells cannot be read, such as 'oops': these rows are skipped" in said
    assert "100 % of the 23 skipped rows are due to a" in said
    assert "times\n 17  not readable                          column 'a': 'oops'" in output(
        capsys, "audit", run
    )
