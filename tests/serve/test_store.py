"""The store: one transaction for all that came meanwhile; ids expire, labels have one answer."""

import asyncio
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from holdfast.serve.store import Asked, Durable, Limits, Store
from holdfast.terminal import Refusal

FORECAST = '{"prediction": 1.0, "outlier": false}'


def asked(id, clock, cells='["1.0"]'):
    return Asked(id, clock(), "", cells, FORECAST, f'{{"prediction": "{id}"}}')


@pytest.fixture
def open_store(tmp_path, clock):
    stores = []

    def opened(**limits):
        stores.append(Store(tmp_path / "waiting.sqlite", Limits(**limits), Durable.PROCESS, clock))
        return stores[-1]

    yield opened
    for store in stores:
        store.close()


def test_all_is_there_after_it_was_opened_again(open_store, clock):
    store = open_store()
    store.ask([asked("x", clock), asked("y", clock)]).result(30)
    assert store.do(store.label([("x", "2.0"), ("z", "1.0")])).result(30) == ["accepted", "unknown"]
    again = open_store()
    assert (again.waiting, again.stored, again.queued, again.seq) == (1, 2, 1, 1)
    assert again.labels["accepted"] == 1
    assert [row.id for row in again.next_rows(again.connect(), 0, 10)] == ["x"]


def test_a_second_label_changes_nothing(open_store, clock):
    store = open_store()
    store.ask([asked("x", clock)]).result(30)
    labels = [("x", "2.0"), ("x", "2.0"), ("x", "3.0")]
    assert store.do(store.label(labels)).result(30) == ["accepted", "repeated", "contradicting"]
    rows = store.next_rows(store.connect(), 0, 10)
    assert [(row.id, row.target, row.cells) for row in rows] == [("x", "2.0", '["1.0"]')]


def test_ids_expire_by_time_and_are_forgotten_after_the_same_time_again(open_store, clock):
    store = open_store(hours=1.0)
    store.ask([asked("x", clock)]).result(30)
    clock.now += 3601.0
    store.ask([asked("y", clock)]).result(30)
    assert store.waiting == 1
    assert store.do(store.label([("x", "1.0")])).result(30) == ["late"]
    clock.now += 3601.0
    store.ask([asked("z", clock)]).result(30)
    assert store.do(store.label([("x", "1.0"), ("y", "1.0")])).result(30) == ["unknown", "late"]
    assert store.stored == 2


def test_ids_expire_by_number_the_oldest_first(open_store, clock):
    store = open_store(waiting=10)
    for i in range(30):
        clock.now += 0.001
        store.ask([asked(f"{i}", clock)]).result(30)
    assert (store.waiting, store.stored) == (10, 20)
    labels = [("29", "1.0"), ("20", "1.0"), ("19", "1.0"), ("5", "1.0")]
    assert store.do(store.label(labels)).result(30) == ["accepted", "accepted", "late", "unknown"]


def test_an_id_that_was_asked_again_has_the_first_answer(open_store, clock):
    store = open_store()
    first, other = asked("x", clock), asked("x", clock, '["2.0"]')
    again = first._replace(answer='{"prediction": "later"}')
    assert store.do(store.ask_again([first])).result(30) == [first.answer]
    assert store.do(store.ask_again([again, asked("y", clock)])).result(30) == [
        first.answer,
        asked("y", clock).answer,
    ]
    assert store.do(store.ask_again([other])).result(30) == [None]
    assert store.waiting == 2


def test_rows_with_offsets_are_queued_once(open_store):
    store = open_store()
    rows = [("", '["1.0"]', FORECAST, f"{i}") for i in range(4)]
    assert store.do(store.learn(rows[:2], "s", 0)).result(30) == 2
    assert store.do(store.learn(rows[:2], "s", 0)).result(30) == 0
    assert store.do(store.learn(rows[1:], "s", 1)).result(30) == 2
    assert store.do(store.learn(rows[:1], None, 0)).result(30) == 1
    assert [row.id for row in store.next_rows(store.connect(), 0, 10)] == ["s:0", "s:1", "s:2", "s:3", ""]


