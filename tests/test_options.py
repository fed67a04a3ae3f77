"""Options from text and from objects, for Python, Spark and the command line."""

import math

import pytest

import holdfast as hf
from holdfast import options
from holdfast.options import (
    ALL_LEARNERS,
    LEARNERS,
    LOSSES,
    PYTHON,
    SPARK,
    TERMINAL,
    filter_for_training,
    loss_name,
    read_delay,
    read_learner,
    read_loss,
    read_missing,
    read_outliers,
    read_rows,
    refuse_without_default,
)
from holdfast.steady import Logits, Ridges
from holdfast.terminal import Refusal

ALL_WORDS = pytest.mark.parametrize("words", [PYTHON, SPARK, TERMINAL], ids=["python", "spark", "terminal"])


@ALL_WORDS
@pytest.mark.parametrize(
    ("value", "meaning"),
    [
        ("auto", "auto"),
        ("none", 0),
        ("0", 0),
        ("3%", 0.03),
        ("0.03", 0.03),
        (" 50 ", 50),
        ("1", 1),
        ("1e3", 1000),
        (0, 0),
        (0.0, 0),
        (0.03, 0.03),
        (50, 50),
        (50.0, 50),
        ("quantile:0.9", hf.Quantile(0.9, delta=1e-6)),
        (hf.TopK(3), hf.TopK(3)),
    ],
)
def test_outliers_are_a_share_below_a_half_a_whole_count_or_a_filter(value, meaning, words):
    found = read_outliers(value, words)
    assert found == meaning and type(found) is type(meaning)
    assert read_outliers(found, words) == found


@ALL_WORDS
@pytest.mark.parametrize(
    "text", ["", "many", "-1", "1.5", "100%", "nan", "inf", "quantile:2", "%", "1e300", "5e-1%%", "10000001"]
)
def test_other_texts_are_refused_and_the_allowed_ones_named(text, words):
    start = f"{words.name('outliers')} must be {words.word('auto')}, a share such as {words.word('1%')}"
    with pytest.raises(ValueError, match=start):
        read_outliers(text, words)


@pytest.mark.parametrize("value", [True, None, [1], hf.TopK, 1j])
def test_objects_of_another_type_are_refused(value):
    with pytest.raises(TypeError, match=r'outliers must be "auto", .*, or a filter: got'):
        read_outliers(value)


@ALL_WORDS
@pytest.mark.parametrize("value", [0.5, "50%", "0.9", 0.99])
def test_half_of_the_rows_cannot_be_outliers(value, words):
    with pytest.raises(ValueError, match=f"{words.name('outliers')} must be fewer than half"):
        read_outliers(value, words)


def test_training_has_a_share_a_whole_number_of_steps_or_a_filter_of_fixed_memory():
    assert filter_for_training("1%", 50, 2.0) == hf.TopShare(0.01, exact=True, window=50)
    assert filter_for_training(3, None, 1.5) == hf.TopK(3, slack=1.5)
    assert filter_for_training(hf.TopShare(0.1), 9, 2.0).exact
    for wrong in (0, -1, 1.5, True, "many", math.nan, "auto", hf.Quantile(0.9)):
        with pytest.raises((TypeError, ValueError), match="got"):
            filter_for_training(wrong, 50, 2.0)


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_has_one_name(name):
    assert read_loss(name, None) == LOSSES[name]
    assert loss_name(LOSSES[name]) == name


def test_some_losses_take_a_number():
    assert read_loss("huber:2", True) == hf.Huber(2.0)
    assert read_loss(loss_name(hf.losses.Pinball(0.9)), True) == hf.losses.Pinball(0.9)
    with pytest.raises(Refusal, match="--loss squared_error:2: squared_error takes no number"):
        read_loss("squared_error:2", True, TERMINAL)
    with pytest.raises(Refusal, match="--loss pinball:2: "):
        read_loss("pinball:2", True, TERMINAL)
    with pytest.raises(ValueError, match="loss='huber:x': 'x' is not a number"):
        read_loss("huber:x", True)


def test_losses_for_labels_are_refused_for_numbers_and_the_reverse():
    assert (read_loss("auto", True), read_loss(None, False)) == (hf.Absolute(), hf.Logistic())
    with pytest.raises(
        Refusal, match="--loss huber is for numbers, and the targets are labels: use one of hinge"
    ):
        read_loss("huber", False, TERMINAL)
    with pytest.raises(ValueError, match=r"^loss='hinge' is for labels, and the targets are numbers"):
        read_loss("hinge", True)
    with pytest.raises(ValueError, match=r"^Logistic\(\) is for labels"):
        read_loss(hf.Logistic(), True)


