"""Released rows are learned from whatever the filters say; everything else of the run stays."""

import copy
import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from cli.conftest import bits
from guards import guarded
from runs.small import called, learned, refused, write_source

from holdfast import OGD, Absolute, AdaGrad, Ball, Box, Scaled, TopK
from holdfast.adversaries import Replay
from holdfast.certificates.certified import Certified
from holdfast.cli.exits import Failure
from holdfast.defaults import recommended
from holdfast.filters import Everything
from holdfast.play import play
from holdfast.rounds import Round, after_round
from holdfast.runs.release import Unfiltered, without_filters
from holdfast.runs.run import Run, open_run
from holdfast.steady.state import EPOCH, ROUNDS
from holdfast.terminal import STOPPED

PLAYERS = {
    "guarded": guarded(Scaled(AdaGrad(Box(-10.0, 10.0)), target=True)),
    "certified": Certified(guarded(OGD(Ball(5.0)), TopK(3), Everything(), TopK(3)), 3),
}


@pytest.mark.parametrize("name", PLAYERS)
def test_a_released_round_is_learned_from_as_without_filters(name):
    player = PLAYERS[name]
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 2))
    record = play(player, Replay(X, X @ [1.0, -2.0], Absolute()), compiled=False)
    state, x, y, slope = record.state[0], np.array([40.0, -30.0]), 500.0, -1.0
    refused_state, verdict = player.observe(copy.deepcopy(state), Round(slope, x, y))
    assert not verdict.kept
    free = Unfiltered(player)
    after, verdict = free.observe(copy.deepcopy(state), Round(slope, x, y))
    assert verdict.kept

    def core(found):
        return found.inner if name == "certified" else found

    learner = player.core().learner
    expected = after_round(learner, copy.deepcopy(core(state)).learner, Round(slope, x, y))
    assert same(core(after).learner, expected)
    assert not same(core(after).learner, core(refused_state).learner)
    assert same(core(after)._replace(learner=0), core(state)._replace(learner=0))


@pytest.mark.parametrize("regression", [True, False])
def test_a_released_round_of_the_default_moves_only_what_predicts(regression):
    player, rng = recommended(regression, delay=50), np.random.default_rng(4)
    X = rng.normal(size=(220, 2))
    y = X @ [1.0, -2.0]
    record = play(player, Replay(X, y if regression else np.sign(y), player.loss), compiled=False)
    state, x, y = record.state[0], np.array([4000.0, -3000.0]), 500.0 if regression else -1.0
    assert not player.observe(copy.deepcopy(state), Round(-1.0, x, y))[1].kept
    free = without_filters(player)
    after, verdict = free.observe(copy.deepcopy(state), Round(-1.0, x, y))
    assert verdict.kept
    changed = {name for name in state._fields if not same(getattr(after, name), getattr(state, name))}
    assert {"learner", "fallback", "v"} <= changed <= {"learner", "fallback", "v", "row", "numbers"}
    assert same(
        *(found.numbers[[EPOCH, ROUNDS]] for found in (after, state))
    )  # the range of targets may change
    assert not free.observe(copy.deepcopy(state), Round(-1.0, x * np.inf, y))[1].kept


def same(one, other):
    """Whether two states are equal, bit by bit."""
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return np.array_equal(np.asarray(one), np.asarray(other), equal_nan=np.asarray(one).dtype.kind == "f")


@pytest.fixture
def quarantined(tmp_path):
    source = write_source(tmp_path / "rows.csv", 150)
    run = learned(source, tmp_path / "run", "--learner", "adagrad")
    assert called("audit", run, "--skipped", tmp_path / "quarantine.csv")[0] == 0
    return run, tmp_path / "quarantine.csv", pacsv.read_csv(tmp_path / "quarantine.csv")


def released(run, file):
    status, out, said = called("release", run, file, "--json")
    assert status == 0, said
    return json.loads(out)


def test_a_row_is_released_once_and_recorded(quarantined):
    run, file, rows = quarantined
    before = {name: text for name, text in bits(run).items() if name in ("audit", "sizes")}
    metrics = json.loads((run / "metrics.json").read_text())
    assert released(run, file) == {"released": rows.num_rows, "others": 0}
    assert released(run, file) == {"released": 0, "others": rows.num_rows}
    found = pq.read_table(run / "released").to_pydict()
    assert found["row"] == rows.column("skipped_row").to_pylist()
    assert set(found["round"]) == {150} and set(found["file"]) == {str(file)}
    after = json.loads((run / "metrics.json").read_text())
    assert after == metrics | {"released": rows.num_rows}
    assert {name: bits(run)[name] for name in before} == before
    assert f"Released later: {rows.num_rows}." in called("audit", run)[1]
    assert called("audit", run, "--replay", "auto", "--json")[0] == 0


