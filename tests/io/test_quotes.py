"""A quote that is never closed loses its own row, and no row waits for it."""

import json

import pytest
from runs.rotating import Log, rows
from runs.small import called

from holdfast.io.sources import open_source

LEARN = ("--target", "y", "--task", "regression", "--learner", "adagrad", "--to")


def metrics(run):
    return json.loads((run / "metrics.json").read_text())


@pytest.mark.parametrize("line_end", ["", "\n"])
@pytest.mark.parametrize("place", [3, 27])
def test_a_stray_quote_loses_one_row_whether_or_not_the_last_line_ends(tmp_path, place, line_end):
    lines = [f"{i}.5,{i},{2 * i}" for i in range(30)]
    lines[place] = f'"{lines[place]}'
    (tmp_path / "rows.csv").write_text("a,b,y\n" + "\n".join(lines) + line_end)
    assert called("learn", tmp_path / "rows.csv", *LEARN, tmp_path / "run")[0] == 0
    found = metrics(tmp_path / "run")
    assert found["rounds"] == (30 if line_end else 29)
    assert found["skipped_by_reason"]["not readable"] == 1


@pytest.mark.parametrize("lines", ["one\ntwo, three\nfour", "one\n3,4,5\n6,7,8\nfour"], ids=["words", "rows"])
def test_an_open_row_at_the_start_of_a_block_waits_for_its_end(tmp_path, lines):
    path, whole = tmp_path / "rows.csv", f'a,y,note\n1,2,"{lines}"\n'
    for end, rows_read in ((len(whole) - 1, 0), (len(whole), 1)):
        path.write_text(whole[:end])
        source = open_source(path, whole_lines=True)
        batches = [source.sample(block) for block in source.blocks()]
        assert sum(len(batch.rows) for batch in batches) == rows_read
        assert not any(batch.faults for batch in batches)
        source.close()


def followed_rows(path, monkeypatch, more):
    """The number of rows of each block of a followed log, while these bytes come one after the other."""
    left = iter(more)

    def wait():
        data = next(left, None)
        if data is None:
            source.stop()
        else:
            with path.open("ab") as file:
                file.write(data)

    monkeypatch.setattr("holdfast.io.following.wait", wait)
    source = open_source(path, follow=True)
    found = [source.sample(block) for block in source.blocks()]
    source.close()
    return [len(batch.rows) for batch in found], sum(len(batch.faults) for batch in found)


def test_rows_of_a_followed_log_do_not_wait_for_a_stray_quote(tmp_path, monkeypatch):
    log, lines = Log(tmp_path), rows(9)
    steps = [lines[0], b'"' + lines[1], *lines[2:]]
    found, faults = followed_rows(log.path, monkeypatch, steps)
    assert found == [1, 2, *[1] * 6]  # the row of the quote waits for the next line
    assert faults == 1


def test_a_row_of_several_lines_that_come_one_by_one_is_one_row(tmp_path, monkeypatch):
    log = Log(tmp_path)
    steps = [b"1,2,3\n", b'1,"see\n', b"the next, or\n", b'the last",3\n', b"1,2,3\n"]
    assert followed_rows(log.path, monkeypatch, steps) == ([1, 1, 1], 0)
