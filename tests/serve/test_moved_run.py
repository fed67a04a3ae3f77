"""A run that was moved with its sources, as into a container: its rows can be released and taken back."""

import shutil

from serve.conftest import HEADERS, TOKEN, settle
from serve.running import write_table

from holdfast.cli.main import main


def test_rows_of_the_log_and_of_the_file_beside_the_run_are_found_after_a_move(served, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    table = write_table(here / "t.csv")
    assert main(["learn", str(table), "--target", "y", "--to", str(here / "t.run"), "--quiet"]) == 0
    rows = [{"a": float(i), "b": 0.5, "y": 2.0 * i - 0.5} for i in range(5)]
    client = served(here / "t.run", token=TOKEN)
    client.post("/learn", json={"rows": [{"a": 1e9, "b": 0.5, "y": 1.5}, *rows]}, headers=HEADERS)
    settle(client)
    client.__exit__(None, None, None)

    shutil.move(here, there)
    client = served(there / "t.run", token=TOKEN)
    client.post("/learn", json={"rows": rows}, headers=HEADERS)
    settle(client)
    assert client.get("/model").json()["rounds"] == 211
    released = client.post("/release", json={"rows": [201]}, headers=HEADERS)
    assert (released.status_code, released.json()) == (200, {"released": 1, "others": 0})
    taken = client.post("/retract", json={"rows": "3-4,203,208"}, headers=HEADERS)
    assert taken.status_code == 200, taken.text
    assert taken.json()["rows"] == 4 and client.get("/model").json()["rounds"] == 207
