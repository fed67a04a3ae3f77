"""The tables of the zoo are what their names say, and are measured in the same way each time."""

import math

import numpy as np
import pytest

from holdfast.cli.main import main
from holdfast_lab.trials import zoo_measures, zoo_trials
from holdfast_lab.trials.zoo import START, ZOO, Animal, make
from holdfast_lab.trials.zoo_columns import CODES
from holdfast_lab.trials.zoo_measures import Refitted, ZooRow, compared_with, measure, peer_estimator
from holdfast_lab.trials.zoo_trials import QUICK, cases, hold_zoo_trials, markdown, notes, summary

CASES = cases(ZOO)


class Constant:
    """Predicts one value, and records what it was given."""

    def __init__(self, value=0.0):
        self.value, self.learned, self.asked = value, [], []

    def fit(self, X, y):
        self.learned.append(X)

    def partial_fit(self, X, y, classes=None):
        self.learned.append(X)

    def predict(self, X):
        self.asked.append(X)
        return np.full(len(X), self.value)


def peer(labels):
    """The peer, for streams too."""
    return _Both(peer_estimator(labels))


class _Both(Refitted):
    def fit(self, X, y):
        self.partial_fit(X, y)


@pytest.mark.parametrize(("name", "labels"), CASES)
def test_a_table_is_complete_and_the_same_in_each_call(name, labels):
    table, same, small = make(name, labels), make(name, labels), make(name, labels, quick=True)
    assert table.X.tobytes() == same.X.tobytes() and table.y.tobytes() == same.y.tobytes()
    assert np.isfinite(table.X).all() and np.isfinite(table.y).all() and table.labels == labels
    assert len(table.X) == len(table.y) == ZOO[name].rows and len(small.y) == ZOO[name].few
    for X in (table.X, small.X):
        assert X.dtype == np.float64 and X.shape[1] <= 38
        assert abs(X[:, 0].mean()) < 0.1 and abs(X[:, 0].std() - 1.0) < 0.1


@pytest.mark.parametrize("name", [name for name, animal in ZOO.items() if animal.labels])
def test_half_of_the_labels_are_1(name):
    assert make(name, labels=True).y.mean() == 0.5


def test_rare_columns_are_1_in_one_percent_of_the_rows():
    rare = make("rare 0/1").X[:, 2:]
    assert set(np.unique(rare)) == {0.0, 1.0} and np.all(np.abs(rare.mean(axis=0) - 0.01) < 0.005)


@pytest.mark.parametrize("quick", [False, True])
def test_each_row_has_one_month_and_one_hour_and_each_year_all_of_them(quick):
    X = make("months and hours", quick=quick).X
    months, hours = X[:, 2:14], X[:, 14:]
    assert hours.shape[1] == 24 and (months.sum(axis=1) == 1.0).all() and (hours.sum(axis=1) == 1.0).all()
    for year in np.split(X[:, 2:], 2):
        assert (year.sum(axis=0) > 0.0).all()
    assert (np.diff(months.argmax(axis=1)) != 0).sum() == 23  # it changes 23 times in two years


@pytest.mark.parametrize("share", [0.6, 0.8])
@pytest.mark.parametrize("noise", ["1e-15", "1e-9", "1e-3", "1e-2"])
def test_so_large_a_share_of_the_values_is_nearly_equal(share, noise):
    column = make(f"{share:.0%} 0 + {noise}").X[:, 2]
    assert abs((np.abs(column) < 5.0 * float(noise)).mean() - share) < 0.02
    assert (column == 0.0).sum() == 0


def test_columns_with_zeros():
    daylight, rain, spells = (make(name).X[:, 2] for name in ("max(sin, 0)", "rain", "rain in spells"))
    assert 0.4 < (np.abs(daylight) < 1e-15).mean() < 0.6 and daylight.min() == 0.0
    assert abs((rain == 0.0).mean() - 0.84) < 0.01 and abs((spells == 0.0).mean() - 0.95) < 0.01
    assert (spells[:1600] == 0.0).all() and (rain[rain > 0.0] > 0.01).all()


def test_a_stuck_column_comes_back_after_5000_rows():
    column = make("stuck").X[:, 2]
    assert (column[3_000:8_000] == column[3_000]).all()
    assert (np.diff(column[:3_000]) != 0.0).all() and (np.diff(column[8_000:]) != 0.0).all()


@pytest.mark.parametrize("rows", ["new rows", "old rows"])
def test_times_are_whole_numbers_that_grow(rows):
    for name, start, step in (
        ("counter", 0, 1),
        ("epoch seconds", START, 3600),
        ("nanoseconds", START * 10**9, 3600 * 10**9),
    ):
        column = make(f"{name}: {rows}").X[:, 2]
        assert column[0] == start and (np.diff(column) == step).all()
        assert ZOO[f"{name}: {rows}"].old == (rows == "old rows")


