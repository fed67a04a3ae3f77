"""A journal forgets rows: afterwards the model is, bit for bit, one that never saw them."""

import contextlib
import copy
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from laws import same
from samples import GUARDED, LEARNERS, STEADY

import holdfast as hf
from holdfast.journal import Forgotten, Journal
from holdfast.learners.needs import FEATURES
from holdfast.sklearn import RobustClassifier, RobustRegressor

FORGETFUL = hf.Filtered(hf.learners.RobustRidge(memory=3), hf.Everything())
CASES = int(os.environ.get("HOLDFAST_RETRACTION_CASES", "1500"))  # of each player, if exhaustive
QUIET = settings(suppress_health_check=list(HealthCheck), deadline=None)
PLAYERS = [
    hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(5)),
    hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopShare(0.1, window=30)),
    FORGETFUL,
    GUARDED[1],
    STEADY[0],
]


def stream(rounds, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rounds, 2))
    y = X @ [1.0, -2.0] + 0.1 * rng.standard_normal(rounds)
    X[5::11] *= 100.0
    X[9::23, 0] = np.nan
    if seed % 2:  # wild targets, and rows that are equal
        y[3::17] += 1e3 * rng.standard_normal(len(y[3::17]))
        X[20:24] = X[20]
    return X, y


def learned(player, X, y, every=7):
    journal = Journal(hf.Player(player, 2, compiled=False), every)
    for x, target in zip(X, y, strict=True):
        journal.learn(x, target, hf.Absolute())
    return journal


def examples(few, more, all):
    """How many examples: usually, among the slow tests, and among the exhaustive ones."""
    slow, exhaustive = pytest.mark.slow, pytest.mark.exhaustive
    return [few, pytest.param(more, marks=slow), pytest.param(all, marks=exhaustive)]


FIRST, MOST = 25, 45  # rows at first, and in the end
FORGET = st.lists(st.integers(0, MOST), unique=True, min_size=1, max_size=12)
STEPS = st.lists(
    st.tuples(FORGET, st.none() | st.integers(0, 20)) | st.tuples(st.integers(1, 10), st.none()),
    min_size=1,
    max_size=4,
)  # rows to forget, and after how many calls that is interrupted at first; or how many new ones come


def random_history(learn, forget, steps):
    """Learn and forget rows; return those that are left, in order."""
    left, count = np.arange(FIRST), FIRST
    learn(left)
    for what, interrupted in steps:
        if isinstance(what, int):
            new = np.arange(count, min(count + what, MOST))
            learn(new)
            left, count = np.append(left, new), count + len(new)
            continue
        out = [row for row in what if row in left]
        with pytest.MonkeyPatch.context() as patch:
            if interrupted is not None:
                patch.setattr(Journal, "_add", stopped_after(interrupted))
                with contextlib.suppress(KeyboardInterrupt):
                    assert forget(out).rows == len(out)
                    out = []
        assert forget(out).rows == len(out)
        left = np.setdiff1d(left, what)
    return left


def stopped_after(calls):
    """`Journal._add`, until Ctrl-C after so many calls."""
    add, left = Journal._add, [calls]

    def interrupted(self, call):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return add(self, call)

    return interrupted


def check_player(player, steps, seed, every):
    X, y = stream(MOST, seed)
    journal = Journal(hf.Player(player, 2, compiled=False), every)

    def learn(rows):
        for row in rows:
            journal.learn(X[row], y[row], hf.Absolute(), row_id=row)

    left = random_history(learn, journal.forget, steps)
    clean = learned(player, X[left], y[left]).model
    assert same(journal.model.state, clean.state) and same(journal.model.predict(), clean.predict())
    counts = ("rounds", "kept_count", "unmeasured_count")
    assert [getattr(journal.model, c) for c in counts] == [getattr(clean, c) for c in counts]


HISTORIES = STEPS, st.integers(0, 1_000_000), st.integers(1, 12)
FILTERS = [hf.TopK(1), hf.TopK(5, slack=4.0), hf.Everything()]
ANY = [
    hf.Filtered(learner, filter)
    for learner in LEARNERS
    for filter in FILTERS
    if filter.keeps_all() or getattr(learner.needs(), "size", None) != FEATURES
]


@pytest.mark.parametrize("player", PLAYERS, ids=lambda player: repr(player)[:50])
@pytest.mark.parametrize("count", examples(3, 150, CASES))
def test_a_player_is_one_that_never_saw_the_rows(player, count):
    settings(QUIET, max_examples=count)(given(st.just(player), *HISTORIES)(check_player))()


