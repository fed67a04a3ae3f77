"""The log has the same bytes after a kill at any point, and is a source of the run."""

import json

import pytest

from holdfast.io.columns import Layout, Number, Target
from holdfast.serve.log import RowLog
from holdfast.serve.store import Queued
from holdfast.terminal import Refusal

LAYOUT, TARGET = Layout((Number("a"), Number("b"))), Target("y", ())
ROWS = [
    Queued(
        i, f"id,{i}", 1e9 + i, "", json.dumps([f"{i}.5", ""]), '{"prediction": 1.5, "outlier": false}', "2.0"
    )
    for i in range(1, 6)
]


def opened(path, length):
    log = RowLog(path, LAYOUT, TARGET, None)
    log.recover(length)
    return log


def test_rows_appended_again_after_a_kill_have_the_same_bytes(tmp_path):
    whole = opened(tmp_path / "whole.csv", 0)
    whole.append(ROWS)
    whole.close()
    expected = (tmp_path / "whole.csv").read_bytes()
    for cut in range(len(expected) + 1):  # the process is killed after so many bytes of the second batch
        path = tmp_path / "rows.csv"
        path.unlink(missing_ok=True)
        log = opened(path, 0)
        log.append(ROWS[:2])
        known = log.length
        log.close()
        if cut > known:
            path.write_bytes(expected[:cut])
        log = opened(path, known)
        log.append(ROWS[2:])
        log.close()
        assert path.read_bytes() == expected
    assert expected.splitlines()[1] == b'1,"id,1",2001-09-09 01:46:41.000000,1.5,1.5,,2.0'


def test_a_log_that_lost_bytes_is_refused(tmp_path):
    opened(tmp_path / "rows.csv", 0).close()
    log = RowLog(tmp_path / "rows.csv", LAYOUT, TARGET, None)
    with pytest.raises(Refusal, match="had 1,000"):
        log.recover(1000)
    log.close()


def test_a_column_with_a_name_of_the_log_is_refused(tmp_path):
    with pytest.raises(Refusal, match="served_id"):
        RowLog(tmp_path / "rows.csv", Layout((Number("served_id"),)), TARGET, None)
