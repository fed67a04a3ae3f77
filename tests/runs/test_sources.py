"""Several sources, one after the other, and the next one into the same run: each content is learned once."""

import bz2
import gzip
import json
import os
import subprocess
import sys

import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from cli.conftest import bits
from runs.kills import killed_runs
from runs.rotating import HEADER, rows
from runs.small import called, refused

from holdfast.runs.run import open_run

LINES = rows(150)
ARGS = ("--target", "y", "--learner", "adagrad")


def write(path, lines):
    data = HEADER + b"".join(lines)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.fixture
def months(tmp_path):
    names = ("jan.csv", "feb.csv.gz", "mar.csv")
    return [write(tmp_path / name, LINES[i * 50 : i * 50 + 50]) for i, name in enumerate(names)]


@pytest.fixture
def whole(tmp_path):
    return learned(tmp_path / "whole.run", write(tmp_path / "whole.csv", LINES))


def learned(run, *sources, args=ARGS):
    status, _, said = called("learn", *sources, *args, "--to", run)
    assert status == 0, said
    return run


def into(run, *sources, args=()):
    status, out, said = called("learn", *sources, "--into", run, *args)
    assert status == 0, said
    return out + said


def same(run, whole):
    found, expected = bits(run), bits(whole)
    return [name for name in found if found[name] != expected[name]] == []


def test_several_sources_are_learned_in_the_order_given(tmp_path, months, whole, monkeypatch):
    monkeypatch.chdir(tmp_path)  # for short names: long messages are cut
    status, _, said = called("learn", *(month.name for month in months), *ARGS, "--to", tmp_path / "run")
    assert status == 0
    assert "3 sources, in this order: jan.csv, feb.csv.gz, mar.csv" in said
    assert same(tmp_path / "run", whole)
    assert not same(learned(tmp_path / "other", *reversed(months)), whole)


def test_a_pattern_stands_for_files_in_the_order_of_their_names(tmp_path, months, whole):
    for i, path in enumerate(months):
        path.rename(tmp_path / f"part{i}{path.suffix}")
    assert same(learned(tmp_path / "run", tmp_path / "part*"), whole)
    assert refused(called("learn", tmp_path / "none*.csv", *ARGS))


def test_a_source_that_is_not_there_is_refused_before_anything_is_learned(tmp_path, months):
    answer = called("learn", months[0], tmp_path / "none.csv", *ARGS, "--to", tmp_path / "run")
    assert refused(answer)
    assert "none.csv: No such file or directory" in answer[2]
    assert not (tmp_path / "run").exists()


def test_the_next_file_goes_on_with_the_same_model(tmp_path, months, whole):
    run = learned(tmp_path / "run", months[0])
    for path in months[1:]:
        into(run, path)
    assert same(run, whole)
    assert [(record.name, record.base, record.last) for record in open_run(run).sources] == [
        (str(path), 50 * i, 50) for i, path in enumerate(months)
    ]


@pytest.mark.parametrize("how", ["again", "renamed", "packed", "unpacked", "a pipe"])
def test_a_content_that_was_learned_is_left_out(tmp_path, months, how):
    run = learned(tmp_path / "run", *months[:2])
    before, path = bits(run), months[0]
    if how == "renamed":
        path = path.rename(tmp_path / "other.csv")
    elif how == "packed":
        path = tmp_path / "other.csv.bz2"
        path.write_bytes(bz2.compress(months[0].read_bytes()))
    elif how == "unpacked":
        path = tmp_path / "other.csv"
        path.write_bytes(gzip.decompress(months[1].read_bytes()))
    if how == "a pipe":
        command = [sys.executable, "-m", "holdfast.cli.main", "learn", "-", "--into", str(run)]
        done = subprocess.run(command, input=path.read_bytes(), capture_output=True)
        said = done.stderr.decode()
    else:
        said = into(run, path)
    assert "was learned before" in said
    assert bits(run) == before


def test_of_a_file_that_has_grown_only_the_new_rows_are_learned(tmp_path, months, whole):
    run = learned(tmp_path / "run", write(tmp_path / "a.csv", LINES[:60]))
    write(tmp_path / "a.csv", LINES[:100])
    assert "a.csv has grown since it was learned: going on after its row 60" in into(run, tmp_path / "a.csv")
    into(run, months[2])
    assert same(run, whole)
    write(tmp_path / "a.csv", [*LINES[:100], *rows(5, 3)])
    into(run, tmp_path / "a.csv")
    assert [record.last_row for record in open_run(run).sources] == [100, 150, 155]


