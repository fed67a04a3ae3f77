"""Learn from a topic of Kafka, each message once, with `holdfast serve`.

    pip install confluent-kafka
    python examples/kafka_to_server.py --brokers localhost:9092 --topic meters --token-file token

A message is a row as JSON, with its target. Offsets are committed by hand, after the server has stored the
rows. If this process dies in between, Kafka sends the messages again, and the server leaves out the offsets
that it has.
"""

import argparse
import itertools
import json
import signal
import sys
from pathlib import Path

from confluent_kafka import Consumer, KafkaException, TopicPartition

from holdfast.serve import Client


def consume(consumer, client, stopped, most=500):
    """Send messages until `stopped()`; return how many rows the server learned from."""
    learned = 0
    while not stopped():
        messages = consumer.consume(most, timeout=1.0)
        for message in messages:
            if message.error():
                raise KafkaException(message.error())
        order = sorted(messages, key=lambda one: (one.topic(), one.partition(), one.offset()))
        for (topic, partition), batch in itertools.groupby(order, lambda one: (one.topic(), one.partition())):
            read = [(message.offset(), row_of(message)) for message in batch]
            for first, rows in stretches((offset, row) for offset, row in read if row is not None):
                learned += client.learn(rows, source=f"{topic}/{partition}", first=first)["accepted"]
            done = TopicPartition(topic, partition, read[-1][0] + 1)
            consumer.commit(offsets=[done], asynchronous=False)
    return learned


def row_of(message):
    """The row of a message; None if it is no JSON object, which is said and left out."""
    try:
        row = json.loads(message.value())
    except (TypeError, ValueError):
        row = None
    if isinstance(row, dict):
        return row
    print(f"{message.topic()}/{message.partition()} at {message.offset()}: no JSON object", file=sys.stderr)
    return None


def stretches(rows):
    """Rows whose offsets follow each other, with the first offset: compacted topics have gaps."""
    numbered = enumerate(rows)
    for _, group in itertools.groupby(numbered, lambda pair: pair[1][0] - pair[0]):
        found = [pair for _, pair in group]
        yield found[0][0], [row for _, row in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--brokers", default="localhost:9092")
    parser.add_argument("--topic", required=True)
    parser.add_argument("--group", default="holdfast")
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--token-file", type=Path)
    options = parser.parse_args()
    token = options.token_file.read_text().strip() if options.token_file else ""
    settings = {"bootstrap.servers": options.brokers, "group.id": options.group}
    settings |= {"auto.offset.reset": "earliest", "enable.auto.commit": False}
    signals = []
    signal.signal(signal.SIGTERM, lambda *_: signals.append(1))
    signal.signal(signal.SIGINT, lambda *_: signals.append(1))
    consumer = Consumer(settings)
    consumer.subscribe([options.topic])
    try:
        with Client(options.url, token, patience=600.0) as client:
            print(f"{consume(consumer, client, lambda: bool(signals)):,} rows learned from")
    finally:
        consumer.close()


if __name__ == "__main__":
    main()
