"""The settings of learners with names: all are tried, and those in use are among them."""

import numpy as np
import pandas as pd
import pytest

import holdfast as hf
from holdfast.cli.main import main
from holdfast.options import LEARNERS
from holdfast_lab.trials import tuning_table
from holdfast_lab.trials.tuning import GRID, tune


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    for name, target in (("air_quality", lambda z: 3.0 * z), ("eeg_eye", np.sign)):
        X = rng.standard_normal((250, 2))
        frame = pd.DataFrame({"x_a": X[:, 0], "x_b": X[:, 1], "y": target(X @ [1.0, -2.0])})
        (tmp_path / name).mkdir()
        frame.to_csv(tmp_path / name / "data.csv.gz", index=False)
    return tmp_path


def test_every_name_is_tuned_and_what_it_means_was_tried():
    assert set(GRID) == set(LEARNERS)
    for name, settings in GRID.items():
        assert LEARNERS[name] in settings
        assert len({type(setting) for setting in settings}) == 1


def test_the_default_errs_as_much_as_itself(folder):
    found = tune(
        folder, "adagrad", [LEARNERS["adagrad"], hf.AdaGrad(hf.Box(-10.0, 10.0), 1e-6, 1.0)], compiled=False
    )
    assert found[0].mean == found[0].worst == 1.0 and found[0].is_chosen()
    assert found[1].mean > 1.1 and not found[1].is_chosen()


@pytest.mark.parametrize("name", ["vaw", "ons", "scaleinvariant"])
def test_each_meets_losses_that_it_is_made_for(folder, name):
    found = tune(folder, name, GRID[name], ("natural",), compiled=False)
    assert 0.0 < min(each.mean for each in found) < 20.0


def test_the_table_is_written_between_its_markers(folder, capsys):
    page, grid = folder / "page.md", {name: GRID[name] for name in ("adaftrl", "metagrad")}
    page.write_text("before\n{}\nstale\n{}\nafter\n".format(*tuning_table.TUNED), encoding="utf-8")
    tuning_table.tune_all(folder, quick=True, page=page, grid=grid, rounds=120, compiled=False)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("after\n") and "stale" not in text
    assert '| "adaftrl" | radius ' in text and "AdaFTRL(domain=Ball" in capsys.readouterr().out


def test_a_folder_without_data_is_a_sentence(tmp_path, capsys):
    assert main(["learners", "--tune", str(tmp_path)]) == 2
    assert "holds no NAME/data.csv.gz" in capsys.readouterr().err
