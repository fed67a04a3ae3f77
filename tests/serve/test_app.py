"""The calls: what they answer, and what they refuse."""

import json

import pytest
from serve.conftest import HEADERS, TOKEN, settle
from starlette.testclient import TestClient

from holdfast.serve.app import App
from holdfast.serve.server import serve
from holdfast.serve.service import Service
from holdfast.serve.store import Limits

ROW = {"a": 1.0, "b": 0.5}


def test_a_prediction_has_an_interval_an_id_and_no_note(served, run):
    found = served(run).post("/predict", json={"row": ROW}).json()["predictions"]
    assert len(found) == 1
    assert set(found[0]) == {"id", "prediction", "low", "high", "outlier", "note"}
    assert found[0]["low"] < found[0]["prediction"] < found[0]["high"]
    assert abs(found[0]["prediction"] - 1.5) < 0.2
    assert (found[0]["outlier"], found[0]["note"]) == (False, "")


def test_an_outlier_says_why(served, run):
    found = (
        served(run).post("/predict", json={"rows": [ROW, {"a": 1e9, "b": 0.5}, {"a": None, "b": 1}]}).json()
    )
    plain, far, missing = found["predictions"]
    assert not plain["outlier"]
    assert far["outlier"]
    assert "a = 1,000,000,000" in far["note"]
    assert (missing["outlier"], missing["note"]) == (False, "a is missing")
    assert missing["low"] is None


def test_labels_have_an_answer_and_a_counter_each(served, run, clock):
    client = served(run, Limits(hours=1.0))
    ids = [client.post("/predict", json={"row": ROW}).json()["predictions"][0]["id"] for _ in range(2)]
    labels = [{"id": ids[0], "target": 1.5}, {"id": ids[0], "target": 1.5}, {"id": ids[0], "target": 2}]
    labels.append({"id": "nobody", "target": 1.0})
    found = client.post("/label", json={"labels": labels}).json()["labels"]
    assert [one["status"] for one in found] == ["accepted", "repeated", "contradicting", "unknown"]
    clock.now += 3601.0
    late = client.post("/label", json={"id": ids[1], "target": 1.5}).json()["labels"]
    assert late == [{"id": ids[1], "status": "late"}]
    expected = {"accepted": 1, "repeated": 1, "contradicting": 1, "unknown": 1, "late": 1}
    assert client.get("/model").json()["labels_by_status"] == expected
    text = client.get("/metrics").text
    for status in expected:
        assert f'holdfast_labels_total{{status="{status}"}} 1.0' in text


def test_a_repeated_call_with_the_same_id_gets_the_first_answer(served, run):
    client = served(run)
    first = client.post("/predict", json={"row": ROW, "id": "mine"}).json()
    client.post("/learn", json={"rows": [ROW | {"y": 1.4}] * 50})
    settle(client)
    assert client.post("/predict", json={"row": ROW, "id": "mine"}).json() == first
    assert client.post("/predict", json={"row": ROW | {"a": 2.0}, "id": "mine"}).status_code == 409
    assert client.post("/predict", json={"row": ROW}).json()["predictions"][0] != first["predictions"][0]


def test_rows_with_offsets_are_learned_once(served, run):
    client = served(run)
    rows = [{"a": 0.1 * i, "b": 0.0, "y": 0.2 * i} for i in range(5)]
    first = {"rows": rows[:3], "offsets": {"source": "topic-0", "first": 10}}
    assert client.post("/learn", json=first).json() == {"accepted": 3, "repeated": 0}
    assert client.post("/learn", json=first).json() == {"accepted": 0, "repeated": 3}
    longer = {"rows": rows, "offsets": {"source": "topic-0", "first": 10}}
    assert client.post("/learn", json=longer).json() == {"accepted": 2, "repeated": 3}
    settle(client)
    assert client.get("/model").json()["rounds"] == 205


def test_keys_have_a_model_each(served, label_run):
    client = served(label_run)
    row = {"size": 3, "colour": "red"}
    found = client.post("/predict?key=north", json={"row": row}).json()["predictions"][0]
    assert found["prediction"] == "yes"
    assert "yes" in found["labels"]
    assert 0.5 < found["probability"] <= 1.0
    assert client.post("/predict", json={"row": row | {"site": "south"}}).status_code == 200
    assert "which key" in client.post("/predict", json={"row": row}).json()["error"]
    label = client.post("/label", json={"id": found["id"], "target": "no"}).json()["labels"][0]
    assert label["status"] == "accepted"
    assert (
        "none of the labels"
        in client.post("/label", json={"id": found["id"], "target": "red"}).json()["error"]
    )
    settle(client)
    assert client.get("/model").json()["rounds"] == 201


def test_a_key_is_refused_without_keys(served, run):
    assert "without --key" in served(run).post("/predict?key=x", json={"row": ROW}).json()["error"]


def test_what_changes_the_model_needs_the_token(served, run):
    client = served(run, token=TOKEN)
    for path in ("/label", "/learn", "/release", "/retract"):
        assert client.post(path, json={}).status_code == 401
        assert client.post(path, json={}, headers={"authorization": f"Bearer {TOKEN}x"}).status_code == 401
        assert client.post(path, json={}, headers=HEADERS).status_code == 422
    assert client.post("/predict", json={"row": ROW}).status_code == 200


