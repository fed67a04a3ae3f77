"""Options for operations: --metrics, --fail-if-skipped and --config."""

import json

import pytest
from runs.small import called, write_source

from holdfast.cli.main import main
from holdfast.runs.run import Run


@pytest.fixture
def source(tmp_path):
    return write_source(tmp_path / "rows.csv")


@pytest.fixture
def learn(source, tmp_path):
    def run(*args, quiet=True):
        where = ("--to", tmp_path / "run", "--learner", "adagrad", *(["--quiet"] if quiet else []))
        return called("learn", source, *where, *args)

    return run


def figures(path):
    """The samples of a text file, by name and labels."""
    from prometheus_client.parser import text_string_to_metric_families

    found = text_string_to_metric_families(path.read_text())
    return {(s.name, *sorted(s.labels.items())): s.value for family in found for s in family.samples}


TARGET = ("--target", "y", "--drop", "who")


# -- metrics


def test_the_metrics_are_those_of_the_run(learn, tmp_path):
    assert learn(*TARGET, "--metrics", tmp_path / "run.prom")[0] == 0
    found, metrics = figures(tmp_path / "run.prom"), json.loads((tmp_path / "run/metrics.json").read_text())
    run = ("run", "run")
    for name in ("rounds", "skipped", "error", "error_of_all_rounds"):
        assert found[f"holdfast_{name}", run] == metrics[name]
    assert found["holdfast_finished", run] == 1.0
    reasons = {key[1][1]: value for key, value in found.items() if key[0] == "holdfast_skipped_by_reason"}
    assert reasons == metrics["skipped_by_reason"]


def test_metrics_are_written_at_each_checkpoint(learn, tmp_path, monkeypatch):
    seen, checkpoint = [], Run.checkpoint

    def looked_at(run, last=False):
        before = figures(tmp_path / "run.prom")["holdfast_rounds", ("run", "run")]
        checkpoint(run, last)
        seen.append((before, figures(tmp_path / "run.prom")["holdfast_rounds", ("run", "run")]))

    monkeypatch.setattr(Run, "checkpoint", looked_at)
    monkeypatch.setattr("holdfast.runs.run._INTERPRETED", 20)
    learn(*TARGET, "--metrics", tmp_path / "run.prom", "--checkpoint", "20")
    assert seen == [(0.0, 20.0), (20.0, 40.0), (40.0, 60.0), (60.0, 60.0)]
    assert not list(tmp_path.glob(".run.prom*"))


def test_with_keys_the_metrics_count_them(learn, tmp_path):
    learn("--target", "y", "--key", "who", "--metrics", tmp_path / "run.prom")
    found = figures(tmp_path / "run.prom")
    assert found["holdfast_keys", ("run", "run")] == 3.0
    assert found["holdfast_keys_evicted", ("run", "run")] == 0.0


def test_metrics_that_cannot_be_written_are_a_sentence(learn, tmp_path):
    status, _, said = learn(*TARGET, "--metrics", tmp_path / "no folder" / "x.prom")
    assert status == 1
    assert said.startswith("holdfast: ") and "x.prom" in said and said.count("\n") == 1


# -- fail-if-skipped


def test_too_many_skipped_rows_have_their_own_exit_status(learn, tmp_path):
    status, _, said = learn(*TARGET, "--fail-if-skipped", "2%")
    assert status == 3
    assert "more than --fail-if-skipped 2%; what was learned is saved" in said
    metrics = json.loads((tmp_path / "run/metrics.json").read_text())
    assert f"{metrics['skipped']} of 60 rows were skipped" in said


def test_only_new_rows_count_after_resume(learn, source, tmp_path):
    whole = source.read_bytes()
    source.write_bytes(b"".join(whole.splitlines(keepends=True)[:41]))
    assert learn(*TARGET, "--fail-if-skipped", "2%")[0] == 3
    source.write_bytes(whole)
    skipped = json.loads((tmp_path / "run/metrics.json").read_text())["skipped"]
    status, _, said = learn(*TARGET, "--fail-if-skipped", "2%", "--resume")
    new = json.loads((tmp_path / "run/metrics.json").read_text())["skipped"] - skipped
    assert (status == 3) == (new > 0.02 * 20)
    assert f"{new} of 20 rows" in said or status == 0
    assert learn(*TARGET, "--fail-if-skipped", "2%", "--resume")[0] == 0  # no new rows


