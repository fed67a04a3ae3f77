"""All bounds refuse wrong arguments and have an example."""

import inspect

import pytest
from bounds.inputs import UNIT

from holdfast import bounds


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: bounds.theorem_1(**UNIT, k=1, slack=1.0), "above 1"),
        (lambda: bounds.theorem_g(**UNIT, k=1, slack=1.005), "above 1"),
        (lambda: bounds.theorem_8(**UNIT, p=1.0, T=10), "p is a probability"),
        (lambda: bounds.theorem_8_exact(**UNIT, ranks=[0, 1], p=90), "p is a probability"),
        (lambda: bounds.huber_budget(0.1, 10, 2.0), "delta is a probability"),
        (lambda: bounds.lemma_4(1.0, 1.0, 1.0, 10, 0.1), "eps is a probability"),
        (lambda: bounds.corollary_5_paper(1.0, 1.0, 0.6, 10, 0.1), "up to 1/2"),
    ],
)
def test_wrong_parameters_are_refused(call, complaint):
    with pytest.raises(ValueError, match=complaint):
        call()


def test_every_function_has_an_example():
    for name, function in inspect.getmembers(bounds, inspect.isfunction):
        if function.__module__.startswith(bounds.__name__) and not name.startswith("_"):
            assert ">>>" in function.__doc__, name
