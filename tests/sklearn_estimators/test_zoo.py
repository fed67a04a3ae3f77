"""The default estimators on awkward tables: nearly as good as least squares on clean rows.

`holdfast trials --zoo` prints the same for longer tables.
"""

import math

import pytest
from samples import slow

from holdfast._compiled.compiling import expecting
from holdfast_lab.trials.zoo import ZOO
from holdfast_lab.trials.zoo_measures import WAYS, measure
from holdfast_lab.trials.zoo_trials import QUICK, cases

# Tables on which the default misses the goal: the largest of its four ratios is at most this. A table that
# meets the goal must not be here.
EXCEPTIONS = {
    "months and hours": 1.7,
    "rare 0/1": 1.2,  # with 6,000 rows 1.03
    "rain": 1.35,  # in fit: cells beyond 4 knees count as missing when we predict
    "lognormal, values": 3.4,  # cells are squashed, so nothing is extrapolated, and far ones count as missing
    "y 90% 0, explained": 1_400,
    "y 95% 0, explained": 1_200,
}


@pytest.mark.first
@pytest.mark.parametrize(
    ("name", "labels"), [case if case[0] in QUICK else slow(case) for case in cases(ZOO)]
)
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