@pytest.mark.parametrize("count", examples(20, 8_500, 20 * CASES))
def test_any_learner_behind_any_filter_is_one_that_never_saw_the_rows(count):
    settings(QUIET, max_examples=count)(given(st.sampled_from(ANY), *HISTORIES)(check_player))()


@pytest.mark.parametrize("estimator", [RobustRegressor, RobustClassifier])
@pytest.mark.parametrize("count", examples(3, 150, CASES))
def test_an_estimator_with_a_journal_is_one_that_never_saw_the_rows(estimator, count):
    @settings(QUIET, max_examples=count)
    @given(*HISTORIES, st.integers(1, 9))
    def check(steps, seed, every, size):
        X, y = stream(MOST, seed)
        y = np.where(y > 0.0, "up", "down") if estimator is RobustClassifier else y
        model, clean, calls = estimator(journal=every), estimator(), []

        def learn(rows):
            for first in range(0, len(rows), size):
                calls.append(rows[first : first + size])
                fit(model, calls[-1], len(calls) == 1)

        def fit(model, rows, is_first):
            first = {"classes": ["down", "up"]} if is_first and estimator is RobustClassifier else {}
            model.partial_fit(X[rows], y[rows], row_ids=rows.tolist(), **first)

        left = random_history(learn, model.forget, steps)
        parts = [part for call in calls if len(part := call[np.isin(call, left)])]
        for i, part in enumerate(parts):
            fit(clean, part, i == 0)
        if parts:
            assert np.array_equal(model.predict(X), clean.predict(X)) and same(model.coef_, clean.coef_)
            assert repr(model.audit_) == repr(clean.audit_) and model.kept_ == clean.kept_

    check()


def test_skipped_rows_need_no_replay_if_no_decision_changes():
    X, y = stream(400)
    player = hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(40))
    journal = learned(player, X, y, every=20)
    verdicts = [call.verdict for call in journal._calls]
    wild = [i for i in range(200, 400) if not verdicts[i].kept and verdicts[i].refused_by == 0]
    replayed = [journal.forget([row]).replayed for row in wild]
    assert 0 in replayed and len(wild) > 10
    rest = np.setdiff1d(np.arange(400), wild)
    assert same(journal.model.state, learned(player, X[rest], y[rest]).model.state)


def test_unreadable_rows_need_no_replay():
    X, y = stream(200)
    journal = learned(PLAYERS[0], X, y)
    assert journal.forget([9, 32]) == Forgotten(2, 0)


def test_replay_ends_where_states_meet_again():
    """They do after a row that could not be read, or after a restart: most states count their rounds."""
    X, y = stream(300)
    journal = learned(GUARDED[1], X, y, every=20)
    assert np.isnan(X[[9 + 23 * 10, 285]]).any(axis=1).all()
    assert journal.forget([9 + 23 * 10]).replayed <= 60
    assert journal.model.rounds == 299
    journal.forget([285, 270])  # from a state after the one where they met
    rest = np.setdiff1d(np.arange(300), [239, 285, 270])
    clean = learned(GUARDED[1], X[rest], y[rest]).model
    assert same(journal.model.state, clean.state) and journal.model.kept_count == clean.kept_count


def test_few_states_are_kept_and_at_most_twice_the_age_is_replayed():
    X, y = stream(500)
    journal = learned(FORGETFUL, X, y, every=10)
    assert len(journal._states) <= 6 + 2 * np.log2(500 / 30)
    for age in (1, 90, 400):
        copied = copy.deepcopy(journal)
        assert copied.forget([500 - age]).replayed < 2 * age + 20


def batches(sizes, left):
    """The rows of each call, without those that are not left."""
    parts = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    return [part[left[part]] for part in parts if left[part].any()]


@pytest.mark.parametrize("sizes", [[150], [1] * 60, [3, 50, 3, 44, 50]])
def test_an_estimator_is_one_that_never_saw_the_rows(sizes):
    """It gets the same calls, without these rows."""
    X, y = stream(sum(sizes))
    model, names, clean = Journal(RobustRegressor(), every=20), np.arange(sum(sizes)) // 2, RobustRegressor()
    for rows in batches(sizes, np.ones(len(y), bool)):
        model.partial_fit(X[rows], y[rows], row_ids=names[rows].tolist())
    assert model.forget([0, 11, 28]).rows == 6
    for rows in batches(sizes, ~np.isin(names, [0, 11, 28])):
        clean.partial_fit(X[rows], y[rows])
    assert same(model.model.predict(X), clean.predict(X))
    model.partial_fit(X[:20], y[:20])
    clean.partial_fit(X[:20], y[:20])
    assert same(model.model.predict(X), clean.predict(X))


