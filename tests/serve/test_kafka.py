"""The consumer of examples/, with the broker of librdkafka that is made for tests, and a server."""

import csv
import importlib.util
import json
from pathlib import Path

import pytest
from serve.running import Server

from holdfast.serve.client import Client

kafka = pytest.importorskip(
    "confluent_kafka", reason="confluent-kafka is not installed: the recipe for Kafka was not run"
)

EXAMPLE = Path(__file__).parents[2] / "examples" / "kafka_to_server.py"
MESSAGES = 120
PARTITIONS = [kafka.TopicPartition("meters", i) for i in (0, 1)]


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("kafka_to_server", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def brokers():
    """A topic with rows in two partitions; message 7 is no JSON, and 8 no object."""
    quiet = {"log_level": 0}
    producer = kafka.Producer(quiet | {"bootstrap.servers": "none", "test.mock.num.brokers": 1})
    for i in range(MESSAGES):
        message = {7: "{", 8: "[1]"}.get(i, json.dumps({"a": i / 100, "b": 0.5, "y": i / 50 - 0.5}))
        producer.produce("meters", message.encode(), partition=i % 2)
    assert producer.flush(60.0) == 0
    yield ",".join(f"{each.host}:{each.port}" for each in producer.list_topics(timeout=60.0).brokers.values())
    del producer


def new_consumer(brokers):
    settings = {"bootstrap.servers": brokers, "group.id": "tests", "log_level": 0}
    consumer = kafka.Consumer(settings | {"auto.offset.reset": "earliest", "enable.auto.commit": False})
    consumer.assign(PARTITIONS)
    return consumer


def committed(consumer):
    return sum(max(each.offset, 0) for each in consumer.committed(PARTITIONS, timeout=60.0))


class Dying:
    """A consumer that dies before its first commit."""

    def __init__(self, consumer):
        self.consume = consumer.consume

    def commit(self, **_):
        raise KeyboardInterrupt


def test_messages_that_come_twice_are_learned_once(example, brokers, run, capsys):
    server = Server(run)
    try:
        with Client(f"http://127.0.0.1:{server.port}") as client:
            first, second = new_consumer(brokers), new_consumer(brokers)
            with pytest.raises(KeyboardInterrupt):
                example.consume(Dying(first), client, lambda: False, most=40)
            first.close()
            new = example.consume(second, client, lambda: committed(second) == MESSAGES)
            second.close()
            assert 0 < new < MESSAGES - 2  # the server had the others
    finally:
        server.stop()
    with open(run / "serve" / "rows.csv", newline="") as file:
        ids = [row["served_id"] for row in csv.DictReader(file)]
    wrong = {"meters/1:3", "meters/0:4"}
    assert sorted(ids) == sorted({f"meters/{i % 2}:{i // 2}" for i in range(MESSAGES)} - wrong)
    said = capsys.readouterr().err
    assert said.count("meters/1 at 3: no JSON object") >= 1 and "meters/0 at 4: no JSON object" in said


def test_rows_are_sent_in_stretches_without_gaps(example):
    rows = [(3, "a"), (4, "b"), (7, "c"), (9, "d"), (10, "e")]
    assert list(example.stretches(iter(rows))) == [(3, ["a", "b"]), (7, ["c"]), (9, ["d", "e"])]
    assert list(example.stretches(iter([]))) == []
