"""The default estimators on awkward tables: nearly as good as least squares on clean rows.

`holdfast trials --zoo` prints the same for longer tables.
"""

import math

import pytest

from holdfast.compiling import expecting
from holdfast.lab.trials.zoo import ZOO
from holdfast.lab.trials.zoo_measures import WAYS, measure
from holdfast.lab.trials.zoo_trials import cases

# Tables on which the default misses the goal: the largest of its four ratios is at most this. A table that
# meets the goal must not be here.
EXCEPTIONS = {
    "months and hours": 1.7,
    "60% 0 + 1e-15": 17,
    "60% 0 + 1e-15, labels": 1.5,
    "60% 0 + 1e-9": 22,
    "60% 0 + 1e-9, labels": 1.5,
    "60% 0 + 1e-3": 15,
    "60% 0 + 1e-3, labels": 2.9,
    "60% 0 + 1e-2": 4.1,
    "80% 0 + 1e-15": 8.2,
    "80% 0 + 1e-15, labels": 2.2,
    "80% 0 + 1e-9": 3.6,
    "80% 0 + 1e-9, labels": 1.9,
    "80% 0 + 1e-3": 7.3,
    "80% 0 + 1e-3, labels": 1.9,
    "80% 0 + 1e-2": 4.6,
    "80% 0 + 1e-2, labels": 1.8,
    "max(sin, 0)": 19,
    "stuck": 1.5,
    "stuck, labels": 1.4,
    "counter: old rows": 1.6,
    "counter: old rows, labels": 1.5,
    "counter, trend: new rows, labels": 1.4,
    "counter, trend: old rows": 8.3,
    "counter, trend: old rows, labels": 4.5,
    "epoch seconds: new rows, labels": 1.4,
    "epoch seconds: old rows": 8.8,
    "epoch seconds: old rows, labels": 4.7,
    "nanoseconds: old rows": 1.9,
    "nanoseconds: old rows, labels": 1.4,
    "codes": 3.5,
    "codes, labels": 1.4,
    "lognormal, values": 2.5,
    "y 50% 0, explained": 200,
    "y 65% 0, explained": 1_300,
    "y 75% 0, explained": 1_200,
    "y 85% 0, explained": 1_300,
    "y 90% 0, explained": 1_400,
    "y 95% 0, explained": 1_200,
    "y 75% 0, explained, noise": 7.1,
}


@pytest.mark.parametrize(("name", "labels"), cases(ZOO))
def test_errors_are_at_most_110_percent_of_the_peers_or_115_with_bad_cells(name, labels):
    with expecting(math.inf):
        row = measure(name, labels, quick=True)
    figures = dict(zip(WAYS, row.ratios, strict=True))
    if row.name in EXCEPTIONS:
        assert max(row.ratios) <= EXCEPTIONS[row.name], figures
        assert any(row.missed()), f"{row.name} meets the goal: delete it from EXCEPTIONS"
    else:
        assert not any(row.missed()), figures


def test_exceptions_are_animals():
    assert set(EXCEPTIONS) <= {f"{name}, labels" if labels else name for name, labels in cases(ZOO)}
