"""A server that is killed at any moment loses nothing that it has answered, and learns nothing twice."""

import csv
import json
import random
import socket
import sqlite3
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from serve.running import Clients, Server, call, write_table

from holdfast.cli.main import main
from holdfast.cli.verify import verify
from holdfast.runs.folder import Folder
from holdfast.runs.model import FILE
from holdfast.serve.server import Together


@pytest.fixture
def run(tmp_path: Path) -> Path:
    write_table(tmp_path / "t.csv")
    assert (
        main(["learn", str(tmp_path / "t.csv"), "--target", "y", "--to", str(tmp_path / "t.run"), "--quiet"])
        == 0
    )
    return tmp_path / "t.run"


@pytest.mark.parametrize("kills", [pytest.param(2), pytest.param(100, marks=[pytest.mark.exhaustive])])
def test_after_kills_everything_acknowledged_is_there_once_and_the_model_has_the_same_bits(
    run: Path, tmp_path: Path, kills: int
) -> None:
    rng, clients = random.Random(7), Clients(4, seed=7)
    server = Server(run)
    clients.port = server.port
    clients.start()
    try:
        for _ in range(kills):
            clients.wait_for(rng.randint(1, 60))
            server.kill()
            server = Server(run)
            clients.port = server.port
        clients.wait_for(20)
    finally:
        clients.stop()
        server.stop()

    with (run / "serve" / "rows.csv").open(newline="") as file:
        logged = list(csv.DictReader(file))
    assert [int(row["served_seq"]) for row in logged] == list(range(1, len(logged) + 1))
    once = {row["served_id"]: float(row["y"]) for row in logged}
    assert len(once) == len(logged), "a row was learned twice"
    assert once == clients.labelled | clients.learned
    with sqlite3.connect(run / "serve" / "waiting.sqlite") as store:
        answers = {id: json.loads(text) for id, text in store.execute("select id, answer from asked")}
        assert store.execute("select count(*) from queue").fetchone() == (0,)
        assert store.execute("select count(*) from judged").fetchone() == (len(logged),)
    store.close()
    assert {id: {"id": id} | found for id, found in answers.items()} == clients.predicted

    again = tmp_path / "again.run"
    sources = [str(tmp_path / "t.csv"), str(run / "serve" / "rows.csv")]
    assert main(["learn", *sources, "--target", "y", "--to", str(again), "--features", "a,b", "--quiet"]) == 0
    assert Folder(run).read(FILE) == Folder(again).read(FILE)
    assert Folder(run).read("metrics.json") == Folder(again).read("metrics.json")
    assert verify(run)["problems"] == []


def test_another_address_needs_a_token(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", str(run), "--host", "0.0.0.0", "--port", "0"]) == 2
    assert "--token-file" in capsys.readouterr().err
    (tmp_path / "token").write_text("short\n")
    assert main(["serve", str(run), "--host", "0.0.0.0", "--token-file", str(tmp_path / "token")]) == 2
    assert "16 characters" in capsys.readouterr().err
    assert main(["serve", str(run), "--token-file", str(tmp_path / "none")]) == 2
    assert "No such file" in capsys.readouterr().err


def test_a_port_in_use_is_a_sentence(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["serve", str(run), "--port", str(taken.getsockname()[1])]) == 2
    assert "choose another --port" in capsys.readouterr().err


def test_a_folder_without_a_run_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", str(tmp_path / "nothing")]) == 2
    assert "no run" in capsys.readouterr().err


def test_sigterm_saves_and_the_next_server_goes_on(run: Path) -> None:
    server = Server(run)
    found = call(server.port, "POST", "/predict", {"row": {"a": 1.0, "b": 2.0}})[1]["predictions"][0]
    call(server.port, "POST", "/learn", {"rows": [{"a": 1.0, "b": 2.0, "y": 0.0}] * 3})
    server.stop()
    assert server.process.returncode == 143
    server = Server(run)
    try:
        assert call(server.port, "GET", "/model")[1]["rounds"] == 203
        answer = call(server.port, "POST", "/label", {"id": found["id"], "target": 0.0})[1]
        assert answer["labels"][0]["status"] == "accepted"
    finally:
        server.stop()


def test_head_and_body_of_an_answer_are_written_together_and_before_the_end() -> None:
    written: list[bytes] = []
    later: list[Callable[[], None]] = []
    socket = SimpleNamespace(
        write=written.append, close=lambda: written.append(b"closed"), is_closing=lambda: True
    )
    transport = Together(socket, SimpleNamespace(call_soon=later.append))  # type: ignore[arg-type]
    transport.write(b"head ")
    transport.write(b"body")
    assert written == [] and transport.is_closing()
    later.pop()()
    assert written == [b"head body"] and not later
    transport.write(b"last")
    transport.close()
    later.pop()()
    assert written == [b"head body", b"last", b"closed"]
