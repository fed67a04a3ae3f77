"""A mistake in a user's rule gives an error of one sentence, instead of numba's page."""

import functools
import pathlib
from typing import NamedTuple

import numpy as np
import pytest
from laws import filtered

from holdfast._compiled import call
from holdfast._compiled.error_messages import explain
from holdfast.rule import rule

FILTER = """
@rule
class Mine:
    k: float = 2.0
    LIMIT = 3.0

    def init(self, dim):
        return Seen(0.0, 0)

    @property
    def double(self):
        return 2.0 * self.k

    def limit(self, a, b):
        return a + b

    def decide(self, state, size):
        if size > 5.0:
            {mistake}
        return state, 1.0, True
"""


class Seen(NamedTuple):
    mean: float
    n: int


def formatted(x):
    return f"{x:.3f}"


def stored(x):
    try:
        return float(x)
    except ValueError as problem:
        print(problem)
        return 0.0


partial, limits = functools.partial(max, 3.0), {"soft": 1.0}


@pytest.fixture
def complaint(tmp_path):
    """A function that returns the error for a filter with the given line."""

    def complain(mistake):
        path = tmp_path / "mine.py"
        path.write_text(FILTER.format(mistake=mistake))
        scope = {**globals(), "__name__": "mine"}
        exec(compile(path.read_text(), path, "exec"), scope)
        mine = scope["Mine"]()
        with pytest.raises(TypeError) as caught:
            call(filtered, mine, mine.init(1), np.ones(3))
        assert caught.value.__cause__ is None and caught.value.__context__ is None
        return str(caught.value)

    return complain


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (
            "return Seen(state.men, 1), 0.0, True",
            "Seen has no 'men' that numba can read; it reads fields and plain",
        ),
        (
            "return state, self.double, True",
            "Mine has no 'double' that numba can read; it reads fields and plain",
        ),
        (
            "return state, self.LIMIT, True",
            "Mine has no 'LIMIT' that numba can read; it reads fields and plain",
        ),
        ("return state._replace(n=1), 1.0, True", "Seen has no '_replace' that numba can read"),
        ("return state, limt, True", "name 'limt' is not defined; define it, or correct the spelling"),
        (
            "return Seen(0.0, state.n + 0.5), 0.0, True",
            "a state must keep its types; a number that becomes a float",
        ),
        ("return Seen(np.zeros(3), 1), 0.0, True", "a state must keep its types"),
        ("return state, 1.0", "it returns values of different types"),
        (
            "state.mean = size",
            "it assigns to 'mean' of Seen, which cannot change; return a new state instead",
        ),
        (
            "return Seen(0.0), 0.0, True",
            "wrong arguments for Seen, missing a required argument: 'n'; pass its parameters",
        ),
        (
            "return state, Mine().k, True",
            "made with too few values; write all of them, because numba does not fill in def",
        ),
        ("return state, self.limit(1.0), True", "wrong arguments in a call, missing a required argument"),
        ("return state, partial(size), True", "'partial' is a functools.partial, which numba does not"),
        ("return state, limits['hard'], True", "'limits' is a dict, which numba does not support"),
        ("return state, 'a' + size, True", "numba has no add(str, float64); write it another way"),
        ("return state, max([1.0], key=abs), True", "numba has no max(list(float64), key="),
        (
            "return state, np.quantile(np.ones(3), 0.5, method='lower'), True",
            "numba has no quantile(1d array of",
        ),
        ("return state, np.sqroot(size), True", "module 'numpy' has no attribute 'sqroot'"),
        ("raise ValueError(formatted(size))", "numba cannot compile formatted (test_error_messages.py, line"),
        ("return state, stored(size), True", "numba cannot compile stored (test_error_messages.py, line"),
        ("yield size", "numba cannot compile"),
        ("with open('x') as file: pass", "numba cannot compile Mine.decide"),
        ("return state, (lambda: (yield))(), True", "numba cannot compile"),
    ],
)
def test_one_line_says_what_is_wrong_where_and_what_to_do(complaint, mistake, message):
    text = complaint(mistake)
    assert message in text
    assert len(text) < 400 and "\n" not in text and "0x" not in text and ";" in text
    assert text.startswith("numba cannot compile Mine.") or ".py, line " in text


def test_the_line_is_quoted_if_numba_gives_it(complaint):
    assert complaint("return Seen(state.men, 1), 0.0, True").startswith(
        "numba cannot compile Mine.decide (mine.py, line 19: return Seen(state.men, 1), 0.0, True): "
    )


def test_the_guide_shows_what_the_compiler_says(complaint):
    guide = pathlib.Path(__file__).parents[2] / "docs" / "add-a-filter.md"
    text = complaint('return state, limits["soft"], True')
    assert f"TypeError: {text}\n" in guide.read_text()


def test_a_long_reason_is_cut():
    text = explain("Cannot do this with " + "a very long type " * 100, None, set())
    assert len(text) < 400 and "..." in text and text.startswith("numba cannot compile this: Cannot do")


def test_an_argument_of_unknown_type_is_named():
    @rule
    class Lost:
        def init(self, dim):
            return {"mean": 0.0}

        def decide(self, state, size):
            return state, 1.0, True

    with pytest.raises(
        TypeError, match="numba cannot compile state, which is of type dict: rules are classes with @rule"
    ):
        call(filtered, Lost(), Lost().init(1), np.ones(3))
    with pytest.raises(TypeError, match=r"numba cannot compile pair\.1, which is of type object"):
        call(lambda pair: pair[0], (1.0, object()))


def test_an_exception_of_a_rule_is_not_changed():
    @rule
    class Strict:
        def init(self, dim):
            return Seen(0.0, 0)

        def decide(self, state, size):
            if size > 5.0:
                raise ValueError("sizes above 5 are not allowed")
            return state, 1.0 / (size - 2.0), True

    for run in (call, lambda function, *args: function(*args)):
        with pytest.raises(ValueError, match=r"^sizes above 5 are not allowed$"):
            run(filtered, Strict(), Seen(0.0, 0), np.array([1.0, 6.0]))
        with pytest.raises(ZeroDivisionError):
            run(filtered, Strict(), Seen(0.0, 0), np.array([1.0, 2.0]))
