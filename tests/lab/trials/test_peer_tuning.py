"""The settings of the peers are of a grid, and the best is found."""

import numpy as np
import pandas as pd

from holdfast.cli.main import main
from holdfast_lab.trials import peer_tuning
from holdfast_lab.trials.contestants import WOLF
from holdfast_lab.trials.peer_tuning import GRIDS, Grid, Setting
from holdfast_lab.trials.wolf import WoLF


def test_what_is_in_use_was_tried():
    assert all(grid.used in grid.tried for grid in GRIDS)


def test_a_setting_that_fails_once_is_the_last():
    assert Setting(WOLF, {"a": 2.0, "b": 8.0}).mean() == 4.0
    assert Setting(WOLF, {"a": 2.0, "b": np.inf}).mean() == np.inf


def test_settings_are_printed_best_first_and_the_one_in_use_is_marked(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2))
    y = X @ [1.0, -2.0] + 0.1 * rng.standard_normal(300)
    (tmp_path / "air_quality").mkdir()
    frame = pd.DataFrame({"x_a": X[:, 0], "x_b": X[:, 1], "y": y})
    frame.to_csv(tmp_path / "air_quality" / "data.csv.gz", index=False)
    peer_tuning.tune_peers(tmp_path, [Grid(WOLF, [WoLF(1e-4), WOLF], True)])
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"* {first.split()[1]:>8}") and repr(WOLF) in first and "air_quality" in first
    assert second.startswith("  ")


def test_a_folder_without_data_is_a_sentence(tmp_path, capsys):
    assert main(["trials", "--data", str(tmp_path), "--tune"]) == 2
    assert "holds no NAME/data.csv.gz" in capsys.readouterr().err
