"""A state that is flattened and restored is the same state, interpreted and compiled."""

import numpy as np
import pytest

import holdfast as hf
from holdfast.flatten import flat_size, flatten, restore
from holdfast.options import LEARNERS
from holdfast.rounds import Round
from holdfast.runs.config import Settings
from holdfast.vectors import aligned_copy

ROUNDS = 60


def played(player):
    """A state after some rounds."""
    rng, state = np.random.default_rng(0), player.init(3)
    for _ in range(ROUNDS):
        y = float(rng.normal())
        state, _ = player.observe(state, Round(float(rng.normal()), rng.normal(size=3), y))
    return state


def written(state):
    buffer = np.full(5_000, -1.0)
    return buffer[: flatten(aligned_copy(state), buffer, 0)]


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("outliers", ["auto", "7", "quantile:0.9"])
def test_a_state_is_restored_as_it_was(name, outliers):
    loss = "squared_error" if name in ("onlineridge", "vaw", "ons") else "absolute_error"
    player = Settings("y", learner=name, loss=loss, outliers=outliers).player(True)
    row = written(played(player))
    back, end = restore(player.init(3), row, 0)
    assert end == len(row)
    assert np.array_equal(written(back), row, equal_nan=True)
    size, more = flat_size(player.init(3))
    assert size <= len(row) <= size + more * ROUNDS


def test_a_histogram_is_empty_after_it_is_flattened():
    sketch = hf.TopShare(0.1).init(1).memory
    for size in (0.0, 1e-300, 1.0, 1.0, 1e300):
        sketch = sketch.push(size)
    buffer = np.zeros(30)
    end = flatten(sketch, buffer, 3)
    assert not sketch.table[3:].any()  # the counts
    back, again = restore(sketch, buffer, 3)
    assert again == end
    assert [back.at(rank)[1] for rank in (1, 3, 5)] == pytest.approx([0.0, 1.0, 1e300], rel=0.01)


def flattened(state, buffer):
    return flatten(state, buffer, 0)


def restored(state, buffer):
    return restore(state, buffer, 0)


def test_compiled_code_flattens_and_restores_the_same_numbers():
    from holdfast._compiled import call

    state = played(hf.Filtered(hf.OGD(hf.Ball(5.0)), hf.TopShare(0.1)))
    row = written(state)
    buffer = np.full(5_000, -1.0)
    assert call(flattened, aligned_copy(state), buffer) == len(row)
    assert np.array_equal(buffer[: len(row)], row)
    back, _ = call(restored, hf.Filtered(hf.OGD(hf.Ball(5.0)), hf.TopShare(0.1)).init(3), row)
    assert np.array_equal(written(back), row)
