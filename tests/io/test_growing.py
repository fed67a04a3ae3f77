"""Files that grow, shrink or are cut while they are read."""

import json

import pyarrow as pa
import pytest
from runs.small import called, learned, write_source

from holdfast.io.columns import Layout, Number
from holdfast.io.sources import SourceError, column_kinds, open_source

ARGS = ("--learner", "adagrad")


def rounds(run):
    return json.loads((run / "metrics.json").read_text())["rounds"]


@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl", "rows.svm"])
def test_a_last_line_without_a_line_end_is_learned_from_when_it_is_whole(tmp_path, name):
    line = {"csv": "{0},{0}.5,x\n", "jsonl": '{{"a":{0},"y":{0}.5}}\n', "svm": "{0}.5 1:{0} 2:3\n"}[
        name.split(".")[1]
    ]
    head = "a,y,who\n" if name.endswith("csv") else ""
    whole = head + "".join(line.format(i) for i in range(100, 150))
    path, target = tmp_path / name, "label" if name.endswith("svm") else "y"
    learn = ("learn", path, "--target", target, *ARGS, "--to")
    path.write_text(whole[:-4])  # a value has lost its last digits
    status, _, said = called(*learn, tmp_path / "run", "--resume")
    assert (status, rounds(tmp_path / "run")) == (0, 49)
    assert "the last line has no line end, so it may be unfinished" in said
    path.write_text(whole)
    assert called(*learn, tmp_path / "run", "--resume")[0] == 0
    assert called(*learn, tmp_path / "whole")[0] == 0
    model = "model.safetensors"
    assert (tmp_path / "run" / model).read_bytes() == (tmp_path / "whole" / model).read_bytes()


def test_a_last_row_of_several_lines_waits_as_a_whole(tmp_path):
    path, whole = tmp_path / "rows.csv", "a,y,note\n" + '1,2.5,"p"\n2,3.5,"q"\n' * 9 + '3,4.5,"one\ntwo"\n'
    path.write_text(whole[:-3])
    learn = ("learn", path, "--target", "y", *ARGS, "--to", tmp_path / "run", "--task", "regression")
    assert called(*learn)[0] == 0
    assert rounds(tmp_path / "run") == 18
    path.write_text(whole)
    assert called(*learn, "--resume")[0] == 0
    assert rounds(tmp_path / "run") == 19
    assert (
        json.loads((tmp_path / "run" / "metrics.json").read_text())["skipped_by_reason"].get("not readable")
        is None
    )


def test_a_single_row_without_a_line_end_is_one_sentence(tmp_path):
    (tmp_path / "rows.csv").write_text("a,y\n1,2")
    status, _, said = called("learn", tmp_path / "rows.csv", "--target", "y")
    assert status == 2
    assert "only a row without a line end" in said


def test_predict_answers_the_last_line_in_any_case(tmp_path):
    source = write_source(tmp_path / "rows.csv")
    run = learned(source, tmp_path / "run", *ARGS)
    expected = called("predict", run, source)[1]
    source.write_bytes(source.read_bytes().rstrip(b"\n"))
    assert called("predict", run, source)[1] == expected


def test_a_source_that_shrank_is_refused(tmp_path):
    source = write_source(tmp_path / "rows.csv", 1000)
    learned(source, tmp_path / "run", *ARGS)
    lines = source.read_bytes().splitlines(keepends=True)
    source.write_bytes(b"".join(lines[:-50]))
    command = ("learn", source, "--target", "y", "--drop", "who", *ARGS, "--to", tmp_path / "run", "--resume")
    status, _, said = called(*command)
    assert status == 2
    assert "ends before byte" in said
    assert rounds(tmp_path / "run") == 1000


def test_an_arrow_file_that_is_cut_while_it_is_read_is_one_sentence(tmp_path):
    """Mapped into memory, it would end the process with SIGBUS."""
    path, batch = tmp_path / "rows.arrow", pa.record_batch({"a": pa.array(range(50_000), pa.float64())})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, batch.schema) as writer:
        for _ in range(4):
            writer.write_batch(batch)
    source = open_source(path)
    blocks = source.blocks()
    next(blocks)
    with open(path, "r+b") as file:
        file.truncate(500_000)
    with pytest.raises(SourceError, match="damaged"):
        list(blocks)
    source.close()


class Names(list):
    """Names that may not be searched from the first to the last."""

    def __contains__(self, name):
        raise AssertionError(name)

    def count(self, name):
        raise AssertionError(name)


def test_the_time_for_the_names_grows_no_faster_than_their_number(tmp_path, monkeypatch):
    from holdfast.io import sources

    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    opened = sources._opened

    def with_names(*args):
        source = opened(*args)
        source.names = Names(source.names)
        return source

    monkeypatch.setattr(sources, "_opened", with_names)
    source = open_source(tmp_path / "rows.csv")
    assert list(column_kinds(source, Layout((Number("a"), Number("b"))))) == ["a", "b"]
    source.close()
