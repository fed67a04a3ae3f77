"""A state written down and taken up again is the same state, in both worlds."""

import numpy as np
import pytest

import holdfast as hf
from holdfast.defaults import LEARNERS
from holdfast.runs.settings import Settings
from holdfast.stowing import fetch_back, span, stow
from holdfast.vectors import owned

ROUNDS = 60


def played(player):
    """A state that has seen some rounds."""
    rng, state = np.random.default_rng(0), player.init(3)
    for _ in range(ROUNDS):
        state = player.told(state, float(rng.normal()))
        state, _ = player.observe(state, float(rng.normal()), rng.normal(size=3))
    return state


def written(state):
    room = np.full(5_000, -1.0)
    return room[: stow(owned(state), room, 0)]


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("outliers", ["auto", "7", "quantile:0.9"])
def test_a_state_comes_back_as_it_was(name, outliers):
    loss = "squared" if name in ("onlineridge", "vaw", "ons") else "absolute"
    player = Settings("y", learner=name, loss=loss, outliers=outliers).player(True)
    row = written(played(player))
    back, end = fetch_back(player.init(3), row, 0)
    assert end == len(row)
    assert np.array_equal(written(back), row, equal_nan=True)
    size, more = span(player.init(3))
    assert size <= len(row) <= size + more * ROUNDS


def test_a_histogram_is_empty_when_it_has_been_written_down():
    sketch = hf.TopShare(0.1).init(1).memory
    for size in (0.0, 1e-300, 1.0, 1.0, 1e300):
        sketch = sketch.push(size)
    room = np.zeros(30)
    end = stow(sketch, room, 3)
    assert not sketch.table[3:].any()  # the counts
    back, again = fetch_back(sketch, room, 3)
    assert again == end
    assert [back.at(rank)[1] for rank in (1, 3, 5)] == pytest.approx([0.0, 1.0, 1e300], rel=0.01)


def there(state, room):
    return stow(state, room, 0)


def back_again(state, room):
    return fetch_back(state, room, 0)


def test_both_worlds_write_the_same():
    from holdfast._compiled import call

    state = played(hf.Filtered(hf.OGD(hf.Ball(5.0)), hf.TopShare(0.1)))
    row = written(state)
    room = np.full(5_000, -1.0)
    assert call(there, owned(state), room) == len(row)
    assert np.array_equal(room[: len(row)], row)
    back, _ = call(back_again, hf.Filtered(hf.OGD(hf.Ball(5.0)), hf.TopShare(0.1)).init(3), row)
    assert np.array_equal(written(back), row)
