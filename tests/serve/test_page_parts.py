"""What the page shows, without a browser: numbers and labels, escaped, sent again only if it has changed."""

import re

import numpy as np
import pytest
from serve.conftest import HEADERS, TOKEN, settle

from holdfast.cli.main import main
from holdfast.runs.run import open_run
from holdfast.serve import page as parts


def learn(client, rows):
    assert client.post("/learn", json={"rows": rows}, headers=HEADERS).status_code == 200
    settle(client)


def test_a_page_of_labels_and_keys_has_the_share_of_mistakes_and_the_baseline(served, label_run, monkeypatch):
    monkeypatch.setattr("holdfast.serve.page._FRESH", -1.0)
    client = served(label_run, token=TOKEN)
    rows = [
        {"size": i, "colour": "red", "site": "north", "kind": "yes" if i % 5 else "no"} for i in range(60)
    ]
    learn(client, rows)
    text = client.get("/").text
    assert "The line is the share of mistakes" in " ".join(text.split())
    assert "<title>baseline</title>" in text and "kind <small>served from l.run" in text


def test_the_page_is_sent_again_only_if_it_has_changed(served, run, clock, monkeypatch):
    monkeypatch.setattr("holdfast.serve.page._FRESH", -1.0)
    client = served(run, token=TOKEN)
    first = client.get("/")
    clock.now += 60.0  # the time alone is no change
    assert client.get("/").headers["etag"] == first.headers["etag"]
    same = client.get("/", headers={"if-none-match": first.headers["etag"]})
    assert (same.status_code, same.text) == (304, "")
    learn(client, [{"a": 1.0, "b": 0.5, "y": 1.5}])
    other = client.get("/", headers={"if-none-match": first.headers["etag"]})
    assert other.status_code == 200 and other.headers["etag"] != first.headers["etag"]


def test_only_the_script_of_the_page_may_run_and_texts_of_rows_are_text(served, run, monkeypatch):
    monkeypatch.setattr("holdfast.serve.page._FRESH", -1.0)
    client = served(run, token=TOKEN)
    learn(client, [{"a": 1e9, "b": 0.5, "y": 1.5}])
    row = client.get("/audit").json()["rows"][-1]["row"]
    why = "<script>alert(1)</script>"
    done = client.post("/release", json={"rows": [row], "why": why}, headers=HEADERS)
    assert done.json() == {"released": 1, "others": 0}
    answer = client.get("/")
    assert "&lt;script&gt;alert(1)" in answer.text and why not in answer.text
    assert f'<td class="number">{row}</td>' in answer.text and "<td>released</td>" in answer.text
    policy = answer.headers["content-security-policy"]
    assert re.search(r"default-src 'none'; script-src 'sha256-[\w+/]{43}='; ", policy)
    assert answer.text.count("<script>") == 1 and not re.search(r"\son\w+=", answer.text)
    assert TOKEN not in answer.text


def test_without_a_token_there_are_no_forms_and_the_page_says_why(served, run):
    text = served(run).get("/").text
    assert "<form" not in text and "started without a token" in text


def test_a_peak_of_errors_does_not_hide_the_others():
    errors = [
        {"at": float(i), "error": 1.0, "median": 1e9 if i == 50 else 1.0, "count": 10} for i in range(100)
    ]
    plot = parts.error_plot(errors, {"task": "regression", "baseline": 2.0})
    points = re.search(r'points="([^"]*)"', plot)[1].split()
    heights = np.array([float(point.split(",")[1]) for point in points])
    assert heights[50] < heights[0] - 100 and (np.delete(heights, 50) == heights[0]).all()
    assert "baseline" not in plot  # which is no median


@pytest.mark.parametrize("values", [[], [1.0], [0.0, 0.0], [float("inf"), float("inf")]])
def test_without_errors_there_is_no_plot(values):
    errors = [{"at": float(i), "error": x, "median": x, "count": 1} for i, x in enumerate(values)]
    assert parts.error_plot(errors, {"task": "regression", "baseline": None}) is None


def test_skips_that_follow_each_other_are_one_event(served, run):
    client = served(run, token=TOKEN)
    for _ in range(3):
        learn(client, [{"a": 1e9, "b": 0.5, "y": 1.5}])
    (event,) = client.service.events.past
    when, what, about = parts.event_line(event)
    assert (what, about) == ("skipped", f"3 rows since {event['since']}") and when == event["at"]
    assert parts.event_line({"event": "alarm", "at": "now", "text": "not learning: x"}) == (
        "now",
        "alarm",
        "not learning: x",
    )
    assert parts.event_line({"event": "retraction", "at": "now", "rows": 60, "why": "kW"})[2] == "60 rows: kW"


def test_the_newest_entries_come_first_over_the_borders_of_parts(served, run, monkeypatch):
    monkeypatch.setattr(parts, "_STEP", 2)
    client = served(run, token=TOKEN, every=(1.0, 0.0))
    for count in (5, 1, 3):
        learn(client, [{"a": 1e9, "b": 0.5, "y": 1.5}] * count)
    everything = client.get("/audit?after=0&limit=1000").json()["rows"]
    assert len(everything) == 9
    found = list(parts.last_entries(open_run(run)))
    assert [entry["row"] for entry in found] == [entry["row"] for entry in everything][::-1]
    assert client.get("/audit?limit=4").json()["rows"] == everything[-4:]
    assert [row.row for row in parts.newest_skipped(open_run(run), 3)] == [209, 208, 207]


def test_a_warning_of_the_run_is_told_once(served, run):
    """That every row is skipped, however many they are by now."""
    client = served(run, token=TOKEN)
    for _ in range(3):
        learn(client, [{"a": 1e9, "b": 0.5, "y": 1.5}] * 150)
    alarms = [event["text"] for event in client.service.events.past if event["event"] == "alarm"]
    assert len([text for text in alarms if "the data may have changed" in text]) == 1


def test_no_entry_is_lost_between_two_calls_for_the_audit(served, tmp_path):
    """With three labels a row that is far has an entry for each pair of them."""
    lines = [f"{i % 17},{('red', 'blue', 'green')[i % 3]}" for i in range(300)]
    (tmp_path / "t.csv").write_text("\n".join(["size,colour", *lines]) + "\n")
    path = tmp_path / "t.run"
    assert main(["learn", str(tmp_path / "t.csv"), "--target", "colour", "--to", str(path), "--quiet"]) == 0
    client = served(path, token=TOKEN)
    learn(client, [{"size": 1e9, "colour": colour} for colour in ("red", "blue", "green") * 3])
    everything = client.get("/audit?after=0&limit=1000").json()["rows"]
    assert len(everything) > len({entry["row"] for entry in everything})
    found, after = [], 0
    while after is not None:
        answer = client.get(f"/audit?after={after}&limit=1").json()
        found, after = found + answer["rows"], answer["next"]
    assert found == everything
