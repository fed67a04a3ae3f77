"""The demo: its stream, its table, its picture and its errors."""

import itertools
import struct
import sys

import numpy as np
import pytest

import holdfast as hf
from holdfast import demo


@pytest.fixture(scope="module")
def stream():
    return demo.poisoned(rounds=5_000, seed=0)


@pytest.fixture(scope="module")
def contenders(stream):
    return demo.compete(stream, progress=lambda text: None)


def test_only_bad_rounds_are_corrupted(stream):
    lengths = np.linalg.norm(stream.X, axis=1)
    assert np.all(lengths[stream.good] < 20.0)
    assert not np.any(lengths[~stream.good] < 1_000.0)
    assert (~np.isfinite(lengths)).sum() == 8
    assert 0.005 < (~stream.good).mean() < 0.02


def test_the_seed_decides_the_stream(stream):
    assert np.array_equal(demo.poisoned(5_000, seed=0).X, stream.X, equal_nan=True)
    assert not np.array_equal(demo.poisoned(5_000, seed=1).X, stream.X, equal_nan=True)


def test_filters_come_close_to_the_oracle_and_everything_does_not(contenders):
    everything, *filtered, oracle = [c.losses.mean() for c in contenders]
    assert everything > 3.0 * oracle
    assert max(filtered) < 1.25 * oracle


def test_all_are_scored_on_the_same_rounds(stream, contenders):
    assert {len(c.losses) for c in contenders} == {stream.good.sum()}
    for c in contenders[:-1]:
        assert c.good_skipped - c.bad_kept == c.record.skipped_count - (~stream.good).sum()


def test_mistakes_are_wrong_signs(stream, contenders):
    """The table computes them from the losses; here they are counted from the weights."""
    X, y = stream.X[stream.good], stream.y[stream.good]
    player, wrong = hf.Player(contenders[-1].record.player, dim=X.shape[1]), 0
    for x, label in zip(X, y, strict=True):
        wrong += label * (player.predict() @ x) <= 0.0
        player.learn(x, label, hf.Logistic())
    assert f"{100.0 * wrong / len(y):.1f} %" in demo.table(contenders).splitlines()[-1]


def test_main_prints_the_table_and_writes_a_picture(tmp_path, capsys):
    path = tmp_path / "demo.png"
    assert demo.main(["--rounds", "1000", "--to", str(path)]) == 0
    printed = capsys.readouterr().out
    for word in (
        "Everything()",
        "TopK(15)",
        "TopShare(0.02)",
        "Quantile(0.97, horizon=1000)",
        "oracle",
        "try next",
    ):
        assert word in printed
    assert printed.endswith(f"{path}\n")
    assert "\r" not in printed
    assert struct.unpack(">II", path.read_bytes()[16:24]) == (1200, 500)


def test_progress_is_shown_on_terminals(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    demo.main(["--rounds", "1000", "--to", str(tmp_path / "demo.svg")])
    assert "\r\033[Kplaying 1,000 rounds behind TopShare(0.02) ..." in capsys.readouterr().err


def test_without_matplotlib_the_table_is_still_printed(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert demo.main(["--rounds", "1000", "--to", str(tmp_path / "demo.png")]) == 1
    printed = capsys.readouterr()
    assert "TopShare(0.02)" in printed.out
    assert printed.err == "The picture needs matplotlib: pip install 'holdfast[plot]'\n"


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("--rounds", "10", "at least 1000"),
        ("--seed", "-1", "cannot be negative"),
        ("--to", "demo.bmp", "must end in .png, .svg, .pdf"),
        ("--to", "no/such/folder/demo.png", "a folder that does not exist"),
    ],
)
def test_a_wrong_option_is_reported_before_the_game(option, value, sentence, capsys):
    with pytest.raises(SystemExit):
        demo.main([option, value])
    printed = capsys.readouterr()
    assert sentence in printed.err
    assert printed.out == ""


def test_labels_stay_in_order_and_apart():
    heights = demo._apart({"a": 0.331, "b": 2.7, "c": 0.33, "d": 0.34}, ratio=1.1)
    ordered = [heights[name] for name in "cadb"]
    assert all(upper >= 1.0999 * lower for lower, upper in itertools.pairwise(ordered))
    assert heights["b"] == 2.7
