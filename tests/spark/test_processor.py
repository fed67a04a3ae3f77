"""The operator of a stream, without a JVM: whatever the batches are, it learns what one machine learns."""

import re

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: make test-all installs it")

import fleets
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.tws_tester import TwsTester
from pyspark.sql.types import Row
from test_walks import OF_ROUND, OF_STREAM, crossed

from holdfast.runs.files import RunError
from holdfast.spark import Fleet
from holdfast.spark.key_widths import without_widths
from holdfast.spark.packing import Pack, arrow_schema, from_bytes
from holdfast.spark.pages import Places, read_page
from holdfast.spark.plan import plan_from_rows
from holdfast.spark.processor import STATE, LearnRows, Processor

PLACES = Places(3, 4)


class Stream:
    """A stream whose batches are given one by one."""

    def __init__(self, head, ttl=None, places=PLACES, **settings):
        self.fleet, self.places, self.now = Fleet(**fleets.COLUMNS, **settings), places, 0
        schema = from_arrow_schema(head.schema)
        self.plan = plan_from_rows(head, schema, self.fleet.settings, "t", lambda text: None)
        self.job = LearnRows(self.plan, False, arrow_schema(self.fleet._output(schema, self.plan)))
        self.mode, self.ttl = "None" if ttl is None else "ProcessingTime", ttl
        self.tester = TwsTester(Processor(self.job, places, ttl), timeMode=self.mode)

    def send(self, table):
        """The answers to the rows of a batch."""
        found = []
        for batch in Pack("k", self.places)(table.to_batches()):
            for row in batch.to_pylist():
                found += [
                    from_bytes(out.rows) for out in self.tester.test(row["group"], [Row(rows=row["rows"])])
                ]
        return pa.concat_tables(found)

    def restart(self):
        """Go on in another operator with the same states."""
        old = {group: self.tester.peekMapState(STATE, group) for group in range(self.places.groups)}
        now = self.tester._currentProcessingTimeMs
        self.tester = TwsTester(Processor(self.job, self.places, self.ttl), timeMode=self.mode)
        self.tester.setProcessingTime(now)
        for group, content in old.items():
            self.tester.updateMapState(STATE, group, content or {})

    def pages(self):
        run = self.job.new_run()
        for group in range(self.places.groups):
            for content in (self.tester.peekMapState(STATE, group) or {}).values():
                page = read_page(content[0], self.job.plan, run, "here")
                yield without_widths(page, len(run.games.labels))

    def states(self):
        found = {}
        for page, _ in self.pages():
            labels = self.job.new_run().games.labels
            for i, state in enumerate(page.states):
                found[page.keys[i // len(labels)], labels[i % len(labels)]] = state
        return found

    def widths(self):
        return {key: each for page, rows in self.pages() for key, each in zip(page.keys, rows, strict=True)}


@pytest.mark.parametrize(("batch", "places"), [(400, PLACES), (37, PLACES), (150, Places(1, 1))])
def test_the_states_are_those_of_one_machine_for_any_batches_and_pages(tmp_path, batch, places):
    table = fleets.fleet_rows()
    stream = Stream(table, places=places)
    answers = pa.concat_tables([stream.send(table.slice(i, batch)) for i in range(0, len(table), batch)])
    run = fleets.one_machine(table, tmp_path)
    assert stream.states() == fleets.states(run)
    skipped = answers.filter(pa.compute.invert(answers["kept"])).to_pylist()
    known = {row: reason for row, reason, *_ in fleets.audit_of(run)}
    assert {row["at"]: row["reason"] for row in skipped} == known
    assert sorted(answers["at"].to_pylist()) == list(range(len(table)))


def test_the_rows_of_a_batch_may_come_in_any_order(tmp_path):
    table = fleets.fleet_rows()
    stream = Stream(table)
    stream.send(table.take(pa.array(np.random.default_rng(1).permutation(len(table)))))
    assert stream.states() == fleets.states(fleets.one_machine(table, tmp_path))


def test_pairs_of_labels_have_a_state_each_and_predictions_are_labels(tmp_path):
    table = fleets.labelled(fleets.fleet_rows(480, 3))
    stream = Stream(table)
    answers = pa.concat_tables([stream.send(table.slice(i, 100)) for i in range(0, 480, 100)])
    run = fleets.one_machine(table, tmp_path)
    assert stream.states() == fleets.states(run)
    labels = dict(zip(table["t"].to_pylist(), table["y"].to_pylist(), strict=True))
    known = [row for row in answers.to_pylist() if row["prediction"] is not None]
    assert {row["prediction"] for row in known} == {"low", "middle", "high", "top"}
    assert sum(row["prediction"] != labels[row["at"]] for row in known) == run.trace.sums[0]
    assert sum(row["kept"] for row in known) == run.metrics()["kept"] > 100
    assert all(row["size"] is not None for row in known if row["kept"])


def test_late_and_doubled_rows_are_dropped_and_counted():
    table = fleets.fleet_rows(200, 4)
    stream = Stream(table)
    stream.send(table.slice(0, 120))
    again = stream.send(pa.concat_tables([table.slice(100, 60), table.slice(120, 5)]))
    assert again.filter(pa.compute.equal(again["reason"], "late")).num_rows == 20 + 5
    other = Stream(table)
    other.send(table.slice(0, 160))
    assert stream.states() == other.states()
    stream.send(table.slice(0, 7))  # all of them late
    assert sum(int(page.columns["counters"][:, 2].sum()) for page, _ in stream.pages()) == 25 + 7


def test_a_row_without_an_order_is_not_learned_from():
    table = fleets.fleet_rows(100, 4)
    stream = Stream(table)
    orders = pa.array([None if i % 10 == 0 else i for i in range(100)], pa.int64())
    answers = stream.send(table.set_column(1, "t", orders))
    assert answers.filter(pa.compute.equal(answers["reason"], "no order")).num_rows == 10
    other = Stream(table)
    other.send(table.filter(pa.array([i % 10 > 0 for i in range(100)])))
    assert stream.states() == other.states()


def test_a_key_without_rows_for_longer_than_ttl_begins_again():
    table = fleets.fleet_rows(200, 4)
    stream, fresh = Stream(table, ttl=1000), Stream(table)
    stream.tester.setProcessingTime(5000)
    stream.send(table.slice(0, 100))
    stream.tester.setProcessingTime(6000)
    stream.send(table.slice(100, 100))
    fresh.send(table.slice(100, 100))
    assert stream.states() == fresh.states()


def test_a_state_of_another_layout_is_refused_with_a_sentence():
    table = fleets.fleet_rows(100, 4)
    stream, other = Stream(table), Stream(table, learner="ogd:1")
    stream.send(table)
    for group in range(PLACES.groups):
        other.tester.updateMapState(STATE, group, stream.tester.peekMapState(STATE, group) or {})
    with pytest.raises(RunError, match="another layout than in this version of holdfast with these settings"):
        other.send(table)


def test_a_page_of_another_encoding_is_refused_with_a_sentence():
    table = fleets.fleet_rows(100, 4)
    stream, other = Stream(table), Stream(table, features=["a", "b", "c"])
    stream.send(table)
    for group in range(PLACES.groups):
        other.tester.updateMapState(STATE, group, stream.tester.peekMapState(STATE, group) or {})
    with pytest.raises(RunError, match="begun with other settings or another encoding of the columns"):
        other.send(table)


def test_a_day_of_new_keys_evictions_late_rows_a_wrong_schema_and_a_restart():
    rng, ttl = np.random.default_rng(3), 5000
    stream = Stream(fleets.fleet_rows(), ttl=ttl)
    alive, seen, last, late = {}, {}, {}, 0
    for batch in range(50):
        now, table = 1000 * (batch + 1), fleets.fleet_rows(30, 4, seed=batch)
        names = pa.array(
            [f"key {batch // 5 + i}" for i in rng.integers(0, 4, 30)]
        )  # new keys come, old ones go
        orders = 30 * batch + np.arange(30) - 40 * (rng.random(30) < 0.1)  # some rows are late
        table = table.set_column(0, "k", names).set_column(1, "t", pa.array(orders))
        stream.tester.setProcessingTime(now)
        if batch == 20:
            with pytest.raises(KeyError, match="b"):
                stream.send(table.drop_columns(["b"]))
        if batch == 30:
            stream.restart()
        answers = stream.send(table)
        for i in np.argsort(orders, kind="stable"):
            key, order = names[i].as_py(), int(orders[i])
            if key in seen and seen[key] + ttl <= now:
                del alive[key], seen[key], last[key]
            alive.setdefault(key, [])
            if order > last.get(key, -1000):
                alive[key].append(table.slice(int(i), 1))
                last[key], seen[key] = order, now
            else:
                late += 1
        late -= pa.compute.sum(pa.compute.equal(answers["reason"], "late")).as_py() or 0
    assert late == 0
    for key, rows in alive.items():
        one = stream.job.new_run()
        one.learn_rows(pa.concat_tables(rows), pa.array([key] * len(rows)))
        if seen[key] + ttl > now:
            assert stream.states()[key, ""] == fleets.states(one)[key, ""]


def test_other_groups_and_pages_are_refused_with_a_sentence():
    table = fleets.fleet_rows(100, 4)
    stream = Stream(table, places=Places(1, 1))
    stream.send(table)
    (content,) = stream.tester.peekMapState(STATE, 0).values()
    parts = content[0], stream.job.plan, stream.job.new_run(), "here"
    assert len(read_page(*parts, Places(1, 1)).keys) == 4
    with pytest.raises(RunError, match=r"here was begun with groups and pages .1, 1.: use the same again"):
        read_page(*parts, Places(2, 2))


def test_a_row_crosses_the_files_of_its_walk():
    table = fleets.fleet_rows(400, 3)
    stream = Stream(table)
    stream.send(table.slice(0, 399))
    files = crossed(lambda: stream.send(table.slice(399)))
    # Checks of rules, settings, how machine code is chosen, and small parts of the default and of runs.
    others = r"_compiled/|steady/|roles|rule\.py|adversaries/data|runs/(config|files)|io/forms|"
    others += r"audit\.py|linear_model|fleet/prior|protocols"
    assert sorted(OF_STREAM - files) == []
    assert sorted(name for name in files - OF_STREAM - OF_ROUND if not re.match(others, name)) == []