def test_a_classifier_forgets_its_first_rows_and_data_frames_lose_rows():
    pandas = pytest.importorskip("pandas")
    X, y = stream(200)
    X, labels = pandas.DataFrame(np.nan_to_num(X), columns=["a", "b"]), np.where(y > 0, "up", "down")
    weights = np.ones(200)
    journal = Journal(RobustClassifier(), every=50)
    for first in range(0, 200, 40):
        some = slice(first, first + 40)
        options = {"classes": ["down", "up"]} if first == 0 else {}
        journal.partial_fit(X.iloc[some], labels[some], sample_weight=weights[some], **options)
    assert journal.forget(range(45)) == Forgotten(45, 155)
    clean = RobustClassifier()
    for rows in batches([40] * 5, np.arange(200) >= 45):
        options = {"classes": ["down", "up"], "sample_weight": weights[rows]}
        clean.partial_fit(X.iloc[rows], labels[rows], **options)
    assert same(journal.model.predict_proba(X), clean.predict_proba(X))


def test_a_wrong_name_changes_nothing():
    X, y = stream(50)
    journal = learned(PLAYERS[0], X, y)
    before = journal.model.predict()
    with pytest.raises(KeyError, match="no row has the name 77: nothing was forgotten"):
        journal.forget([3, 77])
    assert same(journal.model.predict(), before) and journal.model.rounds == 50
    with pytest.raises(ValueError, match="at least 1: got 0"):
        Journal(RobustRegressor(), every=0)
    with pytest.raises(ValueError, match="expected 2, got 1"):
        Journal(RobustRegressor()).partial_fit(np.ones((2, 1)), [1.0, 2.0], row_ids=["a"])


def test_the_arrays_of_the_caller_can_be_used_again():
    X, y = stream(60)
    buffer, target = np.zeros((20, 2)), np.zeros(20)
    journal = Journal(RobustRegressor(), every=20)
    for first in (0, 20, 40):
        buffer[:], target[:] = X[first : first + 20], y[first : first + 20]
        journal.partial_fit(buffer, target)
    journal.forget([1])
    clean = RobustRegressor()
    for rows in batches([20] * 3, np.arange(60) != 1):
        clean.partial_fit(X[rows], y[rows])
    assert same(journal.model.predict(X), clean.predict(X))


@pytest.mark.parametrize("player", [PLAYERS[0], STEADY[0]], ids=["filtered", "steady"])
def test_after_an_interruption_the_journal_is_as_before(player, monkeypatch):
    X, y = stream(100)
    journal, add, calls = learned(player, X, y), Journal._add, []

    def interrupted(self, call):
        calls.append(call)
        if len(calls) > 30:
            raise KeyboardInterrupt
        return add(self, call)

    before = copy.deepcopy(journal.model)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Journal, "_add", interrupted)
        journal.forget([8, 60])
    assert same(journal.model.state, before.state) and journal.model.rounds == before.rounds
    assert journal.forget([8, 60]).rows == 2
    rest = np.setdiff1d(np.arange(100), [8, 60])
    assert same(journal.model.state, learned(player, X[rest], y[rest]).model.state)


def test_numbers_of_rows_are_not_given_again():
    X, y = stream(60)
    journal = Journal(RobustRegressor(), every=20).partial_fit(X[:40], y[:40])
    assert journal.forget([3, 17]).rows == 2
    journal.partial_fit(X[40:], y[40:])
    assert journal.forget([38, 39]).rows == 2
    assert journal.forget([40, 59]).rows == 2


def test_names_may_be_tuples_and_a_text_is_not_several_names():
    X, y = stream(40)
    names = [("meter", i // 2) for i in range(40)]
    for model in (Journal(RobustRegressor(), every=20), RobustRegressor(journal=20)):
        model.partial_fit(X, y, row_ids=names)
        assert model.forget([("meter", 3)]).rows == 2
        with pytest.raises(TypeError, match=r"a list of names: got 'meter'"):
            model.forget("meter")
        for wrong in ("ab", 5):
            with pytest.raises(TypeError, match="a list of names: got"):
                model.partial_fit(X[:2], y[:2], row_ids=wrong)
    for wrong in ("ab", 5):
        with pytest.raises(TypeError, match="a list of names: got"):
            RobustRegressor().partial_fit(X[:2], y[:2], row_ids=wrong)
    assert RobustRegressor().partial_fit(X, y, row_ids=names).audit_["index"][0] in names