@pytest.mark.parametrize(
    ("host", "open_predict", "status"),
    [("127.0.0.1", False, 200), ("0.0.0.0", False, 401), ("0.0.0.0", True, 200)],
)
def test_predictions_for_other_machines_need_the_token(run, monkeypatch, host, open_predict, status):
    """The application that `serve` makes for an address, without the address."""
    made = []

    def config(app, **options):
        made.append(app)
        raise RuntimeError("made")

    monkeypatch.setattr("holdfast.serve.server.uvicorn.Config", config)
    with pytest.raises(RuntimeError, match="made"):
        serve(Service(run), host, 0, TOKEN, ("testserver",), open_predict=open_predict)
    with TestClient(made[0]) as client:
        assert client.post("/predict", json={"row": ROW}).status_code == status
        assert client.post("/predict", json={"row": ROW}, headers=HEADERS).status_code == 200


def test_release_and_retract_need_a_token_at_all(served, run):
    client = served(run)
    assert client.post("/release", json={"rows": [1]}).status_code == 403
    assert client.post("/retract", json={"rows": [1]}).status_code == 403


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "missing"),
        ({"row": ROW, "rows": [ROW]}, "not both"),
        ({"rows": []}, "length >= 1"),
        ({"rows": [ROW, ROW], "ids": ["x"]}, "1 ids"),
        ({"rows": [ROW, ROW], "ids": ["x", "x"]}, "the same"),
        ({"row": {}}, "none of the columns"),
        ({"row": {"c": 1}}, "none of the columns"),
        ({"row": {"a": [1], "b": 2}}, "Expected"),
        ({"row": {"a": {"b": 1}}}, "Expected"),
        ({"row": [1, 2]}, "Expected"),
        ({"rowz": ROW}, "unknown field"),
        ({"row": ROW, "id": ""}, "length"),
        ({"row": ROW, "id": 3}, "Expected"),
        ({"row": {"a": 10**400, "b": 1}}, "too large"),
        ({"row": {"a": "x" * 1001, "b": 1}}, "1,001 characters"),
        ({"row": {"a": "1\n2", "b": 1}}, "line end"),
        ({"row": dict.fromkeys(map(str, range(20)), 1)}, "20 columns"),
        ({"rows": [ROW] * 11}, "11 rows"),
    ],
)
def test_a_wrong_body_is_a_sentence(served, run, body, words):
    found = served(run, Limits(rows=10, columns=10)).post("/predict", json=body)
    assert found.status_code == 422, found.text
    assert words in found.json()["error"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "NaN",
        '{"row": {"a": NaN}}',
        '{"row": {"a": 1e999, "b": 1}}',
        "[" * 500_000,
        '{"a":' * 100_000,
        "\xff",
        '{"row": {"a": "\\ud800", "b": 1}}',
        "null",
        "3",
    ],
)
def test_what_is_no_json_is_a_sentence(served, run, text):
    headers = {"content-type": "application/json"}
    found = served(run).post("/predict", content=text.encode("latin-1"), headers=headers)
    assert found.status_code in (400, 422), found.text
    assert found.json()["error"]


def test_other_content_than_json_is_refused_as_from_a_form_of_another_site(served, run):
    found = served(run).post(
        "/predict", content=json.dumps({"row": ROW}), headers={"content-type": "text/plain"}
    )
    assert found.status_code == 415


def test_a_large_body_is_refused(served, run):
    client = served(run, Limits(body=1000))
    assert client.post("/predict", json={"row": {"a": "x" * 2000}}).status_code == 413

    def parts():
        yield b'{"row": '
        yield b" " * 2000

    assert (
        client.post("/predict", content=parts(), headers={"content-type": "application/json"}).status_code
        == 413
    )


def test_other_hosts_are_refused(served, run):
    client = served(run)
    client.app = App(client.service, None, frozenset({"localhost"}))
    client._transport.app = client.app
    assert client.get("/health", headers={"host": "evil.example"}).status_code == 421
    assert client.get("/health", headers={"host": "LOCALHOST:8000"}).status_code == 200


def test_the_rate_is_limited(served, run):
    client = served(run, Limits(rate=2.0))
    statuses = [client.get("/health").status_code for _ in range(50)]
    assert statuses[0] == 200
    assert 429 in statuses


def test_too_many_labels_wait(served, run):
    client = served(run, Limits(queue=0))
    found = client.post("/learn", json={"rows": [ROW | {"y": 1.0}]})
    assert (found.status_code, found.headers["retry-after"]) == (429, "5")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/../../etc/passwd", 404),
        ("/%2e%2e/%2e%2e/etc/passwd", 404),
        ("/predict", 405),
        ("/audit?limit=0", 422),
        ("/audit?limit=x", 422),
        ("/audit?after=-1", 422),
        ("/audit?after=9999999999999999999999", 422),
        ("/audit?" + "x" * 3000, 422),
        ("/nothing", 404),
    ],
)
def test_a_wrong_address_is_a_sentence(served, run, path, status):
    found = served(run).get(path)
    assert found.status_code == status
    assert found.json()["error"]


def test_what_there_is_to_see(served, run):
    client = served(run)
    assert client.get("/health").json()["status"] == "ok"
    assert client.get("/").status_code == 200
    assert "POST /predict" in client.get("/docs").text
    assert set(client.get("/openapi.json").json()["paths"]) >= {"/predict", "/label", "/learn", "/events"}
    assert client.get("/model").json()["columns"] == ["a", "b"]
    client.post("/learn", json={"rows": [ROW | {"y": 1.5}, {"a": 1e9, "b": 0.0, "y": 0.0}]})
    settle(client)
    audit = client.get("/audit?limit=1").json()
    assert [(row["row"], row["column"], row["released"]) for row in audit["rows"]] == [(202, "a", False)]
    assert client.get("/audit?after=202").json()["rows"] == []
    assert sum(one["count"] for one in client.get("/errors").json()["errors"]) == 2
