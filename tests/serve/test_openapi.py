"""The description of the API is what the server does."""

import subprocess
import sys

import pytest
from serve.conftest import TOKEN
from serve.running import Server

from holdfast.pages.render import render
from holdfast.serve import bodies
from holdfast.serve.openapi import openapi


def test_every_reference_leads_to_a_schema_and_the_page_needs_no_network():
    found = openapi()
    schemas = found["components"]["schemas"]
    texts = [text for text in str(found).split("'") if text.startswith("#/components/schemas/")]
    assert {text.rpartition("/")[2] for text in texts} == set(schemas)
    page = render("serve_docs.html", api=found)
    assert "http" not in page
    for path in found["paths"]:
        assert path in page


def test_the_described_answer_is_the_answer(served, run):
    import msgspec

    client = served(run)
    assert set(client.get("/openapi.json").json()["paths"]) <= client.app.paths
    row = {"a": 1.0, "b": 2.0}
    answer = client.post("/predict", json={"row": row}).content
    found = msgspec.json.decode(answer, type=bodies.Predictions).predictions[0]
    label = client.post("/label", json={"id": found.id, "target": 0.1}).content
    assert msgspec.json.decode(label, type=bodies.LabelStatuses).labels[0].status == "accepted"
    learned = client.post("/learn", json={"rows": [row | {"y": 0.0}]}).content
    assert msgspec.json.decode(learned, type=bodies.Learned) == bodies.Learned(1, 0)
    assert msgspec.json.decode(client.get("/x").content, type=bodies.Problem).error


@pytest.mark.slow
def test_calls_made_from_the_description_get_no_5xx(run, tmp_path):
    """A call that fits the description may be refused: it does not know the columns of the run."""
    (tmp_path / "token").write_text(TOKEN)
    # 408 is the answer if this machine stands still between the head and the body of a call.
    (tmp_path / "schemathesis.toml").write_text(
        '[checks]\nnegative_data_rejection.expected-statuses = ["4xx"]\n'
        "positive_data_acceptance.enabled = false\n"
    )
    server = Server(run, "--token-file", str(tmp_path / "token"))
    address = f"http://127.0.0.1:{server.port}/openapi.json"
    arguments = ["run", address, "-H", f"Authorization: Bearer {TOKEN}", "--exclude-path", "/events"]
    arguments += ["--max-examples", "300", "--seed", "1"]
    command = [sys.executable, "-m", "schemathesis.cli", *arguments, "--request-timeout", "60"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=1200)
    finally:
        server.stop()
    assert done.returncode == 0, done.stdout[-5000:]
