"""@rule: parameters are frozen, checked and cast; a rule is otherwise an ordinary value."""

import copy
import inspect
import math
import pickle
import pydoc
from typing import Any, Optional

import numba
import numpy as np
import pytest

import holdfast
from holdfast import OGD, Ball, Everything, Filtered, Gradients, Quantile, TopK, TopShare
from holdfast._compiled import call
from holdfast.norms import L2, LInf, Lp, Mahalanobis
from holdfast.protocols import Learner
from holdfast.rule import rule


@rule
class Line:
    """A line through `point`."""

    point: np.ndarray
    slope: float = 1.0

    def at(self, x):
        return self.slope * x


@rule
class Kinds:
    i: int = 0
    f: float = 0.0
    b: bool = False
    oi: int | None = None
    of: Optional[float] = None  # noqa: UP045  (people write it)
    oa: "np.ndarray | None" = None
    a: Any = None


@rule
class Rounded:
    """Replaces itself by a rule with a whole number."""

    n: float

    def check(self):
        if self.n < 0.0:
            raise ValueError(f"n counts: got {self.n}")
        return Rounded(round(self.n)) if self.n != round(self.n) else None


@rule
class Count:
    """A number, and how far it may be off."""

    k: int
    slack: float = 2.0

    def at(self, x):
        return self.k * x


@rule
class Several:
    learners: tuple[Learner, ...]


def refusal(make):
    """The message for a mistake, which must be one sentence."""
    with pytest.raises(TypeError) as caught:
        make()
    assert "\n" not in str(caught.value) and caught.value.__cause__ is None
    return str(caught.value)


# -- parameters are cast, so that equal rules have one numba type


@pytest.mark.parametrize("k", [np.int32(5), np.uint8(5), np.int64(5)])
def test_any_integer_is_the_same_integer(k):
    assert TopK(k) == TopK(5)
    assert numba.typeof(TopK(k)) == numba.typeof(TopK(5))


@pytest.mark.parametrize("slack", [3, np.float32(3), np.float64(3), np.int64(3), np.array(3.0)])
def test_any_number_is_the_same_float(slack):
    assert numba.typeof(TopK(5, slack)) == numba.typeof(TopK(5, 3.0))
    assert type(TopK(5, slack).slack) is float


@pytest.mark.parametrize("k", [2.5, 5.0, "3", None, [1], np.array([1])])
def test_a_parameter_that_is_not_an_integer_is_refused_with_its_value(k):
    assert refusal(lambda: TopK(k)) == f"TopK: k must be an integer, got {k!r}"


@pytest.mark.parametrize("slack", ["3", b"3", None, 1j, [3.0], np.array([3.0]), 10**400])
def test_a_parameter_that_is_not_a_number_is_refused_with_its_value(slack):
    assert refusal(lambda: TopK(1, slack)) == f"TopK: slack must be a number, got {slack!r}"


@pytest.mark.parametrize("exact", ["no", None, 2, 1.0, [True]])
def test_a_parameter_that_is_not_a_boolean_is_refused_with_its_value(exact):
    assert (
        refusal(lambda: TopShare(0.1, exact=exact)) == f"TopShare: exact must be True or False, got {exact!r}"
    )
    assert type(TopShare(0.1, exact=np.True_).exact) is bool


@pytest.mark.parametrize("point", ["ab", [[1.0], [1.0, 2.0]], object()])
def test_a_parameter_that_is_not_an_array_is_refused_with_its_value(point):
    assert refusal(lambda: Line(point)) == f"Line: point must be an array of numbers, got {point!r}"


def test_optional_parameters_are_cast_unless_they_are_none():
    assert Kinds() == Kinds(0, 0.0, False, None, None, None, None)
    cast = Kinds(oi=np.int8(3), of=2, oa=[1], a="anything")
    assert [type(value) for value in cast] == [int, float, bool, int, float, np.ndarray, str]


def test_arrays_become_read_only_copies_of_floats():
    given = np.arange(6, dtype=np.int32).reshape(2, 3)
    point = Line(given).point
    given[:] = -1
    assert point.dtype == np.float64 and point.flags.c_contiguous and point.tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(ValueError, match="read-only"):
        point[0] = 1.0


def test_check_may_return_another_rule():
    assert Rounded(2.7) == Rounded(3.0)
    with pytest.raises(ValueError, match=r"n counts: got -1\.0"):
        Rounded(-1)
    assert type(Ball(1.0, around=[3.0, 4.0])) is not Ball


# -- errors


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: Count(), "missing a required argument: 'k'"),
        (lambda: Count(1, 2.0, 3), "too many positional arguments"),
        (lambda: Count(1, slak=3.0), "got an unexpected keyword argument 'slak'"),
        (lambda: Count(1, k=2), "multiple values for argument 'k'"),
    ],
)
def test_the_error_for_wrong_arguments_lists_the_parameters(make, problem):
    assert refusal(make) == f"Count: {problem}; its parameters are (k: int, slack: float = 2.0)"