def test_a_row_without_an_end_is_learned_when_it_is_whole(tmp_path, whole):
    path = write(tmp_path / "a.csv", LINES[:60])
    path.write_bytes(path.read_bytes()[:-3])
    run = learned(tmp_path / "run", path)
    assert json.loads((run / "metrics.json").read_text())["rounds"] == 59
    write(path, LINES)
    into(run, path)
    assert same(run, whole)


def test_a_shorter_copy_is_refused_and_another_content_of_the_same_name_is_new(tmp_path):
    lines = rows(400)
    path = write(tmp_path / "today.csv", lines)
    run = learned(tmp_path / "run", path)
    write(path, lines[:350])
    assert refused(called("learn", path, "--into", run, "--quiet"))
    write(path, rows(30, 8))
    into(run, path)
    assert json.loads((run / "metrics.json").read_text())["rounds"] == 430


def test_a_parquet_file_is_recognised_and_may_have_more_rows(tmp_path, months, whole):
    def parquet(name, lines):
        table = pacsv.read_csv(write(tmp_path / "all.csv", lines))
        pq.write_table(table, tmp_path / name)
        return tmp_path / name

    run = learned(tmp_path / "run", parquet("rows.parquet", LINES[:60]))
    copy = tmp_path / "copy.parquet"
    copy.write_bytes((tmp_path / "rows.parquet").read_bytes())
    assert "was learned before as" in into(run, copy)
    assert "has grown" in into(run, parquet("rows.parquet", LINES))
    assert same(run, whole)


def test_a_source_without_a_header_has_the_columns_of_the_first(tmp_path, months, whole):
    months[2].write_bytes(b"".join(LINES[100:]))
    status, _, said = called("learn", *months, *ARGS, "--to", tmp_path / "run")
    assert status == 0
    assert "mar.csv has no header line" in said
    assert same(tmp_path / "run", whole)


def test_what_a_later_source_lacks_is_a_sentence_and_the_rest_is_saved(tmp_path, months):
    (tmp_path / "bad.csv").write_bytes(b"a,c,y\n1,2,3\n")
    answer = called("learn", months[0], tmp_path / "bad.csv", *ARGS, "--to", tmp_path / "run", "--quiet")
    assert refused(answer)
    assert "has no column 'b'" in answer[2]
    assert json.loads((tmp_path / "run" / "metrics.json").read_text())["rounds"] == 50
    (tmp_path / "empty.csv").write_bytes(b"")
    assert "empty.csv is empty" in into(tmp_path / "run", tmp_path / "empty.csv")


def test_into_takes_the_settings_of_the_run_and_refuses_others(tmp_path, months):
    run = learned(tmp_path / "run", months[0], args=(*ARGS, "--outliers", "3%"))
    into(run, months[1], args=("--outliers", "3%"))
    for more in (("--outliers", "5%"), ("--target", "a")):
        assert called("learn", months[2], "--into", run, *more)[0] == 2
    for more, words in (
        (("--no-scale",), "begun without --no-scale, and cannot go on with it"),
        (("--drop", "a,b"), "begun without --drop, and cannot go on with --drop a,b"),
        (("--key", "a"), "begun without --key, and cannot go on with --key a"),
        (("--outliers", "5%"), "begun with --outliers 3%, and cannot go on with --outliers 5%"),
    ):
        assert words in called("learn", months[2], "--into", run, *more)[2]
    assert "holds no run" in called("learn", months[2], "--into", tmp_path / "none")[2]
    assert "--target COLUMN is missing" in called("learn", months[2])[2]


def test_with_resume_another_content_of_a_known_name_is_an_error_and_a_further_source_is_new(
    tmp_path, months, whole
):
    run = learned(tmp_path / "run", *months[:2])
    status, _, said = called("learn", *months, *ARGS, "--to", run, "--resume")
    assert status == 0, said
    assert same(run, whole)
    write(months[2], rows(20, 9))
    assert "not what the run has learned from" in called("learn", *months, *ARGS, "--to", run, "--resume")[2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("kills", [3, pytest.param(100, marks=pytest.mark.exhaustive)])
def test_after_kills_no_row_of_any_source_is_lost_or_repeated(tmp_path, months, whole, kills):
    pq.write_table(pacsv.read_csv(months[2]), tmp_path / "mar.parquet")
    sources = os.pathsep.join(map(str, (*months[:2], tmp_path / "mar.parquet")))
    for run in killed_runs(kills, 6, tmp_path, sources, *ARGS):
        assert same(run, whole), run.name