def test_a_learner_may_have_a_rate_or_a_radius():
    assert read_learner("adagrad:0.5", None) == type(LEARNERS["adagrad"])(hf.Box(-10.0, 10.0), 0.5, 1.0)
    assert read_learner("ogd:3", None) == hf.OGD(hf.Ball(3.0))
    with pytest.raises(Refusal, match=r"adagrad:RATE or ogd:RADIUS: got 'vaw:3'"):
        read_learner("vaw:3", None, TERMINAL)
    with pytest.raises(ValueError, match="learner='adagrad:fast': 'fast' is not a number"):
        read_learner("adagrad:fast", None)


@ALL_WORDS
@pytest.mark.parametrize("name", ALL_LEARNERS)
def test_a_learner_and_a_loss_that_do_not_go_together_are_named_as_they_were_written(name, words):
    for loss in LOSSES.values():
        try:
            assert read_learner(name, loss, words) is not None
        except ValueError as problem:
            text = str(problem)
            assert (repr(loss) in text) == words.objects
            assert (words.given("loss", loss_name(loss)) in text) == (not words.objects)
            assert words.objects or words.given("learner", name) in text
            assert ("--" in text) == (not words.python)


def test_a_learner_that_learns_with_another_loss_is_refused():
    with pytest.raises(ValueError, match=r"Ridges learns with Absolute\(\), not with Huber"):
        read_learner(Ridges(), hf.Huber())
    with pytest.raises(ValueError, match=r"Logits is made for logistic losses: use it with Logistic\(\)"):
        read_learner(Logits(), hf.Hinge())


@ALL_WORDS
def test_memory_and_patience_are_numbers_of_rows(words):
    assert read_rows("memory", "auto", words) is read_rows("memory", None, words) is None
    assert read_rows("memory", "50", words) == read_rows("memory", 50, words) == 50.0
    for wrong in ("3", 3, "nan", math.inf, True, "many", 10**400, 20_000_000):
        start = f"{words.name('memory')} must be {words.word('auto')}, or a number of rows from 10 to"
        with pytest.raises(ValueError, match=start):
            read_rows("memory", wrong, words)


@ALL_WORDS
def test_a_delay_is_a_number_of_rows(words):
    assert (read_delay(7, words), read_delay("batch", words, batch=True)) == (7, 0)
    for wrong in (0, -1, 1_000_001, 2.5, True, "batch", None):
        with pytest.raises(ValueError, match=f"{words.name('delay')} must be a number of rows from 1 to"):
            read_delay(wrong, words)


def test_the_allowed_words_for_missing_cells_are_listed():
    assert read_missing("skip") == "skip"
    with pytest.raises(ValueError, match='missing must be "impute", "skip" or "raise": got None'):
        read_missing(None)
    with pytest.raises(Refusal, match="--missing must be auto or skip: got 'impute'"):
        read_missing("impute", ("auto", "skip"), TERMINAL)


def test_what_only_the_default_has_is_refused_with_all_that_was_given():
    refuse_without_default("auto", None, 1)
    refuse_without_default("auto", None, "batch")
    with pytest.raises(ValueError, match=r"^memory=50 and delay=9 are for the default learner"):
        refuse_without_default(50, "auto", 9)
    with pytest.raises(Refusal, match=r"^--patience 70 is for the default learner [(]--learner auto"):
        refuse_without_default("auto", "70", 1, TERMINAL)


def test_no_word_of_the_command_line_is_in_an_error_of_python():
    """Every option with a wrong value, and those of the command line in no other words."""
    wrong = {
        "outliers": lambda words: read_outliers("many", words),
        "loss": lambda words: read_loss("cubic", True, words),
        "learner": lambda words: read_learner("newton", None, words),
        "memory": lambda words: read_rows("memory", "3", words),
        "delay": lambda words: read_delay(0, words),
        "missing": lambda words: read_missing("drop", options.MISSING, words),
    }
    for option, read in wrong.items():
        for words in (PYTHON, SPARK, TERMINAL):
            with pytest.raises(ValueError) as caught:
                read(words)
            assert str(caught.value).startswith(words.name(option))
            assert ("--" in str(caught.value)) == (words is TERMINAL)
            assert ('"' in str(caught.value)) <= words.python
            assert isinstance(caught.value, Refusal) == (words is TERMINAL)
