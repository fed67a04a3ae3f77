"""Ask a server for predictions and give it labels, for some seconds, from a process of its own.

python -m holdfast_lab.bench.serving_load KIND PORT SECONDS CONNECTIONS LABELS; KIND is `http` or `lines` (the
daemon of Vowpal Wabbit) and LABELS is how many labels are in a call; 0 gives none.
"""

import asyncio
import json
import random
import sys
import time

import uvloop

from holdfast.terminal import print_json

COLUMNS = 10
_LABELLERS = 2
_ROWS = 2_000  # that are made before: the client must not take the time that the server needs


class Load:
    """What was asked, and how long each answer took."""

    def __init__(self, port, seconds, per_call):
        self.port, self.per_call, self.end = port, per_call, time.perf_counter() + seconds
        self.times, self.waiting, self.labels, self.failed = [], [], 0, 0
        rows = [[random.gauss(0.0, 1.0) for _ in range(COLUMNS)] for _ in range(_ROWS)]
        self.calls = [
            (request("/predict", {"row": {f"x{i}": x for i, x in enumerate(row)}}), target(row))
            for row in rows
        ]

    def goes_on(self):
        return time.perf_counter() < self.end


def target(row):
    return sum(i * value for i, value in enumerate(row))


def request(path, body):
    data = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data


class Connection(asyncio.Protocol):
    """A call, and the next one after its answer."""

    def __init__(self, load):
        self.load, self.buffer, self.done = load, b"", asyncio.get_running_loop().create_future()

    def next_call(self):
        """The bytes of a call; None if there is none yet."""
        raise NotImplementedError

    def answered(self, content):
        raise NotImplementedError

    def connection_made(self, transport):
        self.transport = transport
        self.send()

    def send(self):
        if not self.load.goes_on():
            self.transport.close()
            return
        data = self.next_call()
        if data is None:  # later
            asyncio.get_running_loop().call_later(0.002, self.send)
            return
        self.begin = time.perf_counter()
        self.transport.write(data)

    def data_received(self, data):
        self.buffer += data
        head = self.buffer.find(b"\r\n\r\n") + 4
        if head < 4:
            return
        start = self.buffer.lower().index(b"content-length: ", 0, head) + 16
        end = head + int(self.buffer[start : self.buffer.index(b"\r", start)])
        if len(self.buffer) < end:
            return
        content, well = self.buffer[head:end], self.buffer[9:12] == b"200"
        self.buffer = b""
        self.load.failed += not well
        if well:
            self.answered(content)
        self.send()

    def connection_lost(self, exc):
        if not self.done.done():
            self.done.set_result(None)


class Asker(Connection):
    def next_call(self):
        self.sent = random.choice(self.load.calls)
        return self.sent[0]

    def answered(self, content):
        load = self.load
        load.times.append(time.perf_counter() - self.begin)
        if load.per_call:
            start = content.index(b'"id":"') + 6
            load.waiting.append((content[start : content.index(b'"', start)].decode(), self.sent[1]))


class Labeller(Connection):
    def next_call(self):
        load = self.load
        if len(load.waiting) < load.per_call:
            return None
        labels = [{"id": id, "target": y} for id, y in load.waiting[-load.per_call :]]
        del load.waiting[-load.per_call :]
        return request("/label", {"labels": labels} if load.per_call > 1 else labels[0])

    def answered(self, content):
        self.load.labels += self.load.per_call


async def connect(load, kind):
    _, connection = await asyncio.get_running_loop().create_connection(
        lambda: kind(load), "127.0.0.1", load.port
    )
    await connection.done


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
        workers = [connect(load, Asker) for _ in range(connections)]
        workers += [connect(load, Labeller) for _ in range(_LABELLERS)] if per_call else []
    await asyncio.gather(*workers)
    spent, times = time.perf_counter() - begin, sorted(load.times)
    return {
        "predictions": len(times) / spent,
        "labels": load.labels / spent,
        "p50": times[len(times) // 2] * 1e3,
        "p99": times[int(0.99 * len(times))] * 1e3,
        "failed": load.failed,
        "cpu": time.process_time(),
    }


if __name__ == "__main__":
    kind, *numbers = sys.argv[1:]
    print_json(uvloop.run(measure(kind, int(numbers[0]), float(numbers[1]), *map(int, numbers[2:]))))