def test_collinear_columns():
    X = make("collinear").X
    assert np.linalg.matrix_rank(X) < X.shape[1]
    assert 0.0 < np.abs(X[:, 4] - X[:, 1]).max() < 1e-5 and np.allclose(X[:, 5], X[:, 2] + X[:, 3])


def test_codes_have_one_to_three_digits():
    column = make("codes").X[:, 2]
    assert set(column) == set(CODES) and {len(str(code)) for code in CODES} == {1, 2, 3}


def test_logarithms_of_lognormal_values_have_standard_deviation_2():
    for name in ("lognormal, values", "lognormal, logs"):
        assert np.all(np.abs(np.log(make(name).X[:, 2:]).std(axis=0) - 2.0) < 0.1)
    values, logs = make("lognormal, values"), make("lognormal, logs")
    assert np.corrcoef(values.X[:, 2], values.y)[0, 1] > 0.8
    assert np.corrcoef(np.log(logs.X[:, 2]), logs.y)[0, 1] > 0.4


@pytest.mark.parametrize("share", [50, 65, 75, 85, 90, 95])
def test_targets_have_so_many_zeros(share):
    explained, unexplained = make(f"y {share}% 0, explained"), make(f"y {share}% 0, unexplained")
    assert np.array_equal(explained.y, 20.0 * explained.X[:, 2])
    for y in (explained.y, unexplained.y):
        assert abs((y == 0.0).mean() - share / 100.0) < 0.02
    assert np.abs(np.corrcoef(unexplained.X.T, unexplained.y == 0.0)[-1, :-1]).max() < 0.05


def test_counts_and_two_values():
    for mean in (5, 0.5):
        y = make(f"y counts, mean {mean}").y
        assert (y == np.round(y)).all() and y.min() == 0.0 and 0.9 * mean < y.mean() < 1.4 * mean
    assert len(np.unique(make("y two values").y)) == 2


def test_a_ratio_is_to_the_peer_or_to_a_thousandth_of_the_spread_if_that_has_no_error():
    assert compared_with(0.3, 10.0) == 0.3
    assert compared_with(2e-5, 10.0) == 2e-5
    assert compared_with(0.0, 10.0) == compared_with(9e-6, 10.0) == 0.01


def test_the_peer_is_one_times_as_wrong_as_itself():
    row = measure("codes", quick=True, estimator=peer)
    assert row.ratios[:2] == (1.0, 1.0) and row.ratios[2] > 1.5 and not row.floored
    row = measure("y 75% 0, explained", quick=True, estimator=peer)
    assert row.floored and row.peer[0] < 1e-9 and row.ratios[0] < 1e-9


class _WithoutBadCells(_Both):
    def partial_fit(self, X, y, **_):
        good = np.abs(X[:, 0]) < 6.0
        super().partial_fit(X[good], y[good])


@pytest.mark.parametrize(("name", "labels"), CASES)
def test_every_goal_can_be_met(name, labels):
    row = measure(name, labels, True, lambda labels: _WithoutBadCells(peer_estimator(labels)))
    assert not any(row.missed()), row.ratios


@pytest.mark.parametrize("labels", [False, True])
def test_measuring_is_deterministic(labels):
    assert measure("rain", labels, True, peer) == measure("rain", labels, True, peer)


def test_errors_are_absolute_or_mistakes():
    animal, table = ZOO["rain"], make("rain", quick=True)
    row = measure("rain", quick=True, estimator=lambda labels: Constant(3.0))
    late = len(table.y) * animal.spared // animal.rows
    assert late == 1_000
    assert row.ratios[0] * row.peer[0] == pytest.approx(np.abs(table.y[late:] - 3.0).mean())
    labels = make("rain", True, quick=True)
    row = measure("rain", True, quick=True, estimator=lambda labels: Constant(1))
    assert row.ratios[0] * row.peer[0] == pytest.approx((labels.y[late:] == 0).mean())


def test_bad_cells_are_learned_and_not_predicted():
    models = []
    measure("rain", quick=True, estimator=lambda labels: models.append(Constant()) or models[-1])
    table = make("rain", quick=True)
    clean, fitted, bad, badly_fitted = [np.concatenate(m.learned) for m in models]
    assert np.array_equal(clean, table.X) and len(fitted) == len(badly_fitted) == 2_000
    ratio = bad[:, 0] / table.X[:, 0]
    assert np.array_equal(bad[:, 1:], table.X[:, 1:]) and abs((ratio == 1.0).mean() - 0.95) < 0.01
    assert np.allclose(ratio[ratio != 1.0], 1000.0)
    for model in models[::2]:
        assert np.array_equal(np.concatenate(model.asked), table.X[1_000:])
    for model in models[1::2]:
        assert np.array_equal(np.concatenate(model.asked), np.concatenate(models[1].asked))


