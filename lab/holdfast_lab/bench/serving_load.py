"""Ask a server for predictions and give it labels, for some seconds, from a process of its own.

python -m holdfast_lab.bench.serving_load KIND PORT SECONDS CONNECTIONS LABELS; KIND is `http` or `lines` (the
daemon of Vowpal Wabbit) and LABELS is how many labels are in a call; 0 gives none.
"""

import asyncio
import json
import random
import sys
import time

from holdfast.terminal import print_json

COLUMNS = 10
_LABELLERS = 2


class Load:
    """What was asked, and how long each answer took."""

    def __init__(self, port, seconds, per_call):
        self.port, self.per_call, self.end = port, per_call, time.perf_counter() + seconds
        self.times, self.waiting, self.labels, self.failed = [], [], 0, 0

    def goes_on(self):
        return time.perf_counter() < self.end


def target(row):
    return sum(i * value for i, value in enumerate(row))


async def call(reader, writer, path, body):
    """The body of the answer, or None if the status is not 200."""
    data = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
    answer = (await reader.readuntil(b"\r\n\r\n")).lower()
    start = answer.index(b"content-length: ") + 16
    content = await reader.readexactly(int(answer[start : answer.index(b"\r", start)]))
    return content if answer[9:12] == b"200" else None


async def ask_http(load):
    reader, writer = await asyncio.open_connection("127.0.0.1", load.port)
    while load.goes_on():
        row = [random.gauss(0.0, 1.0) for _ in range(COLUMNS)]
        begin = time.perf_counter()
        content = await call(reader, writer, "/predict", {"row": {f"x{i}": x for i, x in enumerate(row)}})
        load.times.append(time.perf_counter() - begin)
        if content is None:
            load.failed += 1
        elif load.per_call:
            start = content.index(b'"id":"') + 6
            load.waiting.append((content[start : content.index(b'"', start)].decode(), target(row)))
    writer.close()


async def label_http(load):
    reader, writer = await asyncio.open_connection("127.0.0.1", load.port)
    while load.goes_on():
        if len(load.waiting) < load.per_call:
            await asyncio.sleep(0.002)
            continue
        some = [load.waiting.pop() for _ in range(load.per_call)]
        labels = [{"id": id, "target": y} for id, y in some]
        body = {"labels": labels} if load.per_call > 1 else labels[0]
        if await call(reader, writer, "/label", body) is None:
            load.failed += 1
        load.labels += len(some)
    writer.close()


async def ask_lines(load):
    """A prediction, then its label on the same connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", load.port)
    while load.goes_on():
        row = [random.gauss(0.0, 1.0) for _ in range(COLUMNS)]
        text = "| " + " ".join(f"x{i}:{x!r}" for i, x in enumerate(row)) + "\n"
        begin = time.perf_counter()
        writer.write(text.encode())
        await reader.readline()
        load.times.append(time.perf_counter() - begin)
        if load.per_call:
            writer.write(f"{target(row)!r} {text}".encode())
            await reader.readline()
            load.labels += 1
    writer.close()


async def measure(kind, port, seconds, connections, per_call):
    load = Load(port, seconds, per_call)
    begin = time.perf_counter()
    if kind == "lines":
        workers = [ask_lines(load) for _ in range(connections)]
    else:
        workers = [ask_http(load) for _ in range(connections)]
        workers += [label_http(load) for _ in range(_LABELLERS)] if per_call else []
    await asyncio.gather(*workers)
    spent, times = time.perf_counter() - begin, sorted(load.times)
    return {
        "predictions": len(times) / spent,
        "labels": load.labels / spent,
        "p50": times[len(times) // 2] * 1e3,
        "p99": times[int(0.99 * len(times))] * 1e3,
        "failed": load.failed,
    }


if __name__ == "__main__":
    kind, *numbers = sys.argv[1:]
    print_json(asyncio.run(measure(kind, int(numbers[0]), float(numbers[1]), *map(int, numbers[2:]))))
