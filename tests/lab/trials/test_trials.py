"""The trials on folders of a few rounds: what is corrupted and scored, printed, and refused."""

import math

import numpy as np
import pandas as pd
import pytest

from holdfast.cli.main import main
from holdfast_lab.trials import batches, one_pass, runner
from holdfast_lab.trials import contestants as who
from holdfast_lab.trials.corruptions import KINDS, SPARED, corrupt
from holdfast_lab.trials.data import available, load
from holdfast_lab.trials.table import MARKERS, Cell, Goal, goals, line, markdown, ratio

FEW = {name: who.CONTESTANTS[name] for name in (who.ORACLE, who.OURS, who.PLAIN)}


def write(folder, name, rounds=400, regression=True, **more):
    rng = np.random.default_rng(len(name))
    frame = pd.DataFrame(rng.standard_normal((rounds, 2)), columns=["x_one", "e_two"])
    y = frame["x_one"] - frame["e_two"] + 0.1 * rng.standard_normal(rounds)
    frame["y"] = y if regression else np.where(y > 0.0, 1, -1)
    frame = frame.assign(t=range(rounds), time="midnight", **more)
    (folder / name).mkdir()
    frame.to_csv(folder / name / "data.csv.gz", index=False)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Three data sets of 400 rows, which are played in Python: to compile all contestants takes a minute."""
    for module in (batches, one_pass):
        monkeypatch.setattr(module, "_WORTH_COMPILING", math.inf)
    marked = np.zeros(400, int)
    marked[[50, 300]] = 1
    write(tmp_path, "air_quality", outlier=marked)
    write(tmp_path, "spambase", regression=False)
    write(tmp_path, "nab_streams", series=["a"] * 200 + ["b"] * 200)
    return tmp_path


def test_a_table_is_read_as_it_stands(folder):
    assert available(folder) == ["air_quality", "nab_streams", "spambase"]
    [table] = load(folder, "air_quality")
    assert table.X.shape == (400, 2) and table.regression and table.unit == 1.0
    assert np.flatnonzero(table.marked).tolist() == [50, 300]
    [labels] = load(folder, "spambase")
    assert not labels.regression and not labels.marked.any()


def test_each_series_is_a_stream_with_a_unit_of_its_own(folder):
    tables = load(folder, "nab_streams")
    assert [table.rounds for table in tables] == [200, 200]
    assert all(table.unit == np.abs(np.diff(table.y)).mean() for table in tables)


def test_the_most_frequent_class_is_told_from_all_others(tmp_path):
    write(tmp_path, "room_occupancy")
    path = tmp_path / "room_occupancy" / "data.csv.gz"
    classes = np.repeat([2, 0, 3, 1], [100, 180, 60, 60])
    pd.read_csv(path).assign(y=classes).to_csv(path, index=False)
    [table] = load(tmp_path, "room_occupancy")
    assert not table.regression and np.array_equal(table.y, np.where(classes == 0, -1.0, 1.0))


def test_a_row_with_a_missing_cell_is_good_but_not_scored(folder):
    [table] = load(folder, "air_quality")
    table.X[200, 1] = np.nan
    stream = corrupt(table, "natural", 0)
    assert stream.good[200] and not stream.scored[200] and stream.scored.sum() == 400 - SPARED - 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["air_quality", "spambase"])
def test_only_what_is_corrupted_changes_and_none_of_it_is_scored(folder, name, kind):
    [table] = load(folder, name)
    stream = corrupt(table, kind, 1)
    changed = (stream.table.X != table.X).any(axis=1) | (stream.table.y != table.y)
    assert np.array_equal(changed, stream.corrupted)
    assert stream.corrupted.any() == (kind != "natural")
    assert not stream.corrupted[:SPARED].any()
    assert np.array_equal(stream.scored, ~changed & ~table.marked & (np.arange(400) >= SPARED))
    assert np.array_equal(stream.corrupted, corrupt(table, kind, 1).corrupted)


def test_what_the_corruptions_do(folder):
    [numbers], [labels] = load(folder, "air_quality"), load(folder, "spambase")
    for table, kind, X, y in (
        (numbers, "features x1000", 1000.0, 1.0),
        (numbers, "target attack", 1.0, -1000.0),
        (labels, "target attack", 100.0, -1.0),
    ):
        stream = corrupt(table, kind, 3)
        bad = stream.corrupted
        assert np.array_equal(stream.table.X[bad], X * table.X[bad])
        assert np.array_equal(stream.table.y[bad], y * table.y[bad])
        assert np.array_equal(stream.truth, table.y)
    stream = corrupt(numbers, "one 1e300", 3)
    assert (stream.table.X[stream.corrupted] == 1e300).all() and stream.corrupted.sum() == 1
    assert np.isnan(corrupt(numbers, "1 % NaN", 3).table.X[corrupt(numbers, "1 % NaN", 3).corrupted]).all()


def test_errors_are_distances_or_mistakes(folder):
    numbers = corrupt(load(folder, "air_quality")[0], "natural", 0)
    assert numbers.errors(numbers.truth + 2.0) == pytest.approx(np.full(400, 2.0))
    labels = corrupt(load(folder, "spambase")[0], "natural", 0)
    assert labels.errors(-5.0 * labels.truth).tolist() == [1.0] * 400
    assert np.isnan(labels.errors(np.full(400, math.nan))).all()


def test_the_oracle_meets_no_outlier(folder):
    [table] = load(folder, "air_quality")
    one, other = (who.oracle(corrupt(table, kind, 5)) for kind in ("features x1000", "target attack"))
    assert np.array_equal(one, other, equal_nan=True)
    assert np.isnan(one[[50, 300]]).all() and np.isfinite(one).sum() > 380


def test_every_contestant_predicts_every_round_it_can(folder):
    pytest.importorskip("river")
    for name in ("air_quality", "spambase"):
        stream = corrupt(load(folder, name)[0], "1 % NaN", 0)
        playing = [each for each in who.CONTESTANTS.values() if each.can_play(stream.table)]
        assert len(playing) >= len(who.CONTESTANTS) - 2
        for contestant in playing:
            predictions = contestant.predict(stream, 1)
            assert np.isfinite(predictions[stream.scored]).all()


def cell(kind="natural", ours=1.0, peer=2.0, delay=1):
    return Cell("data", kind, delay, 0.5, {who.OURS: ours, who.PLAIN: peer}, {who.PLAIN: peer / ours})


def test_goals_are_judged():
    assert all(goal.met() for goal in goals([cell(), cell("1 % NaN")]))
    near, far, natural, ahead = goals([cell(ours=1.3, peer=1.2), *[cell("1 % NaN")] * 9])
    assert (near.met(), far.met(), natural.met(), ahead.met()) == (True, False, False, True)
    assert far.short == ["data, natural (1.30)"] and natural.short == ["data, natural (1.08)"]
    assert goals([cell(), cell("1 % NaN", 1.1, 1.0)])[3].short == ["data, 1 % NaN (SGD 0.91)"]
    assert str(Goal("it works", 3, ["here"])) == "MISSED: it works (2 of 3): all but here"
    assert not goals([cell(ours=math.nan)])[1].met()
    both = goals([cell(), cell(ours=1.3, delay=50)])
    assert [goal.claim.split(":")[0] for goal in both] == ["delay 1"] * 4 + ["delay 50"] * 4
    assert both[1].met() and not both[5].met()


def test_figures_are_short():
    assert [ratio(x) for x in (None, math.nan, math.inf, 1.004, 31.4, 271.8, 6e12)] == [
        *("", "fails", "fails", "1.00", "31", "272", "6e+12")
    ]
    assert "**1.00**" in markdown([cell()], "") and "| 2.00 |" in markdown([cell()], "")
    assert line(cell()).split()[:5] == ["data", "natural", "1", "0.5", "1.00"]


def test_slow_contestants_are_compared_on_the_rounds_they_met(folder):
    slow = {**FEW, "slow": who.Contestant(who.by_default, is_slow=True)}
    scale = runner.TrialSize(seeds=1, rounds=350, slow_rounds=200)
    [natural, *_] = runner.trials(folder, ["air_quality"], scale, slow)
    assert natural.to_ours["slow"] == 1.0
    assert natural.to_oracle["slow"] != natural.to_oracle[who.OURS]


def test_the_command_prints_and_writes_the_table(folder, capsys, monkeypatch):
    monkeypatch.setattr(runner.trials, "__defaults__", (FEW, *runner.trials.__defaults__[1:]))
    page = folder / "page.md"
    page.write_text(f"before\n{MARKERS[0]}\n{MARKERS[1]}\nafter\n")
    options = ["--quick", "--only", "spambase", "--delay", "1", "30", "--write", str(page)]
    assert main(["trials", "--data", str(folder), *options]) == 0
    printed, text = capsys.readouterr().out, page.read_text()
    assert printed.count("spambase") >= len(KINDS) and "within 25 %" in printed
    assert text.startswith("before\n") and text.endswith("\nafter\n")
    assert "| spambase | one 1e300 | 1 |" in text and "| spambase | one 1e300 | 30 |" in text
    assert "`holdfast trials --data FOLDER --quick --delay 1 30 --write page.md`" in text
    assert str(folder) not in text


def test_what_cannot_be_read_or_written_is_a_sentence_and_exit_2(folder, tmp_path, capsys):
    assert main(["trials", "--data", str(folder / "nowhere")]) == 2
    assert "holds no NAME/data.csv.gz" in capsys.readouterr().err
    (tmp_path / "page.md").write_text("nothing")
    assert main(["trials", "--data", str(folder), "--write", str(tmp_path / "page.md")]) == 2
    assert "no place for the table" in capsys.readouterr().err


@pytest.mark.parametrize("delay", ["0", "-5", "many", "1.5"])
def test_a_delay_is_a_number_of_rounds(delay, folder, capsys):
    with pytest.raises(SystemExit):
        main(["trials", "--data", str(folder), "--delay", delay])
    assert "a number of rounds" in capsys.readouterr().err