@pytest.mark.parametrize("limit", ["99%", "0.99"])
def test_few_skipped_rows_are_no_failure(learn, limit):
    assert learn(*TARGET, "--fail-if-skipped", limit)[0] == 0


@pytest.mark.parametrize("limit", ["20", "x", "-1%", "nan", "100%"])
def test_a_wrong_share_is_a_wrong_call(source, limit, capsys):
    with pytest.raises(SystemExit) as end:
        main(["learn", str(source), "--target", "y", f"--fail-if-skipped={limit}"])
    assert end.value.code == 2
    assert f"a share such as 20% or 0.2: got '{limit}'" in capsys.readouterr().err


# -- config


def test_options_from_a_file_are_those_of_the_command_line(learn, source, tmp_path):
    text = 'target = "y"\ndrop = ["who"]\noutliers = "5%"\nno-sizes = true\nreport = false\ncheckpoint = 30\n'
    (tmp_path / "learn.toml").write_text(text)
    status, _, said = learn("--config", tmp_path / "learn.toml")
    assert status == 0, said
    settings = json.loads((tmp_path / "run/config.json").read_text())["settings"]
    assert (settings["drop"], settings["outliers"], settings["sizes"]) == (["who"], "5%", False)
    assert not (tmp_path / "run/report.html").exists()


def test_the_command_line_counts_more_than_the_file(learn, tmp_path):
    (tmp_path / "learn.toml").write_text('target = "a"\ndrop = "who"\n')
    assert learn(f"--config={tmp_path / 'learn.toml'}", "--target", "y")[0] == 0
    assert json.loads((tmp_path / "run/config.json").read_text())["settings"]["target"] == "y"


def test_the_file_is_read_if_the_option_is_abbreviated(learn, tmp_path):
    """As argparse allows for every option."""
    (tmp_path / "learn.toml").write_text('target = "y"\ndrop = "who"\n')
    assert learn("--conf", tmp_path / "learn.toml")[0] == 0


def test_the_file_may_begin_with_a_byte_order_mark(learn, tmp_path):
    (tmp_path / "learn.toml").write_text('target = "y"\ndrop = "who"\n', encoding="utf-8-sig")
    assert learn("--config", tmp_path / "learn.toml")[0] == 0


def test_an_option_replaces_one_of_the_file_that_it_excludes(learn, tmp_path):
    (tmp_path / "learn.toml").write_text('target = "y"\nfeatures = "a"\n')
    assert learn("--config", tmp_path / "learn.toml", "--drop", "who")[0] == 0
    settings = json.loads((tmp_path / "run/config.json").read_text())["settings"]
    assert (settings["features"], settings["drop"]) == ([], ["who"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('tarGet = "y"', "there is no option 'tarGet'"),
        ('config = "x"', "there is no option 'config'"),
        ("[learn]\ntarget = 'y'", "there is no option 'learn'"),
        ("target = true", "target is a text, a number or a list of these: got 'True'"),
        ("no-scale = 1", "no-scale is true or false: got '1'"),
        ("target =", "is not TOML"),
        ("target = 2020-01-01", "target is a text, a number or a list of these"),
        (b"\xff", "is not TOML"),
        ("memory = " + 5000 * "1", "is not TOML"),
        ("memory = 0x" + 5000 * "f", "memory has a number of too many digits"),
        ('target = "y"\nto = "a\\u0000b"', "to has a character that no option can have"),
        ('target = "y"\nmetrics = ["a\\u0000"]', "metrics has a character that no option can have"),
        (None, "No such file"),
    ],
)
def test_a_wrong_file_is_a_sentence(source, tmp_path, text, words, capsys):
    path = tmp_path / "learn.toml"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SystemExit) as end:
        main(["learn", str(source), "--config", str(path), "--to", str(tmp_path / "run")])
    assert end.value.code == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert words in said and str(path) in said
    assert not (tmp_path / "run").exists()
