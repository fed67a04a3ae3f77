"""Which methods and helpers are found and compiled, and what the fingerprint depends on."""

from types import ModuleType
from typing import NamedTuple

import numba
import numpy as np
import pytest
from laws import filtered, same

from holdfast import TopK
from holdfast._compiled import call, call_graph
from holdfast._compiled.call_graph import CallGraph
from holdfast._compiled.calls import is_ready
from holdfast.norms import L2
from holdfast.rule import rule

SIZES = np.array([1.0, 2.0, 3.0])


class Seen(NamedTuple):
    """The state of a filter in these tests."""

    n: int


def decisions(filter):
    return call(filtered, filter, filter.init(1), SIZES)


# -- methods and helpers are the same functions as in Python


def test_a_rule_made_inside_a_function_compiles():
    limit = 2.5

    @rule
    class Local:
        def init(self, dim):
            return Seen(0)

        def decide(self, state, size):
            return Seen(state.n + 1), limit, size <= limit

    assert same(decisions(Local()), filtered(Local(), Local().init(1), SIZES))
    assert decisions(Local())[1].tolist() == [True, True, False]


def test_methods_of_one_name_may_differ_from_class_to_class():
    class Narrow(NamedTuple):
        x: float

        def of(self, scale, offset=0.5):
            return self.x * scale + offset

    def sizes(norm, narrow):
        return norm.of(np.ones(4)) + narrow.of(2.0) + narrow.of(offset=1.0, scale=3.0)

    assert call(sizes, L2(), Narrow(1.0)) == sizes(L2(), Narrow(1.0)) == 8.5


def test_a_field_may_have_the_name_of_a_method_of_another_class():
    class Size(NamedTuple):
        of: float
        push: float

    def sizes(norm, size):
        return norm.of(np.ones(4)) + size.of + size.push

    assert call(sizes, L2(), Size(1.0, 2.0)) == 5.0


def test_helpers_are_found_in_comprehensions_closures_and_modules():
    other = ModuleType("other")
    exec("def twice(x):\n    return 2.0 * x", other.__dict__)

    def thrice(x):
        return 3.0 * x

    def reached(x):
        return sum([other.twice(v) for v in x]) + thrice(square(x[0]))

    assert call(reached, SIZES) == reached(SIZES) == 15.0


@numba.njit
def square(x):
    return x * x


def test_modules_that_import_each_other_are_walked_once():
    a, b = ModuleType("a"), ModuleType("b")
    a.b, b.a = b, a
    exec("def one():\n    return 1.0", b.__dict__)
    assert call(eval("lambda: b.one()", {"a": a, "b": b})) == 1.0
    CallGraph(eval("lambda: a.b.one() + b.a.b.one()", {"a": a, "b": b}), ())


def test_methods_that_are_never_called_are_not_compiled():
    @rule
    class Talkative:
        def init(self, dim):
            return Seen(len({"only", "Python", "can"}))

        def describe(self):
            return {f"{size:.3f}": print for size in SIZES}

        def decide(self, state, size):
            return state, 0.0, True

    assert decisions(Talkative())[1].all()


def test_a_mistake_does_not_affect_other_rules():
    @rule
    class Wrong:
        def init(self, dim):
            return Seen(0)

        def of(self, v):
            return v.missing

        def decide(self, state, size):
            return state, self.of(size), True

    with pytest.raises(TypeError, match=r"Wrong\.of"):
        decisions(Wrong())
    assert call(lambda norm, x: norm.of(x), L2(), np.ones(4)) == 2.0


# -- a redefined function is compiled again


def test_a_changed_global_name_is_looked_up_again():
    notebook = {"np": np}
    exec("LIMIT = 1.0\ndef level(x):\n    return LIMIT * x\ndef ask(x):\n    return level(x)", notebook)
    ask = notebook["ask"]
    assert call(ask, 3.0) == 3.0 and is_ready("call", ask, (3.0,))
    exec("LIMIT = 2.0", notebook)
    assert not is_ready("call", ask, (3.0,))
    assert call(ask, 3.0) == 6.0
    exec("def level(x):\n    return x - LIMIT", notebook)
    assert call(ask, 3.0) == 1.0
    assert call(ask, 3) == 1  # also for another type


