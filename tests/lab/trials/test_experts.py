"""Experts on folders of a few rounds: what is corrupted and scored, printed, and refused."""

import numpy as np
import pandas as pd
import pytest

import holdfast as hf
from holdfast.cli.main import main
from holdfast_lab.trials import experts, learners_table
from holdfast_lab.trials.corruptions import SPARED

ROUNDS = 600


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    names = [f"e_{i}" for i in range(4)]
    stocks = pd.DataFrame(
        np.exp(0.02 * rng.standard_normal((ROUNDS, 4)) + [0.01, 0.0, 0.0, -0.01]), columns=names
    )
    y = rng.uniform(1.0, 9.0, ROUNDS)
    teams = pd.DataFrame(y[:, None] + rng.standard_normal((ROUNDS, 4)) * [0.1, 1.0, 1.0, 3.0], columns=names)
    teams = teams.assign(y=y, outlier=[1 if t in (50, 200) else 0 for t in range(ROUNDS)])
    for name, frame in (("nyse_new", stocks), ("covid_deaths", teams)):
        (tmp_path / name).mkdir()
        frame.assign(t=range(ROUNDS)).to_csv(tmp_path / name / "data.csv.gz", index=False)
    return tmp_path


@pytest.mark.parametrize("name", experts.DATA)
def test_only_bad_rounds_are_changed_and_none_of_them_is_good(folder, name):
    table = experts.load(folder, name)
    assert table.E.shape == (ROUNDS, 4) and table.marked.sum() == (2 if name == "covid_deaths" else 0)
    for kind, spoil in experts.DATA[name].kinds.items():
        spoiled, good = experts.corrupt(table, spoil, 1)
        changed = (spoiled.E != table.E).any(axis=1) | (spoiled.y != table.y)
        assert np.array_equal(changed, ~good & ~table.marked) and not changed[:SPARED].any()
        assert changed.any() == (kind != "natural")


def test_what_the_corruptions_do(folder):
    stocks, teams = experts.load(folder, "nyse_new"), experts.load(folder, "covid_deaths")
    spoiled, good = experts.corrupt(stocks, experts.one_stock, 1)
    assert (np.sort(spoiled.E[~good] / stocks.E[~good], axis=1).round(6) == [1.0, 1.0, 1.0, 1000.0]).all()
    spoiled, good = experts.corrupt(stocks, experts.worst_stock, 1)
    assert (spoiled.E[~good, 3] > 500.0).all()
    spoiled, good = experts.corrupt(teams, experts.outcome, 1)
    bad = ~good & ~teams.marked
    assert np.array_equal(spoiled.y[bad], -1000.0 * teams.y[bad])


def test_scores_are_the_mean_loss_of_the_good_rounds(folder):
    data, table = experts.DATA["covid_deaths"], experts.load(folder, "covid_deaths")
    errors = np.abs(table.E - table.y[:, None])
    good = ~table.marked
    good[:SPARED] = False
    uniform, best = experts.references(folder, "covid_deaths")
    assert uniform == pytest.approx(errors[good].mean()) and best == pytest.approx(errors[good, 0].mean())
    assert np.array_equal(data.game(table).G, errors)
    growth = np.log(experts.load(folder, "nyse_new").E)[SPARED:]
    assert experts.references(folder, "nyse_new")[1] == pytest.approx(1e4 * growth.mean(axis=0).max())


@pytest.mark.slow  # compiles for long
def test_a_filter_saves_the_money(folder):
    results = experts.compare_experts(folder, "nyse_new", 1, compiled=False)
    found = {(result.kind, result.learner): result.scores for result in results}
    assert set(found) == {
        (k, e) for k in experts.DATA["nyse_new"].kinds for e in ("AdaHedge", "Squint", "EG")
    }
    lost = found["worst stock x1000", "EG"]
    assert lost["no filter"] < lost["TopK"] - 5.0 and abs(lost["TopK"] - lost["oracle"]) < 1.0
    quiet = found["natural", "AdaHedge"]
    assert quiet["oracle"] == quiet["no filter"] == quiet["TopK"]


@pytest.mark.slow  # compiles for long
def test_the_table_has_a_place_of_its_own(folder, capsys):
    page = folder / "page.md"
    both = (*learners_table.MARKERS, *learners_table.EXPERTS)
    page.write_text("{}\nfirst\n{}\n{}\nstale\n{}\n".format(*both), encoding="utf-8")
    learners_table.compare_on_data(folder, quick=True, page=page, compiled=False)
    text = page.read_text(encoding="utf-8")
    assert "\nfirst\n" in text and "stale" not in text
    assert "| covid_deaths | forecasts x1000 | Squint |" in text and "the best expert" in text
    assert "worst stock x1000" in capsys.readouterr().out


def test_a_wrong_folder_or_file_is_a_sentence(tmp_path, capsys):
    assert main(["learners", "--data", str(tmp_path)]) == 2
    assert "NAME one of nyse_new, covid_deaths" in capsys.readouterr().err
    (tmp_path / "nyse_new").mkdir()
    pd.DataFrame({"y": [1.0]}).to_csv(tmp_path / "nyse_new" / "data.csv.gz", index=False)
    assert main(["learners", "--data", str(tmp_path)]) == 2
    assert "expected columns e_*, an expert each: got y" in capsys.readouterr().err


def test_the_rate_of_eg_for_errors_is_that_of_its_theory():
    table = experts.Experts(np.array([[0.0, 2.0]] * 8), np.zeros(8), np.zeros(8, bool))
    assert hf.EG(experts.rate_for_errors(table)).rate == pytest.approx(np.sqrt(np.log(2)) / 2.0)
