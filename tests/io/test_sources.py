"""How the format of a file is found, and how rows of each format are decoded."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holdfast.io.columnar import Arrow, Parquet
from holdfast.io.delimited import Delimited
from holdfast.io.jsonlines import JsonLines
from holdfast.io.rows import NUMBER, TEXT
from holdfast.io.sources import Reading, SourceError, open_source
from holdfast.io.svmlight import SvmLight


def opened(path, data, form=None):
    path.write_bytes(data)
    return open_source(path, reading=Reading(form))


def decoded(source, kinds=None):
    """All rows: columns as lists, the number of each row, and the faults."""
    batches = [
        source.decode(block, kinds or dict.fromkeys(source.names, NUMBER)) for block in source.blocks()
    ]
    source.close()
    (batch,) = batches
    return (
        {name: column.to_pylist() for name, column in batch.columns.items()},
        batch.rows.tolist(),
        batch.faults,
    )


@pytest.mark.parametrize(
    ("name", "data", "kind", "delimiter"),
    [
        ("rows.csv", b"a,b\n1,2\n", Delimited, ","),
        ("rows.csv", b"a;b\n1;2\n", Delimited, ";"),
        ("rows.tsv", b"a\tb,c\n1\t2\n", Delimited, "\t"),
        ("rows.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0), Delimited, ","),
        ("rows", b"a|b\n1|2\n", Delimited, "|"),
        ("rows", b'{"a": 1}\n', JsonLines, None),
        ("rows", b"1 3:0.5 7:2 # why\n", SvmLight, None),
        ("rows.jsonl", b'\n{"a": 1}\n', JsonLines, None),
    ],
)
def test_first_bytes_then_name_then_first_line_decide_the_format(tmp_path, name, data, kind, delimiter):
    source = opened(tmp_path / name, data)
    assert type(source) is kind
    assert getattr(source, "delimiter", None) == delimiter
    source.close()


@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv"])
def test_parquet_and_arrow_are_recognised_by_their_first_bytes(tmp_path, name):
    table = pa.table({"a": [1, 2]})
    pq.write_table(table, tmp_path / name)
    assert type(open_source(tmp_path / name)) is Parquet
    with pa.OSFile(str(tmp_path / name), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    source = open_source(tmp_path / name)
    assert type(source) is Arrow
    source.close()


def test_a_format_that_the_user_names_is_used(tmp_path):
    source = opened(tmp_path / "rows.csv", b'{"a,b": 1}\n', "jsonl")
    assert source.names == ["a,b"]
    source.close()


def test_a_line_with_a_fault_is_a_row_with_nulls_and_an_empty_line_is_no_row(tmp_path):
    columns, rows, faults = decoded(opened(tmp_path / "rows.csv", b'a,b\n1,2\n\n3,x\n4\n"5",NA\n'))
    assert columns == {"a": [1.0, 3.0, None, 5.0], "b": [2.0, None, None, None]}
    assert rows == [1, 3, 4, 5]
    assert faults == {1: "column 'b': 'x' is not a number", 2: "1 cells, where the header has 2"}


def test_a_row_of_several_lines_has_the_number_of_its_first(tmp_path):
    data = b'a,b\n"1\n1",2\n"3",4\n5,6\n'
    columns, rows, faults = decoded(opened(tmp_path / "rows.csv", data), {"a": TEXT, "b": NUMBER})
    assert columns == {"a": ["1\n1", "3", "5"], "b": [2.0, 4.0, 6.0]}
    assert (rows, faults) == ([1, 3, 4], {})


def test_the_first_objects_decide_the_types_and_a_value_of_another_type_is_a_fault(tmp_path):
    lines = ['{"a": 1, "t": true}', '{"a": "2", "t": null}', '{"a": [3]}', "[4]", '{"a": 1, "t": 5}']
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(['{"a": 0, "t": false}'] * 30_000) + "\n")
    source = open_source(path)
    assert (source.decode_kind("a", NUMBER), source.decode_kind("t", TEXT)) == (NUMBER, "boolean")
    source.close()
    path.write_text("\n".join(lines) + "\n")
    source = open_source(path)
    columns, rows, faults = decoded(source, {"a": NUMBER, "t": "boolean"})
    assert columns == {"a": [1.0, 2.0, None, None, 1.0], "t": [True, None, None, None, None]}
    assert rows == [1, 2, 3, 4, 5]
    assert faults == {
        2: "column 'a': '[3]' is not a number",
        3: "no JSON object",
        4: "column 't': '5' is not true or false",
    }


def test_svmlight_rows_are_a_table_or_maps_if_it_would_be_wide(tmp_path):
    columns, rows, faults = decoded(
        opened(tmp_path / "rows.svm", b"1 1:0.5 qid:7 3:2\n-1 2:x\n# none\n0 2:1 9:4\n")
    )
    assert [columns[name][0] for name in ("label", "1", "2", "3")] == [1.0, 0.5, 0.0, 2.0]
    assert [columns[name][2] for name in ("label", "2", "9")] == [0.0, 1.0, 4.0]
    assert (rows, list(faults)) == ([1, 2, 4], [1])
    columns, _, _ = decoded(opened(tmp_path / "rows.svm", b"1 1:0.5 5000:2\n0 7:1\n"))
    assert columns == {"label": [1.0, 0.0], "features": [[(1, 0.5), (5000, 2.0)], [(7, 1.0)]]}


def test_an_index_that_is_too_large_is_refused_with_the_remedy(tmp_path):
    with pytest.raises(SourceError, match="4,194,304 is the largest allowed: hash the indices"):
        opened(tmp_path / "rows.svm", b"1 9999999:1\n")


def test_a_later_index_is_ignored_however_large_it_is(tmp_path):
    last = b"0 2:1 99999999999999999999:4\n"  # after the first megabyte, which decides how many there are
    for first, fault in ((b"1 1:0.5 3:2\n", False), (b"1 1:0.5 5000:2\n", True)):
        source = opened(tmp_path / "rows.svm", first * 90_000 + last)
        *_, batch = (source.decode(each, dict.fromkeys(source.names, NUMBER)) for each in source.blocks())
        assert batch.columns["label"][-1].as_py() == 0.0
        assert list(batch.faults) == [len(batch.rows) - 1] * fault
        source.close()


@pytest.mark.parametrize("kind", ["parquet", "arrows", "csv", "jsonl"])
def test_a_mark_finds_its_block_again_but_not_in_another_source(tmp_path, kind, monkeypatch):
    from files import written

    monkeypatch.setattr("holdfast.io.byte_stream.BLOCK", 500)
    monkeypatch.setattr("holdfast.io.columnar._ROWS", 100)
    path = tmp_path / f"rows.{kind}"
    table = {"a": np.arange(300.0)}
    source = open_source(written(table, path))
    *_, last = source.blocks()
    source.close()
    assert last.row > 1
    source = open_source(path)
    again = next(iter(source.blocks(last.mark)))
    assert again.row == last.row
    assert source.sample(again).columns["a"].equals(source.sample(last).columns["a"])
    source.close()
    source = open_source(written({"a": table["a"] + 1000.0}, path))
    with pytest.raises(SourceError, match="not what the run has learned from before"):
        list(source.blocks(last.mark))
    source.close()


def test_lines_that_end_with_cr_alone_are_one_sentence(tmp_path):
    with pytest.raises(SourceError, match="or lines end with CR alone: convert these"):
        opened(tmp_path / "rows.csv", b"a,b\r1,2\r3,4\r")


def test_a_long_cell_is_read_also_next_to_a_wrong_row(tmp_path):
    """pyarrow has no limit, and rows that it cannot read are parsed one by one."""
    data = b"a,b\n" + b"x" * 200_000 + b",1\n2\n"
    columns, rows, faults = decoded(opened(tmp_path / "rows.csv", data), {"a": TEXT, "b": NUMBER})
    assert (len(columns["a"][0]), columns["b"], rows) == (200_000, [1.0, None], [1, 2])
    assert faults == {1: "1 cells, where the header has 2"}
