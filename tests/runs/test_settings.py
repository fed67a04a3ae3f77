"""Settings as texts of the command line, and what they mean."""

import json

import pytest

import holdfast as hf
from holdfast.defaults import recommended
from holdfast.io.columns import Layout, SparseColumns
from holdfast.runs.files import RunError
from holdfast.runs.settings import LOSSES, Settings, learner_for, loss_for, outliers_for
from holdfast.steady import Steady


@pytest.mark.parametrize(
    ("text", "meaning"),
    [("auto", "auto"), ("none", 0), ("3%", 0.03), ("0.03", 0.03), (" 50 ", 50), ("1", 1), ("1e3", 1000)],
)
def test_a_share_has_a_percent_sign_or_is_below_1_and_a_count_is_whole(text, meaning):
    found = outliers_for(text)
    assert found == meaning and type(found) is type(meaning)


def test_a_quantile_is_a_filter():
    assert outliers_for("quantile:0.9") == hf.Quantile(0.9, delta=1e-6)


@pytest.mark.parametrize("text", ["", "many", "-1", "0", "1.5", "100%", "nan", "inf", "quantile:2", "%"])
def test_other_texts_are_refused_and_the_allowed_ones_named(text):
    with pytest.raises(RunError, match="--outliers must be auto, a share such as 1%"):
        outliers_for(text)


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_is_found_by_name(name):
    assert type(loss_for(name, None)) is LOSSES[name]


def test_some_losses_take_a_number():
    assert loss_for("huber:2", True) == hf.Huber(2.0)
    with pytest.raises(RunError, match="--loss squared takes no number"):
        loss_for("squared:2", True)
    with pytest.raises(RunError, match="--loss pinball:2"):
        loss_for("pinball:2", True)


def test_losses_for_labels_are_refused_for_numbers_and_the_reverse():
    assert (loss_for("auto", True), loss_for("auto", False)) == (hf.Absolute(), hf.Logistic())
    with pytest.raises(RunError, match="is for numbers, and the target holds labels: use one of hinge"):
        loss_for("huber", False)


def test_a_learner_may_have_a_rate_or_a_radius():
    assert learner_for("adagrad:0.5").rate == 0.5
    assert learner_for("ogd:3") == hf.OGD(hf.Ball(3.0))
    with pytest.raises(RunError, match=r"adagrad:RATE or ogd:RADIUS: got 'vaw:3'"):
        learner_for("vaw:3")


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
    settings = Settings("y", loss="squared", **words)
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
    with pytest.raises(RunError, match="--memory must be auto, or a number of rows from 10"):
        Settings("y", memory="3").check()
    with pytest.raises(RunError, match="--memory and --patience are for --learner auto or second_order"):
        Settings("y", patience="70", learner="adagrad").player(True)


@pytest.mark.parametrize("regression", [True, False])
@pytest.mark.parametrize("outliers", ["auto", "5%", "20", "none", "quantile:0.9"])
def test_every_budget_has_the_default_of_the_estimators(regression, outliers):
    player = Settings("y", outliers=outliers, memory="50", patience="70", delay=9).player(regression)
    assert player == recommended(regression, outliers_for(outliers), memory=50, patience=70, delay=9)
    assert isinstance(player, Steady)


def test_each_loss_is_that_of_the_regressions_and_of_their_judge():
    for name in ("absolute", "squared", "huber:2", "pinball:0.9", "epsilon_insensitive"):
        player = Settings("y", loss=name).player(True)
        assert player.loss == player.learner.loss == loss_for(name, True)


@pytest.mark.parametrize("delay", [0, -1, 1_000_001])
def test_a_delay_is_a_number_of_rows(delay):
    with pytest.raises(RunError, match="--delay counts rows, from 1 to 1,000,000"):
        Settings("y", delay=delay).check()


@pytest.mark.parametrize("regression", [True, False])
@pytest.mark.parametrize("words", [{"learner": "adagrad"}, {"scale": False}, {"layout": "wide"}])
def test_a_delay_is_refused_where_the_player_is_not_judged_by_it(words, regression):
    words = dict(words)
    layout = Layout((SparseColumns("x", 101),)) if words.pop("layout", None) else None
    with pytest.raises(RunError, match="--delay is for --learner auto"):
        Settings("y", delay=50, **words).player(regression, layout)
    Settings("y", **words).player(regression, layout)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ({"loss": "hinge"}, "--loss logistic"),
        ({"learner": "adagrad"}, "--learner auto"),
        ({"scale": False}, "scaled features"),
    ],
)
def test_memory_and_patience_for_labels_need_that_default(words, why):
    with pytest.raises(RunError, match=why):
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
