"""Nothing that a client sends gets a 5xx, and none of it stops the server."""

import json
import os
import socket
import threading
from http.client import HTTPConnection
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from serve.conftest import HEADERS, TOKEN, settle
from serve.running import Server, call

from holdfast.serve.store import Limits

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
CELLS = st.sampled_from(
    [0.0, -1e308, 1e308, 5e-324, 10**30, "NaN", "inf", "1e400", "x", True, None, "", "\x00", "é" * 50]
)
ROWS = st.dictionaries(st.sampled_from(["a", "b", "y", "c"]), CELLS | JSON, max_size=4)
NAMES = st.sampled_from(["row", "rows", "id", "ids", "target", "labels", "offsets", "why", "source", "first"])
BODIES = st.dictionaries(NAMES, JSON | ROWS | st.lists(ROWS, max_size=3), max_size=4) | JSON
TARGETS = CELLS | JSON
LABELS = st.fixed_dictionaries(
    {"labels": st.lists(st.fixed_dictionaries({"id": st.text(max_size=5), "target": TARGETS}))}
)
LEARN = st.fixed_dictionaries({"rows": st.lists(ROWS, min_size=1, max_size=3)})
PREDICT = st.fixed_dictionaries({"rows": st.lists(ROWS, min_size=1, max_size=3)})
PATHS = st.sampled_from(["/predict", "/label", "/learn", "/release", "/retract"])
HEAD = b"POST /predict HTTP/1.1\r\nHost: localhost\r\n"
ADDRESSES = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="#"), max_size=40)


@pytest.fixture
def client(served, run):
    return served(run, Limits(waiting=1000), token=TOKEN)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_json(client, data):
    path = data.draw(PATHS)
    body = data.draw({"/label": LABELS, "/learn": LEARN, "/predict": PREDICT}.get(path, BODIES) | BODIES)
    content = json.dumps(body).encode()
    found = client.post(path, content=content, headers={"content-type": "application/json"} | HEADERS)
    assert found.status_code < 500, (path, body, found.text)
    if found.status_code != 200:
        assert found.json()["error"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PATHS, st.binary(max_size=200))
def test_any_bytes(client, path, content):
    found = client.post(path, content=content, headers={"content-type": "application/json"} | HEADERS)
    assert 400 <= found.status_code < 500


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["GET", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE"]), ADDRESSES)
def test_any_address(client, method, address):
    if address.startswith("events"):
        return  # it does not end
    found = client.request(method, f"http://testserver/{address}")
    assert found.status_code < 500


def test_after_extreme_numbers_it_still_learns(client):
    for cell in (1e308, -1e308, 5e-324, 0.0, "1e400", None, "oops"):
        for target in (1e308, -1e308, 0.0):
            client.post("/learn", json={"rows": [{"a": cell, "b": 1.0, "y": target}]}, headers=HEADERS)
    client.post("/learn", json={"rows": [{"a": 1.0, "b": 1.0, "y": 1.0}]}, headers=HEADERS)
    settle(client)
    assert client.get("/health").json()["status"] == "ok"
    found = client.post("/predict", json={"row": {"a": 1.0, "b": 1.0}}).json()["predictions"][0]
    assert abs(found["prediction"] - 1.0) < 0.3


def test_ten_megabytes_of_nesting(client):
    client.service.limits = client.app._limits = client.service.limits._replace(body=1 << 24)
    for text in ("[" * (10 << 20), '{"row":' * (1 << 20), '{"row":{"a":' + "[" * (1 << 20)):
        found = client.post("/predict", content=text.encode(), headers={"content-type": "application/json"})
        assert found.status_code in (400, 422)


@pytest.fixture
def server(run, tmp_path):
    (tmp_path / "token").write_text("0123456789abcdef")
    found = Server(run, "--token-file", str(tmp_path / "token"))
    yield found
    found.stop()


def test_clients_that_break_off_are_slow_or_speak_nonsense_stop_nobody(server):
    open_sockets = []
    for data in (
        b"",
        b"POST /predict HTTP/1.1\r\nHost: localhost\r\n",
        HEAD + b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\n",
        b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20_000,
    ):
        for broken_off in (True, False):
            one = socket.create_connection(("127.0.0.1", server.port), timeout=30)
            one.sendall(data)
            if broken_off:
                one.close()
            else:
                open_sockets.append(one)
    status, found = call(server.port, "POST", "/predict", {"row": {"a": 1.0, "b": 2.0}})
    assert status == 200
    assert found["predictions"][0]["id"]
    for one in open_sockets:
        one.close()


def test_one_slow_reader_of_events_holds_up_nobody(server):
    listeners = []
    for _ in range(3):
        one = socket.create_connection(("127.0.0.1", server.port), timeout=30)
        one.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"200" in one.recv(100)
        listeners.append(one)
    done = []

    def many():
        for i in range(100):
            done.append(call(server.port, "POST", "/predict", {"row": {"a": i, "b": 2.0}})[0])

    thread = threading.Thread(target=many)
    thread.start()
    thread.join(120)
    assert done == [200] * 100
    for one in listeners:
        one.close()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads the memory of a process from /proc")
def test_memory_does_not_grow_over_100_000_calls(server):
    bodies = [
        {"row": {"a": 1.0, "b": 2.0}},
        {"row": {"a": "x", "b": 1e9}},
        {"rows": []},
        {"row": {"a": [[]]}},
    ]
    headers = {"content-type": "application/json", "authorization": "Bearer 0123456789abcdef"}
    connection = HTTPConnection("127.0.0.1", server.port, timeout=120)

    def send(path, body):
        connection.request("POST", path, json.dumps(body), headers)
        answer = connection.getresponse()
        content = answer.read()
        assert answer.status in (200, 422), content
        return json.loads(content)

    def calls(count):
        for i in range(count):
            if i % 8:
                send("/predict", bodies[i % 4])
            else:
                asked = send("/predict", bodies[0])["predictions"][0]["id"]
                send("/label", {"id": asked, "target": 0.5})
        return int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]) * os.sysconf(
            "SC_PAGE_SIZE"
        )

    calls(20_000)
    send("/release", {"rows": [1]})  # the first checkpoint imports what writes Parquet: 17 to 22 MB
    before = calls(2_000)
    grown = calls(80_000) - before
    connection.close()
    assert grown < 12 << 20, f"{grown / 1e6:.1f} MB more than the {before / 1e6:.1f} MB after 22,000 calls"
