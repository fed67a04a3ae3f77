"""Settings as texts of the command line, and what they mean."""

import json

import pytest

import holdfast as hf
from holdfast.defaults import recommended
from holdfast.io.columns import Layout, SparseColumns
from holdfast.options import PYTHON, read_loss, read_outliers
from holdfast.runs.config import Settings
from holdfast.steady import Steady
from holdfast.terminal import Refusal


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ({}, "features have a running scale"),
        ({"scale": False}, "it needs a number of outliers"),
        ({"scale": False, "outliers": "none"}, "it needs a number of outliers"),
        ({"scale": False, "outliers": "5", "learner": "vaw"}, "the weights of vaw are not bounded"),
        ({"scale": False, "outliers": "5", "learner": "ogd:1"}, ""),
    ],
)
def test_a_certificate_needs_a_count_plain_features_and_a_bounded_domain(words, why):
    settings = Settings("y", loss="squared_error", **words)
    found = settings.why_no_certificate()
    assert why in found and bool(why) == bool(found)
    assert isinstance(settings.player(True), hf.Certified) == (not why)


def test_settings_are_the_same_after_json():
    settings = Settings("y", features=("a", "b"), labels=("x", "y"), key="who", scale=False)
    assert Settings.from_json(json.loads(json.dumps(settings.to_json()))) == settings


def test_memory_and_patience_are_numbers_of_rows():
    player = Settings("y", memory="50", patience="70").player(True)
    assert player == recommended(True, memory=50, patience=70)
    assert (player.learner.memories.max(), player.gate.patience) == (50.0, 70)
    with pytest.raises(Refusal, match="--memory must be auto, or a number of rows from 10"):
        Settings("y", memory="3").check()
    with pytest.raises(Refusal, match="--patience 70 is for the default learner"):
        Settings("y", patience="70", learner="adagrad").player(True)


@pytest.mark.parametrize("regression", [True, False])
@pytest.mark.parametrize("outliers", ["auto", "5%", "20", "none", "quantile:0.9"])
def test_every_budget_has_the_default_of_the_estimators(regression, outliers):
    player = Settings("y", outliers=outliers, memory="50", patience="70", delay=9).player(regression)
    assert player == recommended(regression, read_outliers(outliers), memory=50, patience=70, delay=9)
    assert isinstance(player, Steady)


def test_each_loss_is_that_of_the_regressions_and_of_their_judge():
    for name in ("absolute_error", "squared_error", "huber:2", "pinball:0.9", "epsilon_insensitive"):
        player = Settings("y", loss=name).player(True)
        assert player.loss == player.learner.loss == read_loss(name, True)


@pytest.mark.parametrize("delay", [0, -1, 1_000_001])
def test_a_delay_is_a_number_of_rows(delay):
    with pytest.raises(Refusal, match="--delay must be a number of rows from 1 to 1,000,000"):
        Settings("y", delay=delay).check()


@pytest.mark.parametrize("regression", [True, False])
@pytest.mark.parametrize("words", [{"learner": "adagrad"}, {"scale": False}, {"layout": "wide"}])
def test_a_delay_is_refused_where_the_player_is_not_judged_by_it(words, regression):
    words = dict(words)
    layout = Layout((SparseColumns("x", 101),)) if words.pop("layout", None) else None
    with pytest.raises(Refusal, match="--delay 50 is for the default learner"):
        Settings("y", delay=50, **words).player(regression, layout)
    Settings("y", **words).player(regression, layout)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ({"loss": "hinge"}, "--loss log_loss"),
        ({"learner": "adagrad"}, "--learner auto"),
        ({"scale": False}, "scaled features"),
    ],
)
def test_memory_and_patience_for_labels_need_that_default(words, why):
    with pytest.raises(Refusal, match=why):
        Settings("y", memory="50", patience="70", **words).player(False)
    assert not isinstance(Settings("y", **words).player(False), Steady)


def test_sparse_columns_have_a_learner_of_first_order():
    wide = Layout((SparseColumns("x", 101),))
    assert Settings("y").player(True, wide) == Settings("y", learner="adagrad").player(True)
    assert Settings("y").player(False, wide) == Settings("y", learner="adagrad").player(False)


@pytest.mark.parametrize("regression", [True, False])
def test_models_by_key_have_the_default_and_store_fewer_first_rounds(regression):
    words = {"outliers": "5%", "memory": "50", "patience": "70", "delay": 9}
    alone, keyed = Settings("y", **words), Settings("y", key="machine", **words)
    assert keyed.player(regression) == alone.player(regression)._replace(stored=32)


def test_settings_from_python_are_refused_in_its_words():
    with pytest.raises(ValueError, match=r'^outliers must be "auto"'):
        Settings("y", outliers="many").check(PYTHON)
    with pytest.raises(ValueError, match=r"^delay=50 is for the default learner"):
        Settings("y", delay=50, learner="adagrad").player(True, None, PYTHON)
    with pytest.raises(Refusal, match=r"^--missing must be auto, skip or impute: got 'fill'"):
        Settings("y", missing="fill").check()
