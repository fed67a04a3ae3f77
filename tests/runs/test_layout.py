"""A changed layout of a file is recognised by its digest, without a version number to raise by hand."""

import pickle
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest
from runs.small import called, learned, refused, write_source

from holdfast.flatten import layout_digest
from holdfast.fleet.games import Games
from holdfast.learners.adagrad import AdaGradState
from holdfast.linear_model import empty_models
from holdfast.runs import checkpoint, model
from holdfast.runs.config import Settings
from holdfast.sketches import LogHistogram, histogram


def named(*fields, name="State"):
    """A state of a new class, from pairs of a name and a value."""
    made = NamedTuple(name, [(field, type(value)) for field, value in fields])
    return made(*(value for _, value in fields))


W, ROUNDS, FIRST = ("w", np.zeros(3)), ("rounds", 0), ("first", True)
CHANGED = {
    "renamed": named(("v", np.zeros(3)), ROUNDS, FIRST),
    "reordered": named(ROUNDS, W, FIRST),
    "another dtype": named(("w", np.zeros(3, np.int64)), ROUNDS, FIRST),
    "another length": named(("w", np.zeros(4)), ROUNDS, FIRST),
    "another shape": named(("w", np.zeros((3, 1))), ROUNDS, FIRST),
    "another type": named(W, ("rounds", 0.0), FIRST),
    "a truth value": named(W, ("rounds", False), FIRST),
    "one more": named(W, ROUNDS, FIRST, ("last", 0.0)),
    "one less": named(W, ROUNDS),
    "nested": named(("w", named(W)), ROUNDS, FIRST),
    "another class": named(W, ROUNDS, FIRST, name="Other"),
}


@pytest.mark.parametrize("how", CHANGED)
def test_a_changed_layout_has_another_digest(how):
    assert layout_digest(CHANGED[how]) != layout_digest(named(W, ROUNDS, FIRST))


def test_values_and_modules_do_not_change_the_digest():
    other = named(("w", np.ones(3)), ("rounds", np.int64(7)), ("first", np.bool_(False)))
    type(other).__module__ = "elsewhere"
    assert layout_digest(other) == layout_digest(named(W, ROUNDS, FIRST))


def test_two_changes_have_two_digests():
    assert len(set(map(layout_digest, CHANGED.values()))) == len(CHANGED)


def test_a_histogram_with_other_buckets_has_another_digest(monkeypatch):
    sketch = LogHistogram.empty()
    before = layout_digest(sketch)
    assert layout_digest(sketch.push(3.0)) == before
    monkeypatch.setattr(histogram, "_BITS", 6)
    assert layout_digest(sketch) != before


def test_a_state_with_a_text_has_no_layout():
    with pytest.raises(TypeError, match="got str"):
        layout_digest(named(("w", "text")))


def test_another_process_and_a_pickle_give_the_same_digest():
    state = Settings("y").player(True).init(3)
    assert layout_digest(pickle.loads(pickle.dumps(state))) == layout_digest(state)
    code = "from holdfast.runs.config import Settings; from holdfast.flatten import layout_digest\n"
    code += "print(layout_digest(Settings('y').player(True).init(3)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == layout_digest(state)


# -- folders


@pytest.fixture
def source(tmp_path):
    return write_source(tmp_path / "rows.csv")


def resumed(source, run, *args):
    where = ("--to", run, "--resume", "--quiet")
    return called("learn", source, "--target", "y", "--drop", "who", *where, *args)


def files(run):
    return {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}


@pytest.mark.parametrize("args", [("--learner", "adagrad"), ("--learner", "adagrad", "--key", "who")])
def test_states_of_another_layout_are_not_resumed(source, tmp_path, args):
    """The run was written by a version with another name for a field of the state."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AdaGradState, "_fields", ("weights", *AdaGradState._fields[1:]))
        run = learned(source, tmp_path / "run", *args)
        assert not refused(resumed(source, run, *args))
    before = files(run)
    answer = resumed(source, run, *args)
    assert refused(answer)
    assert "checkpoint.safetensors: the states have another layout than in this version" in answer[2]
    assert "another folder with --to" in answer[2]
    assert refused(called("audit", run)) and refused(called("inspect", run))
    assert not refused(called("predict", run, source))  # the model has a layout of its own
    assert files(run) == before
    assert not refused(called("learn", source, "--target", "y", "--drop", "who", "--to", tmp_path / "again"))


def test_a_state_of_other_settings_is_another_layout():
    def games(**settings):
        return Games(Settings("y", **settings).player(True), 2, None, ("",)).layout

    assert games() != games(learner="ogd")
    assert games() == games(loss="absolute_error")


@pytest.mark.parametrize("change", ["column", "header"])
def test_tables_of_another_layout_are_refused_but_the_model_predicts(source, tmp_path, monkeypatch, change):
    run = learned(source, tmp_path / "run")
    if change == "column":
        monkeypatch.setitem(checkpoint._ONE_KEY, "games.counts", ("kept", "rounds", "unmeasured"))
    else:
        layout = checkpoint.table_layout()
        monkeypatch.setattr(checkpoint, "table_layout", lambda: [[*layout[0], "more"], *layout[1:]])
    for answer in (
        resumed(source, run),
        *(called(command, run) for command in ("report", "audit", "inspect")),
    ):
        assert refused(answer)
        assert "the tables have another layout" in answer[2]
    assert not refused(called("predict", run, source))


@pytest.mark.parametrize(("name", "kind"), [("bias", "float64"), ("constant", "float32")])
def test_a_model_of_another_layout_does_not_predict(source, tmp_path, monkeypatch, name, kind):
    run = learned(source, tmp_path / "run")
    changed = {each: what for each, what in model._LAYOUT.items() if each != "constant"}
    monkeypatch.setattr(model, "_LAYOUT", changed | {name: [kind, ("games",)]})
    answer = called("predict", run, source)
    assert refused(answer)
    assert "model.safetensors: the parameters have another layout" in answer[2]


def test_the_number_of_keys_and_features_does_not_change_the_layout_of_a_model():
    for shape in ((1, 2), (30, 4)):
        assert model._layout(empty_models(*shape)._asdict()) == model._LAYOUT
