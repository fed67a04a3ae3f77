"""The counts behind the warnings of a run, which a resumed run has, too."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from runs.small import called

from holdfast.io.columns import Category, Layout, Number, Target
from holdfast.runs.trace import Skips


@pytest.fixture
def codes(tmp_path):
    """A code among the columns, which is 1 for most rows; and a class whose rows are often wild."""
    rng = np.random.default_rng(4)
    a, code = rng.normal(size=1200).round(3), np.where(rng.random(1200) < 0.1, 700, rng.integers(1, 4, 1200))
    table = pa.table({"weather_id": code, "a": a, "y": (3.0 * a + 0.1 * rng.normal(size=1200)).round(3)})
    pacsv.write_csv(table, tmp_path / "rows.csv")
    return tmp_path / "rows.csv"


def test_the_warning_names_the_column_and_says_that_it_is_probably_a_code(codes, tmp_path):
    status, said, _ = called("learn", codes, "--target", "y", "--to", tmp_path / "run", "--report")
    assert status == 0
    words = "of the 127 skipped rows are due to weather_id, probably a code: use --category weather_id"
    assert f"Warning: 100 % {words}" in " ".join(said.split())
    page = (tmp_path / "run" / "report.html").read_text()
    assert words in page and page.index(words) < page.index("<section>")
    assert words in json.loads((tmp_path / "run" / "metrics.json").read_text())["warnings"][0]
    status, said, _ = called(
        "learn", codes, "--target", "y", "--to", tmp_path / "again", "--category", "weather_id"
    )
    assert status == 0 and "Warning" not in said


def test_labels_that_come_late_and_rows_with_too_few_cells_are_named(tmp_path):
    labels = ["no", "yes"] * 6000 + ["no", "Yes"] * 1000
    lines = [f"{i % 7},{label}\n" if i % 100 else "7\n" for i, label in enumerate(labels)]
    (tmp_path / "rows.csv").write_text("a,label\n" + "".join(lines))
    args = ("--target", "label", "--to", tmp_path / "run", "--learner", "adagrad", "--outliers", "none")
    status, said, notices = called("learn", tmp_path / "rows.csv", *args)
    assert status == 0
    words = (
        "cannot be read: 1 % of the first 10,000, such as one with 1 cells, where the header has 2: skipped"
    )
    assert words in " ".join(notices.split())
    assert "88 % of the 1,140 skipped rows are due to label" in " ".join(said.split())


def test_counts_of_parts_are_those_of_the_whole_also_after_a_checkpoint():
    layout, target = Layout((Number("a"), Category("b", ("p", "q")))), Target("y", ("no", "yes"))
    rng = np.random.default_rng(1)
    y, kept, warm = rng.integers(0, 2, 90).astype(float), rng.random(90) < 0.5, np.arange(90) < 5
    y[7] = np.nan
    names = np.array(["a", "b = q", "y", ""], object)[rng.integers(0, 4, 40)]
    whole, parts = Skips(layout, target), Skips(layout, target)
    whole.add(np.arange(1, 91), y, kept, warm)
    whole.blame(names)
    for start in range(0, 90, 30):
        parts.add(
            np.arange(1, 91)[start : start + 30], *(each[start : start + 30] for each in (y, kept, warm))
        )
        again = Skips(layout, target)
        again.load(parts.state())
        parts = again
    parts.blame(names[:10])
    parts.blame(names[10:])
    assert whole.figures(85, 40, 1.0, 2.0) == parts.figures(85, 40, 1.0, 2.0)
    found = whole.figures(85, 40, 1.0, 2.0)
    counted = {"a": "a", "b": "b = q", "y": "y"}
    assert found.columns == {column: int((names == name).sum()) for column, name in counted.items()}
    numbers = Skips(layout, Target("y", ()))
    numbers.blame(names)
    assert "y" not in numbers.figures(85, 40, 1.0, 2.0).columns
    own = (y == 1.0) & ~warm
    assert found.classes["yes"] == (own.sum(), (own & ~kept).sum())
    assert (found.last_kept, found.last) == (1 + np.flatnonzero(kept)[-1], 90)


def test_counts_that_are_no_counts_are_refused():
    skips = Skips(Layout((Number("a"),)), Target("y", ()))
    with pytest.raises(ValueError, match="no counts"):
        skips.load(skips.state() | {"last": np.array([-1.0, 0.0])})
