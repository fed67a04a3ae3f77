"""Tables of any folder: columns and targets are chosen by rule, and ratios are what they say."""

import numpy as np
import pytest

from holdfast.cli.main import main
from holdfast_lab.trials.table_trials import (
    FIRST,
    KINDS,
    MARKERS,
    PEER,
    TableRow,
    errors,
    hold_table_trials,
    measure,
    ratio,
    summary,
)
from holdfast_lab.trials.tables import MOST, NamedTable, read_tables, tables_of


class Recorder:
    """Predicts 0, and records what it learned from."""

    def __init__(self, labels):
        self.learned = []

    def partial_fit(self, X, y, classes=None):
        self.learned.append(np.column_stack([X, y]))

    def predict(self, X):
        return np.zeros(len(X))


def write(path, rows=400, index=""):
    """A file with an index, two columns of numbers, a category of three values and one of two."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, rows)).round(3)
    lines = [f"{index},a,shop,b,open"]
    lines += [f"{i},{a[i]},{'xyz'[i % 3]},{b[i]},{'no' if i % 4 else 'yes'}" for i in range(rows)]
    path.write_text("\n".join(lines) + "\n")


def test_the_last_column_of_each_kind_is_a_target_and_categories_are_0_or_1(tmp_path):
    write(tmp_path / "shops.csv")
    numbers, labels = tables_of(tmp_path / "shops.csv")
    assert (numbers.name, numbers.labels, numbers.X.shape) == ("shops: b", False, (400, 4))
    assert (labels.name, labels.labels, labels.X.shape) == ("shops: open", True, (400, 4))
    assert set(np.unique(numbers.X[:, 1:])) == {0.0, 1.0} and labels.y.mean() == 0.25


def test_an_index_without_a_name_is_no_column_and_one_with_a_name_is(tmp_path):
    write(tmp_path / "named.csv", index="id")
    assert next(tables_of(tmp_path / "named.csv")).X.shape == (400, 5)


def test_a_table_may_have_numbers_only_and_one_of_one_column_has_no_target(tmp_path):
    for name, columns in (("two", 2), ("one", 1)):
        rows = "\n".join(",".join(map(str, row)) for row in np.arange(800.0).reshape(-1, 2)[:, :columns])
        (tmp_path / f"{name}.csv").write_text(f"{','.join('ab'[:columns])}\n{rows}\n")
    assert next(tables_of(tmp_path / "two.csv")).X.shape == (400, 1)
    assert list(tables_of(tmp_path / "one.csv")) == []


def test_small_files_and_copies_are_left_out_and_long_files_are_cut(tmp_path):
    (tmp_path / "more").mkdir()
    for name, rows in (("a", 400), ("more/copy", 400), ("small", 299), ("long", MOST + 1)):
        write(tmp_path / f"{name}.csv", rows)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "binary.csv").write_bytes(bytes(range(256)))
    found = list(read_tables(tmp_path))
    assert [table.name for table in found] == ["a: b", "a: open", "long: b", "long: open"]
    assert len(found[-1].y) == MOST


@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_tenth_of_what_is_learned_is_bad_and_what_is_predicted_is_not(kind, labels):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=500).astype(float) if labels else rng.standard_normal(500)
    table, made = NamedTable("t", labels, rng.standard_normal((500, 3)), y), []
    row = measure(table, lambda labels: made.append(Recorder(labels)) or made[-1])
    learned = np.concatenate(made[1 + list(KINDS).index(kind)].learned)
    assert (learned != np.column_stack([table.X, y])).any(axis=1).sum() == 50
    assert row.ratios[kind] == 1.0  # it always predicts 0


def test_errors_count_from_row_100_on():
    table = NamedTable("t", False, np.zeros((300, 1)), np.arange(300.0))
    assert np.array_equal(errors(Recorder(False), table, table.X, table.y), np.arange(float(FIRST), 300.0))


def test_ratios_have_one_mistake_or_a_hundredth_of_the_spread_more_on_both_sides():
    labels, exact = (NamedTable("t", some, np.zeros((2, 1)), np.array([0.0, 4.0])) for some in (True, False))
    assert ratio(labels, np.array([1.0, 1.0]), np.zeros(2)) == 3.0
    assert ratio(exact, np.array([0.02, 0.02]), np.zeros(2)) == pytest.approx(2.0)  # the spread is 2


def test_a_line_for_each_kind_is_printed_and_written(tmp_path, capsys):
    write(tmp_path / "shops.csv")
    page = tmp_path / "page.md"
    page.write_text("\n".join(MARKERS))
    hold_table_trials(tmp_path, page=page, estimator=Recorder)
    for text in (capsys.readouterr().out, page.read_text()):
        assert all(text.count(kind) == 2 for kind in (PEER, *KINDS)) and "shops: open" in text


def test_an_empty_folder_is_named(tmp_path, capsys):
    assert main(["trials", "--tables", str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err


def test_a_summary_names_the_worst_table():
    rows = [TableRow(name, False, {PEER: r}) for name, r in (("a", 1.0), ("b", 4.0))]
    assert summary(rows) == [("numbers", PEER, "2", "2.000", "50 %", "50 %", "b 4.00, a 1.00")]
