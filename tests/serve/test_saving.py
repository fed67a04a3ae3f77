"""The thread that learns: what it has saved is never ahead of the store, and a command always ends."""

import shutil

import pytest
from serve.conftest import HEADERS, TOKEN, settle

from holdfast.runs.run import open_run
from holdfast.serve.service import Service
from holdfast.terminal import Refusal

ROWS = [{"a": float(i), "b": 0.5, "y": 2.0 * i - 0.5} for i in range(5)]


def learn(client):
    assert client.post("/learn", json={"rows": ROWS}, headers=HEADERS).status_code == 200


def test_a_kill_before_the_store_knows_of_the_log_teaches_nothing_twice(served, run, tmp_path, monkeypatch):
    """A checkpoint with rows that are then cut from the log would make the log another source."""
    client = served(run, token=TOKEN, every=(1.0, 0.0))
    learn(client)
    settle(client)
    store = client.service.store
    held, logged = [], store.logged
    monkeypatch.setattr(store, "logged", lambda *what: held.append(what) or _refuse)
    learn(client)
    with pytest.raises(Refusal, match="held"):
        settle(client)
    killed = shutil.copytree(run, tmp_path / "killed.run")
    assert held and open_run(killed).trace.rounds == 205  # without those that the log may lose

    shutil.move(run, tmp_path / "old.run")
    shutil.move(killed, run)
    again = Service(run)
    again.learner.do(lambda run: None).result(60.0)
    assert open_run(run).trace.rounds == 210
    again.close()

    shutil.rmtree(run)
    shutil.move(tmp_path / "old.run", run)
    monkeypatch.setattr(store, "logged", logged)
    settle(client)
    assert open_run(run).trace.rounds == 210


def test_what_the_store_knows_is_on_the_disk_before_the_run_is_saved(served, run, monkeypatch):
    """After a loss of power the store must know of all rows that the run has."""
    client = served(run, token=TOKEN, every=(1.0, 0.0))
    monkeypatch.setattr(client.service.store, "sync", _fail)
    learn(client)
    with pytest.raises((OSError, Refusal), match="no"):
        settle(client)
    assert open_run(run).trace.rounds == 200
    monkeypatch.undo()
    settle(client)
    assert open_run(run).trace.rounds == 205


def _refuse(connection):
    raise Refusal("held")


def test_a_command_ends_even_if_the_run_cannot_be_opened_after_it(served, run, monkeypatch):
    client = served(run, token=TOKEN)

    def command(run):
        monkeypatch.setattr(client.service.learner, "_open", _fail)
        return "done"

    assert client.service.learner.do(command).result(60.0) == "done"
    monkeypatch.undo()
    learn(client)
    settle(client)
    assert client.get("/model").json()["rounds"] == 205


def _fail():
    raise OSError("no")