def test_the_same_value_again_is_no_change():
    notebook = {}
    exec("LIMIT = 1000.5\ndef ask(x):\n    return LIMIT * x", notebook)
    call(notebook["ask"], 1.0)
    exec("LIMIT = 1000.5", notebook)
    assert not CallGraph(notebook["ask"], (1.0,)).changed


# -- the fingerprint

PROGRAM = """
import math
from math import sqrt as root
import numpy as np
from typing import NamedTuple
from holdfast import rule
from holdfast.norms import Lp

LIMIT, SINGLE, KIND = 1.0, np.int64(3), np.float64
TABLE = np.arange(5000.0)
NORM = Lp(2.0)

class State(NamedTuple):
    a: float
    b: float

def scaled(x, by=2.0, *, plus=0.0):
    return x * by + plus

@rule
class Mine:
    k: float = 1.0

    def check(self):
        'Python only.'

    def init(self, dim):
        return State(0.0, 0.0) if dim in {1, 2, 3} else State(1.0, 0.0)

    def decide(self, state, size):
        threshold = 2.0 * math.sqrt(state.a) + level(LIMIT) + helpers.offset + SINGLE + TABLE[2] + NORM.p
        return state, threshold + scaled(root(size)) + sum([scaled(v) for v in np.ones(2, KIND)]), size <= 1.0
"""
HELPERS = "offset = 0.5\nunused = 1\ndef level(x):\n    return x + 1.0\n"


def fingerprint(program=PROGRAM, helpers=HELPERS):
    other, own = ModuleType("helpers"), ModuleType("program")
    exec(helpers, vars(other))
    vars(own).update(helpers=other, level=other.level)
    exec(program, vars(own))
    mine = own.Mine()
    return CallGraph(filtered, (mine, mine.init(1), SIZES)).fingerprint


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("2.0 * math", "3.0 * math"),
        ("state.a", "state.b"),
        ("math.sqrt", "math.exp"),
        ("import sqrt as root", "import exp as root"),
        ("LIMIT, SINGLE, KIND = 1.0", "LIMIT, SINGLE, KIND = 1.5"),
        ("np.int64(3)", "np.int64(4)"),
        ("np.int64(3)", "np.int32(3)"),
        ("KIND = 1.0, np.int64(3), np.float64", "KIND = 1.0, np.int64(3), np.float32"),
        ("np.arange(5000.0)", "np.arange(5000.0) + 1e-12 * (np.arange(5000) == 2500)"),
        ("Lp(2.0)", "Lp(3.0)"),
        ("by=2.0", "by=3.0"),
        ("plus=0.0", "plus=1.0"),
        ("scaled(v) for", "abs(v) for"),
        ("b: float", "c: float"),
        ("offset = 0.5", "offset = 0.6"),
        ("return x + 1.0", "return x + 2.0"),
    ],
)
def test_every_change_of_compiled_code_changes_the_fingerprint(old, new):
    assert old in PROGRAM + HELPERS
    assert fingerprint(PROGRAM.replace(old, new), HELPERS.replace(old, new)) != fingerprint()


@pytest.mark.parametrize(
    ("old", "new"),
    [("unused = 1", "unused = 2"), ("'Python only.'", "return None"), ("import math", "\n#\nimport math")],
)
def test_no_other_change_affects_the_fingerprint(old, new):
    assert fingerprint(PROGRAM.replace(old, new), HELPERS.replace(old, new)) == fingerprint()


def test_the_fingerprint_depends_on_the_source_of_the_compiler(monkeypatch):
    before = fingerprint()
    monkeypatch.setattr(call_graph, "_own_source", lambda: "another version of overloads.py")
    assert fingerprint() != before


def test_values_of_arguments_do_not_change_the_fingerprint():
    few, many = [CallGraph(filtered, (TopK(k), TopK(k).init(1), SIZES)).fingerprint for k in (1, 1000)]
    assert few == many