def test_a_transaction_that_fails_changes_nothing_and_the_next_one_works(open_store, clock):
    store = open_store()
    store.ask([asked("x", clock)]).result(30)
    with pytest.raises(sqlite3.IntegrityError):
        store.ask([asked("y", clock), asked("x", clock)]).result(30)
    assert (store.waiting, store.stored) == (1, 1)
    store.ask([asked("y", clock)]).result(30)
    assert store.waiting == 2


def test_another_file_is_refused_and_stays_as_it_is(tmp_path, clock):
    path = tmp_path / "waiting.sqlite"
    path.write_bytes(b"not a database, but a text of some length" * 100)
    with pytest.raises(Refusal, match="move it away"):
        Store(path, Limits(), Durable.PROCESS, clock)
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("create table meta (name text primary key, value)")
    connection.close()
    with pytest.raises(Refusal, match="another version"):
        Store(path, Limits(), Durable.PROCESS, clock)


def test_labels_of_one_call_and_of_several_statements_have_the_same_answers(open_store, clock):
    store = open_store()
    store.ask([asked(f"{i}", clock) for i in range(250)]).result(30)
    labels = [(f"{i % 260}", f"{i}.0") for i in range(265)] + [("3", "3.0")]
    statuses = store.do(store.label(labels)).result(30)
    assert statuses == ["accepted"] * 250 + ["unknown"] * 10 + ["contradicting"] * 5 + ["repeated"]
    rows = store.next_rows(store.connect(), 0, 1_000)
    assert [(row.seq, row.id, row.target) for row in rows] == [(i + 1, f"{i}", f"{i}.0") for i in range(250)]
    assert store.do(store.label(labels[:2])).result(30) == ["repeated", "repeated"]
    assert (store.waiting, store.queued) == (0, 250)


def test_rows_come_back_as_they_were_given(open_store, clock):
    clock.now = 1_800_000_000.123456
    store = open_store()
    name = 'a\0b"\u2028\U0001f600'
    row = (name, '["\\u0000", "1e400"]', FORECAST, "0.1")
    store.do(store.learn([row], None, 0)).result(30)
    store.do(store.ask_again([asked(name, clock)])).result(30)
    assert store.do(store.label([(name, "2.0")])).result(30) == ["accepted"]
    first, second = store.next_rows(store.connect(), 0, 10)
    assert (first.key, first.cells, first.target, first.at) == (name, row[1], "0.1", clock.now)
    assert second.id == name


@pytest.mark.parametrize(("durable", "level", "flushed"), [("power", 2, 0), ("process", 1, 1), ("no", 0, 0)])
def test_how_durable_a_transaction_is(tmp_path, clock, monkeypatch, durable, level, flushed):
    store = Store(tmp_path / "waiting.sqlite", Limits(), Durable(durable), clock)
    connection = store.connect()
    assert connection.execute("pragma synchronous").fetchone() == (level,)
    connection.close()
    store.ask([asked("x", clock)]).result(30)
    flushes = []
    monkeypatch.setattr("holdfast.serve.store.os.fsync", flushes.append)
    store.sync()
    assert len(flushes) == flushed
    store.close()


def test_what_comes_in_one_turn_of_the_loop_is_given_to_the_thread_together_and_in_order(
    open_store, clock, monkeypatch
):
    store, given = open_store(), []
    hand_over = store._hand_over
    monkeypatch.setattr(store, "_hand_over", lambda found: (given.append(len(found)), hand_over(found)))

    async def turn():
        store.loop = asyncio.get_running_loop()
        asks = [store.ask([asked(id, clock)]) for id in "xyz"]
        return await asyncio.gather(*asks, store.do(store.label([("y", "2.0"), ("w", "2.0")])))

    with ThreadPoolExecutor(1) as pool:  # here a browser may have a loop
        found = pool.submit(lambda: asyncio.run(turn())).result(30)
    assert found == [None, None, None, ["accepted", "unknown"]]
    assert given == [4] and store.waiting == 2
    store.do(store.label([("x", "2.0")])).result(30)
    assert given == [4, 1]


def test_counters_are_written_only_if_they_have_changed(open_store, clock):
    store = open_store()
    written = []
    store.do(lambda connection: connection.set_trace_callback(written.append)).result(30)
    store.ask([asked("x", clock)]).result(30)
    assert not any("meta" in statement for statement in written)
    store.do(store.label([("x", "2.0")])).result(30)
    assert sum("meta" in statement for statement in written) == 2