def test_old_rows_are_those_learned_before():
    models = []
    measure("counter: old rows", quick=True, estimator=lambda labels: models.append(Constant()) or models[-1])
    for i, asked in enumerate(models[0].asked):
        assert len(asked) == 50 and asked[:, 2].max() < 1_000 + 50 * i
    assert np.array_equal(models[1].asked[0], models[1].learned[0])
    assert models[1].asked[0][-1, 2] == 1_999.0


def test_the_peer_of_a_stream_is_fitted_every_500_rows(monkeypatch):
    fits = []
    model = peer_estimator(False)
    monkeypatch.setattr(type(model), "fit", lambda self, X, y: fits.append(len(y)))
    monkeypatch.setattr(type(model), "predict", lambda self, X: np.zeros(len(X)))
    refitted = Refitted(model)
    for i in range(60):
        if i >= 20:
            refitted.predict(np.zeros((50, 1)))
        refitted.partial_fit(np.zeros((50, 1)), np.zeros(50))
    assert fits == [1_000, 1_500, 2_000, 2_500]


def row(name, *ratios, labels=False, floored=False):
    return ZooRow(name, labels, (0.5, 0.5), ratios, floored)


def test_goals_are_110_and_with_bad_cells_115_percent():
    assert row("rain", 1.10, 1.11, 1.15, 1.16).missed() == [False, True, False, True]
    assert row("rain", math.nan, math.inf, 0.0, 1.0).missed() == [True, True, False, False]


def test_an_animal_with_a_remark_has_no_goal(monkeypatch):
    monkeypatch.setitem(ZOO, "impossible", Animal(make, remark="nobody can"))
    rows = [row("impossible", 9.0, 9.0, 9.0, 9.0), row("rain", 1.0, 1.0, 9.0, 1.0, labels=True)]
    assert not any(rows[0].missed())
    assert summary(rows).startswith("In 0 of 1 within the goal; stream (at most 1.10): 1,")
    assert notes(rows) == ["impossible: nobody can"]


def test_the_table_marks_what_is_missed():
    rows = [row("rain", 1.0, 1.2, 1.0, 2.0, labels=True), row("codes", 1, 1, 1, 1, floored=True)]
    text = markdown(rows, "about")
    assert "| rain, labels | 0.5 | 1.00 | **1.20** | 1.00 | **2.00** |\n" in text
    assert "| codes | 0.5† | 1.00 | 1.00 | 1.00 | 1.00 |\n" in text
    assert "In 1 of 2 within the goal" in text and "\n\n† The peer has no error" in text
    assert text.endswith("\n\nabout\n")


def test_the_quick_ones_are_in_the_zoo():
    assert set(QUICK) < set(ZOO)


def test_the_table_is_written_between_its_markers(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("before\n{}\nstale\n{}\nafter\n".format(*zoo_trials.MARKERS), encoding="utf-8")
    hold_zoo_trials(quick=True, page=page, names=["rain"], estimator=lambda labels: Constant(0))
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("after\n") and "stale" not in text
    assert "| rain | " in text and "| rain, labels | " in text
    assert "`holdfast trials --zoo --quick --write page.md`" in text
    out = capsys.readouterr().out
    assert "In 0 of 2 within the goal" in out and out.count(" !") == 8


def test_the_command_measures_the_quick_ones(monkeypatch, capsys):
    asked = []

    def measured(name, labels, quick, estimator):
        assert quick and estimator is zoo_measures.default_estimator
        asked.append((name, labels))
        return row(name, 1.0, 1.0, 1.0, 1.0, labels=labels)

    monkeypatch.setattr(zoo_trials, "measure", measured)
    assert main(["trials", "--zoo", "--quick"]) == 0
    assert asked == cases(QUICK)
    assert f"In {len(asked)} of {len(asked)} within the goal" in capsys.readouterr().out


def test_a_page_without_markers_is_refused_before_measuring(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(zoo_trials, "measure", lambda *_: pytest.fail("measured"))
    page = tmp_path / "page.md"
    page.write_text("no markers", encoding="utf-8")
    assert main(["trials", "--zoo", "--write", str(page)]) == 2
    assert "trials --zoo: begin" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["trials", "--zoo", "--drift"])
    assert "not allowed with" in capsys.readouterr().err
