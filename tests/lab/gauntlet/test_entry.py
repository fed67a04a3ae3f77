"""Files that enter: those of the page as they are, and what is said of wrong ones."""

import re
from pathlib import Path

import numpy as np
import pytest

from holdfast_lab.gauntlet.entry import read_entry
from holdfast_lab.gauntlet.learners import Known
from holdfast_lab.gauntlet.optimizers import Recorder

PAGE = (Path(__file__).parents[3] / "docs" / "gauntlet.md").read_text(encoding="utf-8")
RULE, MODEL, WRAPPER = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture
def entered(tmp_path):
    def enter(text, name="mine"):
        path = tmp_path / f"{name}.py"
        path.write_text(text, encoding="utf-8")
        return read_entry(path)

    return enter


def arrived(entry, norms, bad=0):
    recorder, found = Recorder(), []
    stepping = entry.stepper.make(recorder, bad)
    for norm in norms:
        recorder.arrived[:] = 0.0
        stepping.step([np.array([norm])])
        found.append(float(recorder.arrived[0]))
    return found


def test_the_rule_of_the_page_plays_all_tracks(entered):
    entry = entered(RULE)
    assert entry.name == "mine (entry)"
    assert entry.tracks() == ("streams", "steps", "games")
    assert arrived(entry, [1.0, 1.0, 50.0, float("nan"), 1.0]) == [1.0, 1.0, 0.0, 0.0, 1.0]


def test_the_rule_of_the_page_learns_a_stream(entered):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 3))
    y = X @ np.ones(3)
    model = entered(RULE).learner.make(Known(True, 0))
    model.partial_fit(X, y)
    assert np.abs(model.predict(X) - y).mean() < 0.2


def test_the_learner_of_the_page_plays_streams(entered):
    entry = entered(MODEL)
    assert entry.tracks() == ("streams",)
    model = entry.learner.make(Known(True, 0))
    X = np.random.default_rng(0).standard_normal((50, 3))
    model.partial_fit(X, X @ np.ones(3))
    np.testing.assert_allclose(model.predict(X), X @ np.ones(3), atol=1e-9)


def test_the_learner_of_the_page_takes_a_first_batch_that_is_longer_than_its_window(entered):
    model = entered(MODEL).learner.make(Known(True, 0))
    X = np.random.default_rng(0).standard_normal((500, 3))
    model.partial_fit(X, X @ np.ones(3))
    np.testing.assert_allclose(model.predict(X), X @ np.ones(3), atol=1e-9)


def test_the_wrapper_of_the_page_plays_steps_and_games(entered):
    entry = entered(WRAPPER)
    assert entry.tracks() == ("steps", "games")
    assert arrived(entry, [0.5, 7.0, float("inf")]) == [0.5, 1.0, 0.0]


def test_who_asks_is_told_how_many_are_bad_and_marked(entered):
    text = "TOLD = 'k'\nNAME = 'curious'\nclass Rule:\n    def __init__(self, k):\n        self.k = k\n"
    entry = entered(text + "    def keep(self, size):\n        return size < self.k\n")
    assert entry.name == "curious (entry)"
    assert entry.stepper.told
    assert entry.learner.told
    assert arrived(entry, [2.0, 4.0], bad=3) == [2.0, 0.0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1", "has none of"),
        ("class Rule:\n    def skip(self, size): ...", "no method keep"),
        ("class Model:\n    def predict(self, X): ...", "no method partial_fit"),
        ("TOLD = 'all'\nclass Rule:\n    def keep(self, size): ...", "TOLD"),
    ],
)
def test_wrong_files_get_a_sentence(entered, text, words):
    with pytest.raises(ValueError, match=words):
        entered(text)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.py"):
        read_entry(tmp_path / "nothing.py")
