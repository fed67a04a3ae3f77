"""A served run is an ordinary run: other commands work on it, and it goes on after they have changed it."""

import time

import pytest
from serve.conftest import HEADERS, TOKEN, settle
from serve.running import write_table

from holdfast.cli.main import main
from holdfast.runs.folder import Folder
from holdfast.runs.model import FILE
from holdfast.runs.run import Run
from holdfast.serve import learner
from holdfast.serve.log import RowLog
from holdfast.serve.service import Service
from holdfast.terminal import Refusal

ROWS = [{"a": 0.1 * i, "b": 0.0, "y": 0.2 * i} for i in range(40)]


def until(true, what):
    """Wait until something is so, as long as a machine under load may take."""
    for _ in range(6_000):
        if true():
            return
        time.sleep(0.01)
    raise AssertionError(f"not in a minute: {what}")


def released(client):
    """Wait until the server has saved and unlocked the run."""
    until(lambda: not client.service.learner.locked, "the run is unlocked")


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(learner, "_IDLE", 0.05)
    monkeypatch.setattr(learner, "_RETRY", 0.05)


def same_model(run, *others):
    return all(Folder(run).read(FILE) == Folder(other).read(FILE) for other in others)


def test_the_run_is_that_of_learn_over_its_sources(served, run, learned, tmp_path):
    client = served(run)
    for start in range(0, 40, 7):
        client.post("/learn", json={"rows": ROWS[start : start + 7]})
    settle(client)
    released(client)
    sources = [str(learned / "t.csv"), str(run / "serve" / "rows.csv")]
    assert main(["learn", *sources, "--target", "y", "--to", str(tmp_path / "again"), "--quiet"]) == 0
    assert same_model(run, tmp_path / "again")
    assert main(["verify", str(run)]) == 0


def test_commands_change_the_run_while_it_is_served(served, run, tmp_path, capsys):
    client = served(run)
    client.post("/learn", json={"rows": [*ROWS, {"a": 1e9, "b": 0.0, "y": 1.0}]})
    settle(client)
    released(client)
    assert main(["audit", str(run), "--skipped", str(tmp_path / "q.csv")]) == 0
    assert main(["release", str(run), str(tmp_path / "q.csv")]) == 0
    assert main(["retract", str(run), "--where", "served_seq=3", "--why", "wrong"]) == 0
    a_day = ["--between", "2027-01-15", "2027-01-15", "--time", "served_at", "--dry-run"]
    capsys.readouterr()
    assert main(["retract", str(run), *a_day]) == 0
    assert "40 rows" in capsys.readouterr().out
    more = write_table(tmp_path / "more.csv", 30, seed=3)
    assert main(["learn", str(more), "--into", str(run), "--quiet"]) == 0
    assert client.post("/predict", json={"row": {"a": 1.0, "b": 2.0}}).status_code == 200
    client.post("/learn", json={"rows": ROWS[:5]})
    settle(client)
    found = client.get("/model").json()
    assert found["rounds"] == 200 + 41 - 1 + 30 + 5
    released(client)
    assert main(["verify", str(run)]) == 0
    capsys.readouterr()
    assert main(["inspect", str(run), "--json"]) == 0
    assert "rows.csv" in capsys.readouterr().out


def test_labels_wait_while_another_process_has_the_run(served, run):
    client = served(run)
    released(client)
    folder = Folder(run)
    folder.lock()
    client.post("/learn", json={"rows": ROWS})
    until(lambda: client.get("/health").status_code == 503, "the server says that it does not learn")
    assert "another process" in client.get("/health").json()["problem"]
    assert client.post("/predict", json={"row": {"a": 1.0, "b": 2.0}}).status_code == 200
    folder.close()
    until(lambda: client.get("/model").json()["rounds"] == 240, "the rows are learned")
    until(lambda: client.get("/health").status_code == 200, "all is well again")


@pytest.mark.parametrize("what", ["append", "judge", "learn"])
def test_after_a_failure_rows_are_learned_once(served, run, monkeypatch, what):
    client = served(run)
    failures = iter([OSError("the disk is full")])

    def failing(call):
        def failed(*args):
            if what == "append":
                call(*args)  # the rows are there, and then it fails
            for problem in failures:
                raise problem
            return None if what == "append" else call(*args)

        return failed

    place, name = {"append": (RowLog, "append"), "judge": (learner, "judge"), "learn": (Run, "learn")}[what]
    monkeypatch.setattr(place, name, failing(getattr(place, name)))
    client.post("/learn", json={"rows": ROWS})

    def numbers():
        lines = (run / "serve" / "rows.csv").read_text().splitlines()
        return [line.partition(",")[0] for line in lines[1:]]

    # Rows that were in the log when it failed are learned first, and then written again.
    is_done = lambda: client.get("/model").json()["rounds"] == 240 and len(numbers()) == 40  # noqa: E731
    until(is_done, "the rows are learned")
    assert numbers() == [str(i) for i in range(1, 41)]
    assert "the disk is full" in client.service.events.recent[0][1]


def test_release_and_retract_are_those_of_the_commands(served, run, learned, tmp_path):
    client = served(run, token=TOKEN)
    rows = [*ROWS[:20], {"a": 1e9, "b": 0.0, "y": 1.0}, *ROWS[20:]]
    client.post("/learn", json={"rows": rows}, headers=HEADERS)
    settle(client)
    skipped = client.get("/audit").json()["rows"]
    assert [row["row"] for row in skipped] == [221]
    found = client.post("/release", json={"rows": [221, 5], "why": "seen"}, headers=HEADERS).json()
    assert found == {"released": 1, "others": 1}
    assert client.get("/audit").json()["rows"][0]["released"]
    found = client.post("/retract", json={"rows": "205-207,210"}, headers=HEADERS).json()
    assert (found["rows"], found["rounds"]) == (4, 237)
    again = client.post("/retract", json={"rows": "205"}, headers=HEADERS)
    assert again.status_code == 409
    assert "taken back before" in again.json()["error"]
    for path in ("/release", "/retract"):
        for rows in ("x", "7-3", "0", " , ", []):
            wrong = client.post(path, json={"rows": rows}, headers=HEADERS)
            assert wrong.status_code == 422, (rows, wrong.text)
            assert "120-180,999" in wrong.json()["error"]
    ledger = client.get("/audit").json()["ledger"]
    assert [entry["what"] for entry in ledger] == ["release", "retract"]
    assert client.get("/model").json()["rounds"] == 237
    released(client)

    other, sources = tmp_path / "other.run", [str(learned / "t.csv"), str(run / "serve" / "rows.csv")]
    assert main(["learn", *sources, "--target", "y", "--to", str(other), "--quiet"]) == 0
    assert main(["audit", str(other), "--skipped", str(tmp_path / "q.csv")]) == 0
    assert main(["release", str(other), str(tmp_path / "q.csv")]) == 0
    assert main(["retract", str(other), "--rows", "205-207,210"]) == 0
    assert same_model(run, other)


def test_a_run_is_served_once(served, run):
    served(run)
    with pytest.raises(Refusal, match="being served"):
        Service(run)


def test_a_stopped_server_goes_on_with_what_waited(served, run, clock):
    first = Service(run, clock=clock)
    found, future = first.predict(_body({"a": 1.0, "b": 0.0}), None)
    future.result(30)
    first.close()
    client = served(run)
    assert client.get("/health").json()["waiting"] == 1
    label = {"id": found[0]["id"], "target": 2.0}
    assert client.post("/label", json=label).json()["labels"][0]["status"] == "accepted"


def _body(row):
    from holdfast.serve.bodies import PredictBody

    return PredictBody(row=row)
