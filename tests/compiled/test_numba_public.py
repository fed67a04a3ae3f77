"""Games on the public path have the same bits. `make test-public-numba` runs the laws on it."""

import pytest
from compiled.subprocesses import printed

PROGRAM = """
import warnings
from typing import NamedTuple
import numpy as np
import holdfast as hf
from holdfast._compiled import call, is_stored, numba_path
from holdfast._compiled.calls import is_ready
from laws import same

assert numba_path.private is None

class Short(NamedTuple):
    x: float
    def of(self):
        return self.x

class Long(NamedTuple):
    x: float
    def of(self, scale, offset=0.5):
        return self.x * scale + offset

class Field(NamedTuple):
    of: float

def total(short, long, field):
    return short.of() + long.of(2.0) + long.of(2.0, 1.0) + field.of

args = Short(1.0), Long(2.0), Field(3.0)
assert call(total, *args) == total(*args) == 13.5
assert is_ready("call", total, args) and is_stored("call", total, args)

try:
    call(lambda long: long.of(scale=2.0), Long(2.0))
except TypeError as problem:
    assert str(problem).startswith("numba cannot compile")

player, losses = hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopShare(0.1)), np.random.default_rng(0)
players = [hf.Player(player, 300, compiled=compiled) for compiled in (False, True)]
for _ in range(20):
    x, y = losses.normal(size=300), float(losses.normal())
    assert same(*[tuple(each.learn(x, y, hf.Squared())) for each in players])
assert same(*[each.predict() for each in players])

notebook = {}
exec("LIMIT = 1.0\\ndef level(x):\\n    return LIMIT * x\\ndef ask(x):\\n    return level(x)", notebook)
ask = notebook["ask"]
assert call(ask, 3.0) == 3.0
exec("LIMIT = 2.0", notebook)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert call(ask, 3.0) == call(ask, 3.0) == 6.0
    assert "Restart Python" in str(caught[0].message) and len(caught) == 1
exec("LIMIT = 1.0", notebook)
assert call(ask, 3.0) == 3.0
print("all the same")
"""


@pytest.mark.exhaustive
def test_the_public_api_compiles_methods_and_players_and_sees_changed_names():
    assert printed(PROGRAM, HOLDFAST_PUBLIC_NUMBA="1") == ["all the same"]
