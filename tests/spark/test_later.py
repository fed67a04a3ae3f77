"""Labels that come later are learned from with the features of their row, once, within limits."""

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: make test-all installs it")

import fleets
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.tws_tester import TwsTester
from pyspark.sql.types import Row

from holdfast.spark import Fleet
from holdfast.spark.key_widths import without_widths
from holdfast.spark.later import IS_LABEL, WAITING, LaterProcessor
from holdfast.spark.packing import arrow_schema, from_bytes, to_bytes
from holdfast.spark.pages import Places, from_text, read_page
from holdfast.spark.plan import plan_from_schema
from holdfast.spark.processor import STATE, LearnRows


class Stream:
    """A stream of rows and labels, all keys in one page."""

    def __init__(self, wait=1000, most=10_000):
        fleet = Fleet(**fleets.COLUMNS, id="id")
        schema = from_arrow_schema(table_of().schema)
        plan = plan_from_schema(schema, fleet.settings, "t")
        self.job = LearnRows(plan, False, arrow_schema(fleet._output(schema, plan)))
        processor = LaterProcessor(self.job, Places(1, 1), None, "id", wait, most)
        self.tester = TwsTester(processor, timeMode="ProcessingTime")

    def send(self, table, is_label, now=0):
        if is_label:
            empty = {name: pa.nulls(len(table), pa.float64()) for name in "abc"}
            for name, column in empty.items():
                table = table.set_column(table.schema.get_field_index(name), name, column)
        else:
            table = table.set_column(5, "y", pa.nulls(len(table), pa.float64()))
        table = table.append_column(IS_LABEL, pa.array([is_label] * len(table)))
        self.tester.setProcessingTime(now) if now else None
        found = self.tester.test(0, [Row(rows=to_bytes(table))])
        return pa.concat_tables([from_bytes(row.rows) for row in found])

    def page(self):
        (content,) = self.tester.peekMapState(STATE, 0).values()
        return without_widths(read_page(content[0], self.job.plan, self.job.new_run(), "here"), 1)

    def widths(self):
        page, packed = self.page()
        return page.keys, packed

    def state(self):
        page, _ = self.page()
        return dict(zip(page.keys, map(len, page.states), strict=True)), b"".join(page.states)

    def waiting(self):
        found = self.tester.peekMapState(WAITING, 0) or {}
        return sum(from_bytes(from_text(content[0], "here")).num_rows for content in found.values())


def table_of(rows=60):
    table = fleets.fleet_rows(rows, 3)
    return table.append_column("id", pa.array([f"row {i}" for i in range(rows)]))


def test_models_are_those_of_labels_that_come_at_once(tmp_path):
    table, stream = table_of(), Stream()
    for first in range(0, 60, 20):
        stream.send(table.slice(first, 20), False)
    for first in range(0, 60, 12):
        answers = stream.send(table.slice(first, 12), True)
        assert answers["id"].to_pylist() == table["id"].slice(first, 12).to_pylist()
    run = fleets.one_machine(table.drop_columns(["id"]), tmp_path, missing="skip")
    expected = {key: state for (key, _), state in fleets.states(run).items()}
    lengths, tape = stream.state()
    assert lengths == {key: len(s) for key, s in expected.items()}
    assert tape == b"".join(expected[key] for key in lengths)
    assert stream.waiting() == 0


def test_a_row_is_predicted_by_the_model_before_its_batch():
    table, stream = table_of(), Stream()
    stream.send(table.slice(0, 40), False)
    stream.send(table.slice(0, 40), True)
    answers = stream.send(table.slice(40, 20), False)
    assert answers["kept"].null_count == 20
    known = np.isfinite(table["a"].slice(40, 20).to_numpy())
    assert np.isfinite(answers["prediction"].to_numpy(zero_copy_only=False)[known]).all()


def test_a_label_counts_once_and_only_for_a_row_that_waits():
    table, stream = table_of(), Stream()
    stream.send(table.slice(0, 10), False)
    stream.send(table.slice(0, 5), True)
    before = stream.state()
    again = stream.send(pa.concat_tables([table.slice(0, 5), table.slice(30, 5)]), True)
    assert again["reason"].to_pylist() == ["unknown id"] * 10
    assert stream.state() == before
    doubled = stream.send(table.slice(5, 5), False)
    assert doubled["reason"].to_pylist() == ["late"] * 5
    assert stream.waiting() == 5


def test_rows_wait_no_longer_than_the_limit_and_no_more_than_the_limit():
    table, stream = table_of(), Stream(wait=1000, most=8)
    stream.send(table.slice(0, 20), False, now=100)
    assert stream.waiting() == 8
    old = stream.send(table.slice(10, 4), True, now=500)
    assert old["reason"].to_pylist() == ["unknown id"] * 2 + old["reason"].to_pylist()[2:]
    late = stream.send(table.slice(16, 4), True, now=2000)
    assert late["reason"].to_pylist() == ["unknown id"] * 4
