"""Every learner says what it needs and what its regret is at most, and docs/benchmarks.md says the same."""

import math
from pathlib import Path

import numpy as np
import pytest
from guards import guarded

import holdfast as hf
from holdfast import learners
from holdfast.learners.needs import Needs
from holdfast.rounds import Round, after_round
from holdfast.vectors import dot
from holdfast_lab.trials.worst import CASES

BALL = hf.Ball(1.0)
ROWS = {name: case.learner for name, case in CASES.items() if not case.learner.needs_hints()}
PAGE = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
TABLE = [
    [cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.splitlines() if line.startswith("| `")
]
every = pytest.mark.parametrize("name", list(ROWS))


@every
def test_the_page_says_what_it_needs(name):
    domain, size, losses, bound = next(row[1:5] for row in TABLE if row[0] == name)
    assert Needs(domain, size, losses, bound == "proved") == ROWS[name].needs()


@every
def test_the_bound_of_a_state_is_a_number_at_every_u(name):
    learner, rng = ROWS[name], np.random.default_rng(0)
    state = learner.init(2)
    for x in rng.standard_normal((30, 2)):
        slope = 0.5 * math.tanh(dot(learner.predict(state), x))
        state = after_round(learner, state, Round(slope, x))
        for u in ([0.5, 0.5], [1.0, 0.0]):
            assert 0.0 <= learner.bound(state, np.array(u)) < math.inf


def test_every_learner_is_there():
    there = {type(learner).__name__ for learner in ROWS.values()}
    there |= {
        type(learner.learner).__name__
        for learner in ROWS.values()
        if isinstance(learner, hf.learners.Clipped)
    }
    others = {
        *(
            "OnlineLogistic",
            "RobustRidge",
            "Redescending",
            "HuberWeights",
            "InverseMultiquadric",
        ),
        "Adaptive",
        "StronglyConvex",
        "LogWealth",
        "Fixed",
        "Averaged",
        "Penalized",
        "Recentered",
        "Scaled",
        "Bounded",
        "Mixture",
        "ReservedEpochs",  # `Reserved` is there, and this one restarts it
    }
    assert there | others == set(learners.__all__)


def test_only_what_is_proved_says_so():
    assert [name for name, learner in ROWS.items() if not learner.needs().proved] == ["`Clipped(FreeGrad())`"]


@every
def test_no_certificate_uses_a_learners_bound(name, monkeypatch):
    """A certificate uses what was measured in the run, and no theorem about the learner."""
    learner = ROWS[name]
    if not learner.domain.bounded():
        if learner.needs().losses != "convex":
            with pytest.raises(ValueError, match="use a bounded one"):
                hf.Certified(hf.Filtered(learner, hf.TopK(1)), k=1)
            return
        learner = hf.learners.Bounded(learner, BALL)

    def refuse(self, state, u):
        raise AssertionError("a certificate has used a bound")

    parts = (learner, getattr(learner, "learner", learner), getattr(learner, "learner", learner))
    for part in {type(part) for part in parts}:
        monkeypatch.setattr(part, "bound", refuse)
    with pytest.raises(AssertionError):
        learner.bound(learner.init(2), np.ones(2))
    G = np.random.default_rng(0).standard_normal((30, 2))
    certified = hf.Certified(hf.Filtered(learner, hf.TopK(2)), k=2)
    record = hf.play(
        certified, hf.Gradients(G), keep=("sizes", "kept", "products", "gradients"), compiled=False
    )
    assert record.certificate(k=2).bound > 0.0


# -- what a filter must measure for a learner


def inside(learner):
    """Players with this learner in every wrapper that takes it."""
    for wrapped in (learner, learners.Averaged(learner), hf.Scaled(learner)):
        yield lambda on, wrapped=wrapped: hf.Filtered(wrapped, hf.TopK(1), on=on)
        yield lambda on, wrapped=wrapped: guarded(wrapped, on=on)
        yield lambda on, wrapped=wrapped: guarded(wrapped, features=hf.Everything(), on=on)


SIMPLEX = hf.Simplex()
BY_RANGE = [
    hf.AdaHedge(),
    hf.EG(0.1),
    hf.learners.Clipped(hf.learners.Squint()),
    hf.learners.Fixed([0.5, 0.5]),
]
NOT_BY_RANGE = [
    *(hf.OGD(SIMPLEX), hf.AdaGrad(SIMPLEX), hf.learners.SoloFTRL(SIMPLEX), hf.OGD(BALL), hf.VAW()),
    *(
        hf.learners.Bounded(hf.learners.Clipped(hf.learners.FreeGrad()), SIMPLEX),
        hf.AdaFTRL(hf.Ball(1.0, around=0.5)),
    ),
]


@pytest.mark.parametrize("learner", BY_RANGE, ids=repr)
def test_ranges_are_for_learners_whose_bound_depends_on_ranges(learner):
    hf.Player(hf.Filtered(learner, hf.TopK(1), on=hf.measures.Range()), dim=2)
    hf.Player(guarded(learners.Averaged(learner), on=hf.measures.Range()), dim=2)


@pytest.mark.parametrize("learner", NOT_BY_RANGE, ids=repr)
def test_ranges_are_refused_for_all_others_in_every_wrapper(learner):
    for player in inside(learner):
        with pytest.raises(TypeError, match=r"such as AdaHedge\(\), and that of .*: use on=Gradient\(\)"):
            hf.Player(player(hf.measures.Range()), dim=2)


def test_a_learner_that_does_not_say_what_it_adapts_to_is_not_judged_by_ranges():
    @hf.rule
    class Own:
        domain: object = SIMPLEX

        def init(self, dim):
            return self.domain.center(dim)

        def predict(self, state):
            return state

        def update(self, state, round):
            return state

    hf.Player(hf.Filtered(Own(), hf.TopK(1)), dim=2)
    with pytest.raises(TypeError, match=r"does not say that it does: give it a method needs\(\)"):
        hf.Player(hf.Filtered(Own(), hf.TopK(1), on=hf.measures.Range()), dim=2)


def test_a_learner_that_depends_on_rows_needs_a_filter_that_sees_them():
    """One row of 1e12 whose gradient is 0 would freeze the weights of ScaleInvariant for ever."""
    for i, player in enumerate(inside(hf.ScaleInvariant())):
        hf.Player(player(hf.Features()), dim=2)
        if i % 3 == 1:  # Guarded, with a filter on features
            hf.Player(player(hf.measures.Gradient()), dim=2)
        else:
            with pytest.raises(TypeError, match=r"ScaleInvariant.*: use on=Features\(\), or Guarded"):
                hf.Player(player(hf.measures.Gradient()), dim=2)
    for filter in (hf.Everything(), hf.TopK(1)):
        player = guarded(hf.ScaleInvariant(), hf.Everything(), filter, filter)
        if filter == hf.Everything():  # nothing is skipped, so nothing goes past a filter
            hf.Player(player, dim=2)
            hf.Player(hf.Filtered(hf.ScaleInvariant(), filter), dim=2)
        else:
            with pytest.raises(TypeError, match="no filter here sees that"):
                hf.Player(player, dim=2)


@pytest.mark.parametrize(
    "player",
    [
        hf.Filtered(hf.ScaleInvariant(), hf.TopK(1), on=hf.Features()),
        guarded(hf.ScaleInvariant(), *[hf.TopK(1)] * 3),
    ],
    ids=["features", "guard"],
)
def test_a_huge_row_inside_the_tube_does_not_freeze_the_weights(player):
    x = np.random.default_rng(0).normal(size=(400, 1))
    y = 3.0 * x[:, 0]
    losses = []
    for row in (x[5, 0], 1e12):
        x[5, 0], y[5] = row, 0.0
        record = hf.play(player, hf.Replay(x, y, hf.losses.EpsilonInsensitive(0.1)), compiled=False)
        losses.append(np.delete(record.losses, 5).sum())
    assert not record.kept[5] and losses[1] < losses[0] + 20.0
