"""A run: the same seed gives the same table, what is stored is not measured again, results.json is valid."""

import json
from pathlib import Path

import jsonschema
import pytest

import holdfast_lab.gauntlet
from holdfast.cli.main import main
from holdfast_lab.gauntlet import runner
from holdfast_lab.gauntlet.page import _part, file_name
from holdfast_lab.gauntlet.results import without_times
from holdfast_lab.gauntlet.table import as_text, behind
from holdfast_lab.gauntlet.track import Setting

SCHEMA = json.loads((Path(holdfast_lab.gauntlet.__path__[0]) / "schema.json").read_text(encoding="utf-8"))
FEW = ("coins: 4 of", "one NaN")
QUICK = Setting(quick=True)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gauntlet")
    return runner.run(("steps", "games"), QUICK, folder, FEW, jobs=1), folder


def test_results_are_as_the_schema_says(results):
    jsonschema.validate(results[0], SCHEMA)
    jsonschema.validate(without_times(results[0]), SCHEMA)


def test_the_schema_refuses_what_is_not_a_result(results):
    wrong = json.loads(json.dumps(results[0]))
    wrong["tracks"][0]["scores"][0]["excess"] = "large"
    with pytest.raises(jsonschema.ValidationError, match="large"):
        jsonschema.validate(wrong, SCHEMA)


def test_the_same_seed_gives_the_same_table(results, tmp_path):
    again = runner.run(("steps", "games"), QUICK, tmp_path, FEW, jobs=1)
    assert without_times(again) == without_times(results[0])


def test_products_of_matrices_are_computed_by_one_thread(tmp_path, monkeypatch):
    from threadpoolctl import threadpool_info, threadpool_limits

    threads = []

    def measure(setting, scenario, names):
        threads.extend(each["num_threads"] for each in threadpool_info())
        return dict.fromkeys(names)

    steps = runner.TRACKS["steps"]
    monkeypatch.setitem(runner.TRACKS, "steps", steps._replace(measure=measure))
    with threadpool_limits(2):
        runner._measured("steps", QUICK, steps.scenarios(QUICK)[0], ["none"])
    assert set(threads) == {1}


def test_another_seed_gives_another_table(results, tmp_path):
    other = runner.run(("games",), QUICK._replace(seed=1), tmp_path, FEW, jobs=1)
    assert other["tracks"][0]["scores"] != results[0]["tracks"][1]["scores"]


def test_what_is_stored_is_not_measured_again_and_a_cut_line_is(results, monkeypatch):
    _, folder = results
    lines = (folder / "scores.jsonl").read_text().splitlines(keepends=True)
    (folder / "scores.jsonl").write_text("".join(lines[:-1]) + lines[-1][:20] + "\n")
    measured = []
    true = runner._measured

    def counting(track, setting, scenario, names):
        measured.append((track, len(names)))
        return true(track, setting, scenario, names)

    monkeypatch.setattr(runner, "_measured", counting)
    again = runner.run(("steps", "games"), QUICK, folder, FEW, jobs=1)
    assert measured == [("games", 1)]
    assert without_times(again) == without_times(results[0])


def test_holdfast_is_behind_in_no_scenario_of_one_nan(results):
    steps = results[0]["tracks"][0]
    assert [each["scenario"] for each in behind(steps)] == []


def test_the_text_is_at_most_110_characters_wide(results):
    assert max(len(line) for track in results[0]["tracks"] for line in as_text(track)) <= 110


def test_the_command_enters_a_file_and_writes_pages(tmp_path, capsys):
    entry = tmp_path / "careful.py"
    entry.write_text("class Rule:\n    def keep(self, size):\n        return size < 10.0\n")
    args = ["gauntlet", "--entry", str(entry), "--scenarios", "one NaN", "--jobs", "1"]
    assert main([*args, "--to", str(tmp_path / "out")]) == 0
    out = capsys.readouterr().out
    assert "careful (entry) in steps: place" in out
    assert "worst scenario" in out
    folder = tmp_path / "out" / "quick" / "entries" / "careful"
    page = (folder / "index.html").read_text(encoding="utf-8")
    for name in json.loads((folder / "results.json").read_text())["tracks"][0]["table"]:
        link = f"contestants/{file_name(name['contestant'])}.html"
        assert link in page
        assert (folder / link).is_file()
    assert "http" not in page


def test_an_entry_that_breaks_is_told_where_and_why(tmp_path, capsys):
    entry = tmp_path / "careless.py"
    entry.write_text("class Rule:\n    def keep(self, size):\n        raise ValueError('no idea')\n")
    args = ["gauntlet", "--entry", str(entry), "--track", "steps", "--scenarios", "gpt_clean: one NaN"]
    assert main([*args, "--jobs", "1", "--to", str(tmp_path / "out")]) == 0
    assert "  norms gpt_clean: one NaN: raised in step 0: no idea" in capsys.readouterr().out


def test_a_page_has_no_scenario_among_the_best_and_the_worst(results):
    few = {**results[0]["tracks"][1], "scores": results[0]["tracks"][1]["scores"]}
    part = _part(
        {**few, "scores": [*few["scores"], *(dict(each, scenario="other") for each in few["scores"])]}, "none"
    )
    assert not {name for name, _ in part["best"]} & {name for name, _ in part["worst"]}


def test_columns_of_the_text_are_apart(results):
    row = {**results[0]["tracks"][0]["table"][0], "excess_median": 2.5e7, "excess_worst": 3.9e10}
    line = list(as_text({**results[0]["tracks"][0], "table": [row]}))[-1]
    assert " x 2.5e+07 x 3.9e+10 " in line


def test_the_command_lists_scenarios_and_refuses_words_that_none_has(tmp_path, capsys):
    assert main(["gauntlet", "--quick", "--list", "--scenarios", "NaN"]) == 0
    assert "norms gpt_clean: one NaN" in capsys.readouterr().out
    assert main(["gauntlet", "--quick", "--scenarios", "nothing", "--to", str(tmp_path)]) == 2
    assert "try --list" in capsys.readouterr().err
