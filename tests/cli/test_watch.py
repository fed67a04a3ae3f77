"""holdfast watch: events of a column, by key, in words and JSON, to files and addresses; going on later."""

import http.server
import json
import threading

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from cli.conftest import holdfast, output

import holdfast as hf
from holdfast.cli.main import main

EXPECTED = [("glitch", 301, 301), ("frozen", 401, 0), ("frozen", 401, 430), ("change", 701, 720)]


def values(seed=0):
    found = np.random.default_rng(seed).normal(20.0, 1.0, 1_000).round(4)
    found[300], found[400:430] = 99.0, -200.0
    found[700:] += 30.0
    return found


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "sensor.csv"
    pacsv.write_csv(pa.table({"t": np.arange(1_000), "v": values()}), path)
    return path


def parsed(text):
    lines = [json.loads(line) for line in text.splitlines()]
    return [(line["kind"], line["begin"], line["end"]) for line in lines if line.get("event", "") != "end"]


def test_it_tells_events_in_words_and_counts_them(source, capsys):
    assert main(["watch", str(source), "--value", "v"]) == 0
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines()] == [kind for kind, _, _ in EXPECTED]
    assert out.startswith("glitch in row 301: 99 where 1")
    assert "1,000 values of v: 1 glitch, 1 change, frozen 1 time; " in err


def test_json_has_a_line_for_each_event_and_one_at_the_end(source, capsys):
    text = output(capsys, "watch", source, "--value", "v", "--json")
    assert parsed(text) == EXPECTED
    last = json.loads(text.splitlines()[-1])
    assert (last["event"], last["glitch"], last["change"], last["frozen"]) == ("end", 1, 1, 1)


def test_rows_have_the_readings_of_a_level(source, capsys, tmp_path):
    output(capsys, "watch", source, "--value", "v", "--to", tmp_path / "rows.csv", "--interval", "80%")
    table, found = pacsv.read_csv(tmp_path / "rows.csv"), hf.Level(0.8).update_many(values())
    assert table.column("row").to_pylist() == list(range(1, 1_001))
    for name in ("level", "spread", "high"):
        assert np.array_equal(table.column(name).to_numpy()[20:], getattr(found, name)[20:])
    assert np.array_equal(table.column("kept").to_numpy() > 0, found.kept)


def test_each_key_is_watched_on_its_own_and_events_have_the_rows_of_the_file(capsys, tmp_path):
    both = np.column_stack([values(), np.random.default_rng(9).normal(size=1_000)]).ravel()
    table = {"v": both, "pump": ["one", "two"] * 1_000}
    pacsv.write_csv(pa.table(table), tmp_path / "two.csv")
    text = output(capsys, "watch", tmp_path / "two.csv", "--value", "v", "--by", "pump", "--json")
    of_one = [json.loads(line) for line in text.splitlines() if '"one"' in line]
    found = [(line["kind"], line["begin"], line["end"]) for line in of_one]
    assert found == [(kind, 2 * begin - 1, max(2 * end - 1, 0)) for kind, begin, end in EXPECTED]


def test_a_cell_that_is_no_number_is_counted_and_changes_nothing(source, capsys):
    text = source.read_text().replace("\n50,", "\n50,broken").replace("\n51,", "\n51,\n151,")
    source.write_text(text)
    lines = output(capsys, "watch", source, "--value", "v", "--json").splitlines()
    assert json.loads(lines[-1])["unreadable"] == 2


@pytest.mark.parametrize("stop", [310, 410, 715])
def test_with_a_state_it_goes_on_where_it_was(source, capsys, tmp_path, stop):
    lines, state = source.read_text().splitlines(keepends=True), tmp_path / "state.json"
    call = ("watch", source, "--value", "v", "--state", state, "--json")
    source.write_text("".join(lines[: stop + 1]))
    first = output(capsys, *call)
    source.write_text("".join(lines))
    second = output(capsys, *call)
    assert parsed(first) + parsed(second) == EXPECTED
    assert parsed(output(capsys, *call)) == []  # all rows are known
    assert json.loads(second.splitlines()[-1])["values"] == 1_000


