"""The client, against a small server that answers, refuses, or breaks the connection, as it is told."""

import asyncio
import contextlib
import http.server
import json
import math
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from holdfast.serve.client import Answer, AsyncClient, Client, ServerError

BREAK = "break"  # close the connection without an answer


class Scripted(http.server.ThreadingHTTPServer):
    """Answers each call with the next step of a script: a status and JSON, or BREAK. Records the calls."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script, self.calls = [], []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.calls.append((self.path, json.loads(body) if body else None, dict(self.headers)))
        step = self.server.script.pop(0)
        if step is BREAK:
            self.close_connection = True
            return
        status, answer = step
        data = json.dumps(answer(self.server.calls[-1][1]) if callable(answer) else answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.do_POST()

    def log_message(self, *words):
        pass


@pytest.fixture
def server():
    with contextlib.closing(Scripted()) as found:
        thread = threading.Thread(target=found.serve_forever, args=(0.01,))
        thread.start()
        yield found
        found.shutdown()
        thread.join()


Scripted.close = Scripted.server_close


@pytest.fixture(autouse=True)
def pauses(monkeypatch):
    """The pauses of the client, which are not waited for."""
    found = []
    monkeypatch.setattr("holdfast.serve.client.time.sleep", found.append)
    return found


def echo(body):
    return {"predictions": [{"id": name, "prediction": 1.5, "outlier": False} for name in body["ids"]]}


def test_a_prediction_has_an_id_of_its_own_and_what_the_server_says(server):
    server.script = [(200, echo), (200, echo)]
    with Client(server.url) as client:
        first, second = client.predict({"a": 1.0}), client.predict({"a": 2.0}, id="mine")
    assert first == Answer(first.id, 1.5, outlier=False) and len(first.id) >= 32
    assert second.id == "mine"
    assert server.calls[0][:2] == ("/predict", {"rows": [{"a": 1.0}], "ids": [first.id]})


def test_a_call_without_an_answer_is_sent_again_with_the_same_ids(server, pauses):
    server.script = [BREAK, (503, {}), (429, {}), (200, echo)]
    with Client(server.url) as client:
        answer = client.predict({"a": 1.0})
    assert {call[1]["ids"][0] for call in server.calls} == {answer.id}
    assert len(server.calls) == 4 and len(pauses) == 3
    assert all(0.0 < pause <= 2.0 for pause in pauses)


def test_the_last_problem_is_raised_when_patience_is_at_an_end(server):
    with Client(server.url, patience=0.0) as client:
        server.script = [(503, {"error": "too many rows wait"})]
        with pytest.raises(ServerError, match="too many rows wait") as refused:
            client.label("x", 1.0)
        assert refused.value.status == 503
        server.script = [BREAK]
        with pytest.raises(ConnectionError):
            client.label("x", 1.0)
    with socket.socket() as unused:  # bound, but nobody listens
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(ConnectionRefusedError):
            Client(f"http://127.0.0.1:{unused.getsockname()[1]}", patience=0.0).label("x", 1.0)


def test_a_refusal_is_raised_at_once_with_its_sentence(server, pauses):
    server.script = [(422, {"error": "the row has no column 'a'"}), (404, "a page of somebody else")]
    with Client(server.url) as client:
        with pytest.raises(ServerError, match="the row has no column 'a'"):
            client.predict({"b": 1.0})
        with pytest.raises(ServerError, match="status 404"):
            client.call("GET", "/nowhere")
    assert pauses == []


def test_rows_without_offsets_are_sent_once_because_twice_would_be_learned_twice(server):
    server.script = [BREAK, BREAK, (200, {"learned": 1})]
    with Client(server.url) as client:
        with pytest.raises(ConnectionError):
            client.learn([{"a": 1.0, "y": 2.0}])
        assert client.learn([{"a": 1.0, "y": 2.0}], source="topic/0", first=7) == {"learned": 1}
    assert [call[1].get("offsets") for call in server.calls] == [
        None,
        *[{"source": "topic/0", "first": 7}] * 2,
    ]


def test_a_change_of_the_run_is_sent_once_and_a_look_at_it_again(server):
    server.script = [
        BREAK,
        (200, {"rows": 3}),
        (200, {"released": 1, "others": 0}),
        BREAK,
        (200, {"rounds": 9}),
    ]
    with Client(server.url, timeout=1e-9) as client:  # too short for any answer
        with pytest.raises(ConnectionError):
            client.retract("1-3", "in kW")
        assert client.retract("1-3", "in kW") == {"rows": 3}
        assert client.release([7]) == {"released": 1, "others": 0}
    with Client(server.url) as client:
        assert client.call("GET", "/model") == {"rounds": 9}
    assert server.calls[1][:2] == ("/retract", {"rows": "1-3", "why": "in kW"})
    assert server.calls[2][:2] == ("/release", {"rows": [7], "why": ""})
    assert len(server.calls) == 5


def test_labels_and_keys_and_the_token_are_sent(server):
    server.script = [(200, {"labels": [{"id": "p", "status": "late"}]}), (200, echo)]
    with Client(server.url + "/models/", token="secret") as client:
        assert client.label("p", "yes") == "late"
        client.predict({"a": 1.0}, key="a b&c")
    assert [call[0] for call in server.calls] == ["/models/label", "/models/predict?key=a+b%26c"]
    assert server.calls[0][1] == {"labels": [{"id": "p", "target": "yes"}]}
    assert {call[2]["Authorization"] for call in server.calls} == {"Bearer secret"}


def test_cells_of_numpy_are_numbers_and_nan_is_a_missing_cell(server):
    server.script = [(200, echo), (200, {"labels": [{"id": "p", "status": "accepted"}]})]
    row = {"a": np.float32(0.5), "b": np.int64(3), "c": math.nan, "d": np.float64("nan"), "e": np.bool_(True)}
    with Client(server.url) as client:
        client.predict(row)
        client.label("p", np.float64(1.5))
        with pytest.raises(TypeError, match="a cell is a number, a text"):
            client.predict({"a": object})
    assert server.calls[0][1]["rows"] == [{"a": 0.5, "b": 3, "c": None, "d": None, "e": True}]
    assert server.calls[1][1]["labels"][0]["target"] == 1.5


def test_asyncio_has_the_same_calls(server):
    server.script = [(200, echo)] * 5

    async def five():
        async with AsyncClient(server.url, connections=2) as client:
            return await asyncio.gather(*(client.predict({"a": 1.0}, id=f"p{i}") for i in range(5)))

    with ThreadPoolExecutor(1) as thread:  # in this one the browser of other tests may have a loop
        answers = thread.submit(lambda: asyncio.run(five())).result()
    assert [answer.id for answer in answers] == [f"p{i}" for i in range(5)]
    for name in ("predict", "predict_many", "label", "label_many", "learn", "release", "retract", "call"):
        assert callable(getattr(AsyncClient, name)) and callable(getattr(Client, name))


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "ftp://there", "http://", ""])
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(ValueError, match="url is the address of a server"):
        Client(url)