@pytest.mark.parametrize("make", [lambda: L2(2), lambda: Everything(nothing=1.0)])
def test_a_rule_without_parameters_takes_none(make):
    assert refusal(make).endswith("its parameters are ()")


def test_a_method_must_have_the_parameters_of_its_role():
    class Sigma:
        def decide(self, state, norm):
            return state, 0.0, True

    assert (
        refusal(lambda: rule(Sigma))
        == "Sigma.decide(state, norm) must read (state, size), as in every other rule"
    )


@pytest.mark.parametrize("name", ["decide", "init", "update", "check", "check_dim"])
def test_no_parameter_has_the_name_of_a_method(name):
    wrong = type("Wrong", (), {"__annotations__": {name: float}})
    assert refusal(lambda: rule(wrong)).startswith(f"Wrong.{name} is the name of a method in the game")


def test_no_parameter_begins_with_an_underscore():
    wrong = type("Wrong", (), {"__annotations__": {"_k": int}})
    assert (
        refusal(lambda: rule(wrong))
        == "Wrong._k is a parameter, so its name must not begin with an underscore"
    )


def test_a_parameter_without_default_cannot_follow_one_with():
    class Wrong:
        a: float = 1.0
        b: float

    assert refusal(lambda: rule(Wrong)) == "Wrong.b has no default, so it must come before a, which has"


def test_a_rule_does_not_inherit():
    class Wrong(TopK):
        more: float = 1.0

    assert "Wrong inherits from TopK, but a rule cannot inherit" in refusal(lambda: rule(Wrong))


# -- rules as values

RULES = [L2(), TopK(3), Lp(1.5), Quantile(0.9), Filtered(OGD(Ball(2.0)), TopK(np.int8(3), slack=3))]
WITH_ARRAYS = [Line([1.0, 2.0]), Mahalanobis([[2.0, 0.0], [0.0, 1.0]]), Gradients(np.eye(3))]


@pytest.mark.parametrize("value", [*RULES, *WITH_ARRAYS], ids=lambda value: type(value).__name__)
def test_nothing_can_be_set(value):
    for name in [*value._fields, "k", "new", "decide"]:
        with pytest.raises((AttributeError, TypeError)):
            setattr(value, name, 1.0)
    with pytest.raises(TypeError):
        value[0] = 1.0


@pytest.mark.parametrize("value", RULES, ids=repr)
def test_the_repr_of_a_rule_can_be_evaluated(value):
    names = vars(holdfast.game) | vars(holdfast.measures) | vars(holdfast) | vars(holdfast.norms)
    names["Adaptive"] = holdfast.learners.Adaptive
    assert eval(repr(value), names) == value


@pytest.mark.parametrize("value", [*RULES, *WITH_ARRAYS], ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("again", [lambda v: pickle.loads(pickle.dumps(v)), copy.copy, copy.deepcopy])
def test_copies_are_equal_and_frozen_and_have_the_same_hash(value, again):
    copied = again(value)
    assert copied == value and hash(copied) == hash(value) and type(copied) is type(value)
    assert not any(item.flags.writeable for item in copied if isinstance(item, np.ndarray))


def test_equal_rules_have_the_same_type_and_content():
    assert L2() == L2() and L2() != LInf() and TopK(1) != TopK(2)
    assert TopK(1) != (1, 2.0) and TopK(0) != Everything()
    assert Line([1.0, math.nan]) == Line([1.0, math.nan]) != Line([1.0, 2.0])
    assert Line([1.0]) != Line([1.0, 1.0]) and Line([1.0], 2.0) != Line([1.0], 3.0)


def test_equal_rules_have_equal_hashes():
    assert hash(Line([0.0, 1.0])) == hash(Line([-0.0, 1.0])) and Line([0.0, 1.0]) == Line([-0.0, 1.0])
    single = Gradients(np.ones((2, 2), np.float32))
    assert single == Gradients(np.ones((2, 2))) and hash(single) == hash(Gradients(np.ones((2, 2))))
    assert len({L2(), LInf(), L2(), TopK(1), TopK(np.int8(1))}) == 3


def test_help_shows_the_parameters_with_their_types():
    assert str(inspect.signature(Count)) == "(k: int, slack: float = 2.0)"
    assert str(inspect.signature(L2)) == "()"
    page = pydoc.plain(pydoc.render_doc(Count))
    assert "Count(k: int, slack: float = 2.0)" in page and "how far it may" in page and "at(self, x)" in page


def test_a_rule_without_parameters_can_be_compiled():
    def dual_size(norm, x):
        return norm.dual().of(x) + norm.of(x)

    assert call(dual_size, LInf(), np.array([3.0, -4.0])) == dual_size(LInf(), np.array([3.0, -4.0])) == 11.0