def test_a_state_of_other_settings_is_refused(source, capsys, tmp_path):
    state = tmp_path / "state.json"
    output(capsys, "watch", source, "--value", "v", "--state", state, "--quiet")
    for args, words in (
        (["--value", "t"], "value 'v', and now it is 't'"),
        (["--value", "v", "--season", "24"], "settings [0.9, 0, 20, 0.001], and now it is [0.9, 24"),
    ):
        assert main(["watch", str(source), *args, "--state", str(state)]) == 2
        assert words in capsys.readouterr().err
    state.write_text("{}")
    assert main(["watch", str(source), "--value", "v", "--state", str(state)]) == 2
    assert "is not a state of holdfast watch" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--value", "w"], "has no column 'w'"),
        (["--value", "v", "--by", "v"], "same column as --value"),
        (["--value", "v", "--season", "-1"], "season is a number of rows"),
        (["--value", "v", "--interval", "0"], "--interval is a share"),
        (["--value", "v", "--alarm-rate", "60%"], "--alarm-rate is a share"),
        (["--value", "v", "--webhook", "localhost"], "begins with http:// or https://"),
        (["--value", "v", "--to", "rows.txt"], "--to must end in .csv or .parquet"),
        (["--value", "v", "--to", "rows.csv", "--follow"], "--follow has none"),
    ],
)
def test_wrong_options_are_refused_in_a_sentence(source, capsys, args, words):
    assert main(["watch", str(source), *args]) == 2
    assert words in capsys.readouterr().err


def test_a_pipe_can_be_watched(source):
    found = holdfast("watch", "-", "--value", "v", "--json", input=source.read_text())
    assert found.returncode == 0, found.stderr
    assert parsed(found.stdout) == EXPECTED


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    found = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    found.bodies = []
    threading.Thread(target=found.serve_forever, daemon=True).start()
    yield found
    found.shutdown()
    found.server_close()


def told_to(server, path):
    bodies = [(body["kind"], body["begin"], body["end"]) for body in server.bodies]
    assert parsed(path.read_text()) == bodies
    return bodies


def test_alarms_go_to_a_file_and_an_address(source, capsys, tmp_path, server):
    where = ["--alarms", tmp_path / "a.jsonl", "--webhook", f"http://127.0.0.1:{server.server_port}/"]
    assert output(capsys, "watch", source, "--value", "v", "--quiet", *where) == ""
    assert told_to(server, tmp_path / "a.jsonl") == EXPECTED


def test_learn_sends_its_alarms_there_too(tmp_path, learn, server):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 1_000)).round(4)
    a[500], b[700:740] = 1e6, 7.0
    pacsv.write_csv(pa.table({"a": a, "b": b, "y": (a + 2.0 * b).round(3)}), tmp_path / "rows.csv")
    where = ["--alarms", tmp_path / "a.jsonl", "--webhook", f"http://127.0.0.1:{server.server_port}/"]
    _, status, text = learn(tmp_path / "rows.csv", "--target", "y", *where)
    assert status == 0, text
    found = told_to(server, tmp_path / "a.jsonl")
    assert found[0] == ("glitch", 501, 501) and found[-2:] == [("frozen", 701, 0), ("frozen", 701, 740)]
    assert server.bodies[0]["key"] == "a" and server.bodies[-1]["key"] == "b"


def test_learn_by_key_has_events_of_each_key(tmp_path, learn):
    rng = np.random.default_rng(0)
    a = rng.normal(size=1_000).round(4)
    y = a.copy()
    a[600] = 1e6
    table = {"a": a, "k": ["one", "two"] * 500, "y": y}
    pacsv.write_csv(pa.table(table), tmp_path / "rows.csv")
    _, status, text = learn(
        tmp_path / "rows.csv", "--target", "y", "--key", "k", "--alarms", tmp_path / "a.jsonl"
    )
    assert status == 0, text
    (line,) = (tmp_path / "a.jsonl").read_text().splitlines()
    assert (json.loads(line)["key"], json.loads(line)["begin"]) == ("one, a", 601)
