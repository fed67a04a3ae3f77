"""Recent results, the baseline and the confusion of labels, for all batches, and as computed slowly."""

import numpy as np
import pytest

from holdfast.intervals.widths import LABELS, Widths
from holdfast.intervals.widths import NUMBERS as WIDTHS
from holdfast.runs.answers import RECENT, Answers

ROUNDS = 2_500
RNG = np.random.default_rng(5)
KEPT = RNG.random(ROUNDS) < 0.9
NUMBERS = np.where(RNG.random(ROUNDS) < 0.02, np.nan, 3.0 + RNG.normal(size=ROUNDS))
CUTS = pytest.mark.parametrize("cuts", [[], [1], [64, 65, 2000], list(range(7, ROUNDS, 7))], ids=len)


def numbers(cuts=()):
    answers, predicted = Answers(0), np.sin(np.arange(ROUNDS))
    for start, stop in zip([0, *cuts], [*cuts, ROUNDS], strict=True):
        some = predicted[start:stop]
        answers.add(some[:, None], some, NUMBERS[start:stop], KEPT[start:stop])
    return answers, predicted


def labels(count, cuts=()):
    answers, rng = Answers(count), np.random.default_rng(count)
    outcomes = rng.normal(size=(ROUNDS, 1 if count == 2 else count))
    predicted = (outcomes[:, 0] > 0 if count == 2 else outcomes.argmax(axis=1)).astype(float)
    y = np.where(rng.random(ROUNDS) < 0.7, predicted, rng.integers(count, size=ROUNDS)).astype(float)
    for start, stop in zip([0, *cuts], [*cuts, ROUNDS], strict=True):
        some = slice(start, stop)
        answers.add(outcomes[some], predicted[some], y[some], KEPT[some])
    return answers, outcomes, predicted, y


@CUTS
def test_the_answers_do_not_depend_on_batches(cuts):
    for one, other in (
        (numbers()[0], numbers(cuts)[0]),
        (labels(2)[0], labels(2, cuts)[0]),
        (labels(5)[0], labels(5, cuts)[0]),
    ):
        assert all(np.array_equal(value, other.state()[name]) for name, value in one.state().items())


def test_the_baseline_for_numbers_is_the_mean_of_the_targets_before():
    answers, _ = numbers()
    known = KEPT & ~np.isnan(NUMBERS)
    y = NUMBERS[known]
    slow = [abs(y[i] - (y[:i].mean() if i else 0.0)) for i in range(len(y))]
    assert answers.baseline_error() == pytest.approx(np.mean(slow))


def test_widths_follow_the_errors_of_all_rounds():
    answers, predicted = numbers()
    widths = Widths(WIDTHS)
    widths.add_forecasts(predicted, NUMBERS)
    assert np.array_equal(answers.widths.numbers(), widths.numbers())


@pytest.mark.parametrize("count", [2, 5])
def test_widths_of_labels_follow_the_margin_of_the_right_label(count):
    answers, outcomes, _, y = labels(count)
    margins = outcomes[:, 0] * (2.0 * y - 1.0) if count == 2 else outcomes[np.arange(ROUNDS), y.astype(int)]
    widths = Widths(LABELS)
    widths.add(np.exp(-margins))
    assert np.array_equal(answers.widths.numbers(), widths.numbers())


@pytest.mark.parametrize("count", [2, 5])
def test_the_baseline_for_labels_is_the_most_frequent_one_before(count):
    answers, outcomes, predicted, y = labels(count)
    y, predicted, outcomes = y[KEPT], predicted[KEPT], outcomes[KEPT]
    slow = [y[i] != np.bincount(y[:i].astype(int), minlength=count).argmax() for i in range(len(y))]
    assert answers.baseline_error() == pytest.approx(np.mean(slow))
    assert answers.confusion.sum() == len(y)
    assert np.trace(answers.confusion) == (y == predicted).sum()
    assert answers.confusion[1, 0] == ((y == 1) & (predicted == 0)).sum()
    lead = outcomes[:, 0] if count == 2 else np.diff(np.sort(outcomes, axis=1)[:, -2:])[:, 0]
    assert np.array_equal(answers.recent[:, 0], lead[-RECENT:])
    assert np.array_equal(answers.recent[:, 1], (y if count == 2 else y == predicted)[-RECENT:])


def test_answers_continue_from_their_saved_state_and_refuse_another():
    answers, again = numbers()[0], Answers(0)
    again.load(answers.state())
    assert all(np.array_equal(value, again.state()[name]) for name, value in answers.state().items())
    for wrong in ({"recent": np.zeros((RECENT + 1, 2))}, {"targets": np.zeros(3)}, {"baseline": np.zeros(1)}):
        with pytest.raises(ValueError, match=r"recent|numbers"):
            Answers(0).load(answers.state() | wrong)


def test_huge_targets_do_not_end_in_an_infinite_baseline():
    answers, y = Answers(0), np.array([1e308, 1e308, -1e308])
    answers.add(y[:, None], y, y, np.ones(3, bool))
    assert answers.baseline_error() is None or np.isfinite(answers.baseline_error())
