"""A server that is killed at any moment loses nothing that it has answered, and learns nothing twice."""

import csv
import json
import random
import sqlite3
from pathlib import Path

import pytest
from serve.running import Clients, Server, write_table

from holdfast.cli.main import main
from holdfast.runs.folder import Folder
from holdfast.runs.model import FILE
from holdfast.runs.reading import verify


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
