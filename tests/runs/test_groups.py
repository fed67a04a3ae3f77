"""Groups of skipped rows, wherever the parts of the audit are cut."""

import numpy as np
import pyarrow as pa
import pytest

from holdfast.cli.audit import dates
from holdfast.runs.audit_summary import Groups

ROWS = [3, 4, 4, 7, 20, 31, 32, 33, 34, 60]
REASONS = [
    "features",
    "features",
    "gradient",
    "features",
    "target",
    *["features"] * 3,
    "not readable",
    "target",
]
COLUMNS = ["a", "a", "y", "b", "y", "b", "b", "c", "c", "y"]
VALUES = [5.0, 7.0, np.nan, 1.0, 2.0, 9.0, -9.0, 0.0, np.nan, 2.0]
TABLE = pa.table({"row": ROWS, "reason": REASONS, "column": COLUMNS, "value": VALUES})


def largest_groups(parts, most):
    groups = Groups(most)
    for part in parts:
        groups.add(part)
    return groups.largest(), groups.count()


@pytest.mark.parametrize("cuts", [[], [2], [4, 5, 7], list(range(1, 10))], ids=len)
def test_rows_with_at_most_two_others_in_between_are_one_group(cuts):
    parts = [TABLE.slice(start, stop - start) for start, stop in zip([0, *cuts], [*cuts, 10], strict=True)]
    groups, total = largest_groups(parts, 10)
    assert total == 4
    assert [(group.first, group.last, group.rows) for group in groups] == [
        *((31, 34, 4), (3, 7, 3), (20, 20, 1), (60, 60, 1))
    ]
    assert groups[0][3:] == ("features", "b", -9.0, 9.0, None, None)
    assert groups[1][3:] == ("features", "a", 5.0, 7.0, None, None)
    assert [group.first for group in largest_groups(parts, 2)[0]] == [31, 3]


def test_a_group_has_the_times_of_its_first_and_last_row_that_have_one():
    times = ["2016-03-12 04:00:00", None, "2016-03-12 05:00:00", "2016-03-13 00:00:00", *[None] * 6]
    group = largest_groups([TABLE.append_column("time", pa.array(times, pa.string()))], 10)[0][1]
    assert (group.begin, group.end) == ("2016-03-12 04:00:00", "2016-03-13 00:00:00")
    assert dates(group._asdict()) == "2016-03-12 to 2016-03-13"
    assert dates(group._asdict() | {"end": group.begin}) == "2016-03-12 04:00"
    assert dates(group._asdict() | {"end": "2016-03-12 05:00:00"}) == "2016-03-12 04:00 to 05:00"


def test_no_rows_are_no_groups():
    assert largest_groups([], 10) == ([], 0)
    assert largest_groups([TABLE.slice(0, 0)], 10) == ([], 0)
    assert largest_groups([TABLE], 0) == ([], 4)
