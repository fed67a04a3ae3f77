"""Every learner says what it needs and what its regret is at most, and docs/learners.md says the same."""

import math
from pathlib import Path

import numpy as np
import pytest

import holdfast as hf
from holdfast import learners
from holdfast.learners.needs import Needs
from holdfast.trials.worst import CASES
from holdfast.vectors import dot

BALL = hf.Ball(1.0)
ROWS = {name: case.learner for name, case in CASES.items() if not case.learner.takes_hints()}
PAGE = (Path(__file__).parents[2] / "docs" / "learners.md").read_text(encoding="utf-8")
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
        state = learner.update(state, slope, x)
        for u in ([0.5, 0.5], [1.0, 0.0]):
            assert 0.0 <= learner.bound(state, np.array(u)) < math.inf


def test_every_learner_is_there():
    there = {type(learner).__name__ for learner in ROWS.values()}
    there |= {type(learner.learner).__name__ for learner in ROWS.values() if isinstance(learner, hf.Clipped)}
    others = {"Adaptive", "StronglyConvex", "LogWealth", "Fixed", "Averaged", "Around", "Scaled", "Bounded"}
    assert there | others == set(learners.__all__)


def test_only_what_is_proved_says_so():
    assert [name for name, learner in ROWS.items() if not learner.needs().proved] == ["`Clipped(FreeGrad())`"]


@every
def test_no_certificate_asks_for_a_learners_bound(name, monkeypatch):
    """Neither one that is not verified nor any other: what a run proves is measured on the run."""
    learner = ROWS[name]
    if not learner.domain.bounded():
        if learner.needs().losses != "convex":
            with pytest.raises(ValueError, match="learn in a bounded one"):
                hf.Certified(hf.Filtered(learner, hf.TopK(1)), k=1)
            return
        learner = hf.Bounded(learner, BALL)

    def refuse(self, state, u):
        raise AssertionError("a certificate has asked for a bound")

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


def test_the_range_of_losses_is_a_size_for_experts_only():
    for player in (hf.Filtered(hf.OGD(BALL), hf.TopK(1), on=hf.Range()), hf.Guarded(hf.VAW(), on=hf.Range())):
        with pytest.raises(TypeError, match=r"for experts, on a Simplex\(\), and \w+ learns in"):
            hf.Player(player, dim=2)
    hf.Player(hf.Filtered(hf.SoloFTRL(hf.Simplex()), hf.TopK(1), on=hf.Range()), dim=2)