def test_values_that_were_corrected_are_learned_from(quarantined, tmp_path):
    run, file, rows = quarantined
    weights = {}
    for factor in (1.0, 1e-3):
        copied = tmp_path / f"run-{factor}"
        shutil.copytree(run, copied)
        changed = {name: rows.column(name) for name in rows.column_names}
        changed["a"] = pa.array(factor * rows.column("a").to_numpy())
        pacsv.write_csv(pa.table(changed), file)
        assert released(copied, file)["released"] == rows.num_rows
        weights[factor] = (copied / "model.safetensors").read_bytes()
    assert weights[1.0] != weights[1e-3] != (run / "model.safetensors").read_bytes()


def test_only_rows_that_were_skipped_and_can_be_read_are_released(quarantined):
    run, file, rows = quarantined
    skipped = rows.column("skipped_row").to_pylist()
    kept = next(row for row in range(100, 150) if row not in skipped)
    lines = file.read_text().splitlines()
    head, one, two, three = lines[0], *(line.split(",") for line in lines[1:4])
    one[0], two[-1], three[-4] = str(kept), "", "x"
    file.write_text("\n".join([head, *map(",".join, (one, two, three)), lines[4], lines[4]]) + "\n")
    assert released(run, file) == {"released": 1, "others": 4}


def test_a_release_that_was_killed_is_complete_or_did_not_happen(quarantined, tmp_path, monkeypatch):
    run, file, rows = quarantined
    whole = shutil.copytree(run, tmp_path / "whole")
    released(whole, file)
    for expected in (0, rows.num_rows):  # killed before and after the checkpoint

        def killed(run, expected=expected):
            if expected:
                run.checkpoint(last=True)
            raise Failure(STOPPED)

        with monkeypatch.context() as patch:
            patch.setattr(Run, "save", killed)
            assert called("release", run, file)[0] == STOPPED
        assert len(list((run / "released").glob("*"))) == (1 if expected else 0)
    assert released(run, file) == {"released": 0, "others": rows.num_rows}
    assert (run / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()


def test_the_run_resumes_after_a_release(quarantined, tmp_path):
    run, file, rows = quarantined
    released(run, file)
    source = tmp_path / "rows.csv"
    source.write_text(source.read_text() + "1.0,2.0,p,-3.0\n")
    args = ("--target", "y", "--drop", "who", "--learner", "adagrad", "--to", run, "--resume", "--quiet")
    assert called("learn", source, *args)[0] == 0
    metrics = json.loads((run / "metrics.json").read_text())
    assert (metrics["rounds"], metrics["released"]) == (151, rows.num_rows)


def test_a_released_row_ends_the_certificate(tmp_path):
    source = write_source(tmp_path / "rows.csv")
    run = learned(source, tmp_path / "run", "--no-scale", "--outliers", "8", "--learner", "ogd:5")
    assert json.loads((run / "certificate.json").read_text())["proves"]
    called("audit", run, "--skipped", tmp_path / "quarantine.csv")
    assert released(run, tmp_path / "quarantine.csv")["released"] > 0
    found = json.loads((run / "certificate.json").read_text())
    assert found["proves"] is None and "were released" in found["words"]
    assert "were released" in " ".join(called("inspect", run)[1].split())  # it is in lines of 80 columns


@pytest.mark.parametrize("args", [("--target", "who"), ("--target", "y", "--key", "who")])
def test_labels_and_keys_can_be_released(tmp_path, args):
    source = write_source(tmp_path / "rows.csv", 150)
    run = tmp_path / "run"
    assert called("learn", source, *args, "--learner", "adagrad", "--to", run, "--quiet")[0] == 0
    before = (run / "model.safetensors").read_bytes()
    called("audit", run, "--skipped", tmp_path / "quarantine.parquet")
    assert released(run, tmp_path / "quarantine.parquet")["others"] == 0
    after = (run / "model.safetensors").read_bytes()
    assert before != after == open_run(run).model().to_bytes()  # the checkpoint has what was learned


def test_another_file_is_one_sentence(quarantined, tmp_path):
    run, _, _ = quarantined
    _, _, said = answer = called("release", run, tmp_path / "rows.csv")
    assert refused(answer) and "skipped_row" in said
    assert refused(called("release", tmp_path, tmp_path / "rows.csv"))
    assert refused(called("release", run, tmp_path / "nothing.csv"))
