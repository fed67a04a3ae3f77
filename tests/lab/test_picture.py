"""The stream behind the picture of the README, and what the picture shows."""

import itertools
import struct

import numpy as np
import pytest

from holdfast_lab import picture


@pytest.fixture(scope="module")
def stream():
    return picture.poisoned_stream(rounds=5_000, seed=0)


@pytest.fixture(scope="module")
def games(stream):
    return picture.play_all(stream)


def test_good_rounds_are_short_and_bad_ones_are_long_or_not_finite(stream):
    lengths = np.linalg.norm(stream.X, axis=1)
    assert np.all(lengths[stream.good] < 20.0)
    assert not np.any(lengths[~stream.good] < 1_000.0)
    assert (~np.isfinite(lengths)).sum() == 8
    assert 0.005 < (~stream.good).mean() < 0.02


def test_filters_come_close_to_the_oracle_and_everything_does_not(games):
    everything, *filtered, oracle = [losses.mean() for _, losses in games.values()]
    assert everything > 3.0 * oracle
    assert max(filtered) < 1.25 * oracle


def test_all_are_scored_on_the_good_rounds(stream, games):
    assert {len(losses) for _, losses in games.values()} == {stream.good.sum()}


def test_the_picture_has_the_size_that_the_readme_shows(stream, games, tmp_path):
    picture.draw(stream, games, tmp_path / "demo.png")
    assert struct.unpack(">II", (tmp_path / "demo.png").read_bytes()[16:24]) == (1200, 500)


def test_labels_stay_in_order_and_apart():
    heights = picture._apart({"a": 0.331, "b": 2.7, "c": 0.33, "d": 0.34}, ratio=1.1)
    ordered = [heights[name] for name in "cadb"]
    assert all(upper >= 1.0999 * lower for lower, upper in itertools.pairwise(ordered))
    assert heights["b"] == 2.7
