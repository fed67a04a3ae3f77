"""Laws for every adversary that draws its own rounds: the same seed gives the same rounds."""

import inspect
import pickle
import pkgutil
from importlib import import_module

import numpy as np
import pytest
from laws import WITH_AVERAGE, like, same
from samples import thinned

import holdfast as hf
from holdfast import adversaries
from holdfast._compiled import call

rng = np.random.default_rng(20)
CLEAN = hf.Replay(rng.standard_normal((120, 2)), np.where(rng.random(120) < 0.5, 1.0, -1.0), hf.Logistic())
NARROW = hf.Replay(CLEAN.X.astype(np.float32), CLEAN.y, hf.Hinge())
RANDOM = {
    "IidLowerBound": lambda seed: adversaries.IidLowerBound(k=9, rounds=120, G=3.0, W=0.5, seed=seed),
    "StronglyConvexLowerBound": lambda seed: adversaries.StronglyConvexLowerBound(k=9, rounds=120, seed=seed),
    "Contaminated": lambda seed: adversaries.Contaminated(
        NARROW, adversaries.Contrarian(120, 2, G=50.0), share=0.1, seed=seed
    ),
    "HeavyTails": lambda seed: adversaries.HeavyTails(0.3, rounds=120, dim=2, seed=seed, truth=[0.5, -1.0]),
    "QuantileStream": lambda seed: adversaries.QuantileStream(p=0.8, rounds=120, dim=2, seed=seed, atom=0.1),
    "FeatureBlowUp": lambda seed: adversaries.FeatureBlowUp(CLEAN, k=3, seed=seed),
    "LabelFlip": lambda seed: adversaries.LabelFlip(CLEAN, k=3, seed=seed),
    "Ramp": lambda seed: adversaries.Ramp(CLEAN, k=3, seed=seed),
    "Accumulating": lambda seed: adversaries.Accumulating(CLEAN, k=3, seed=seed),
}
NOT_RANDOM = {
    "Tight": adversaries.Tight(3),
    "Contrarian": adversaries.Contrarian(120, 2, G=7.0),
    "Chaser": adversaries.Chaser(hf.Gradients(CLEAN.X + 0.5), k=3),
    "Weighted": adversaries.Weighted(CLEAN, np.arange(120.0) % 4),
}
ALL = {name: make(5) for name, make in RANDOM.items()} | NOT_RANDOM


def test_every_adversary_is_tested_here():
    elsewhere = {"Functions", "Gradients", "Replay", "SparseReplay", "Exponential", "Pareto", "Uniform"}
    assert set(ALL) | elsewhere == set(adversaries.__all__)


@pytest.mark.parametrize("make", RANDOM.values(), ids=RANDOM)
def test_the_seed_decides(make):
    assert make(5) == make(5)
    assert make(5) != make(6)


@pytest.mark.parametrize("adversary", ALL.values(), ids=ALL)
def test_pickling_and_rebuilding_change_nothing(adversary):
    copy = pickle.loads(pickle.dumps(adversary))
    assert copy == adversary
    assert type(adversary)(*adversary) == adversary


@pytest.mark.parametrize("adversary", ALL.values(), ids=ALL)
def test_drawn_arrays_are_read_only(adversary):
    arrays = [value for value in adversary if isinstance(value, np.ndarray)]
    assert not any(array.flags.writeable for array in arrays)


@pytest.mark.parametrize("name", [name for name in ALL if name not in ("Chaser", "Weighted")])
def test_inliers_are_a_mask_over_the_rounds_with_at_most_k_left_out(name):
    adversary = ALL[name]
    assert adversary.inliers.dtype == bool
    assert adversary.inliers.shape == (adversary.extent()[0],)
    if "k" in adversary._fields:
        assert (~adversary.inliers).sum() <= adversary.k


def revealed(adversary, state, W):
    """Every round of an adversary against given predictions. It can be compiled, and compiles fast."""
    losses, slopes, X = np.zeros(len(W)), np.zeros(len(W)), np.zeros(W.shape)
    for t in range(len(W)):
        state, losses[t], slopes[t], X[t] = adversary.reveal(state, t, W[t])
    return losses, slopes, X, state


@pytest.mark.parametrize("adversary", thinned(ALL.values(), 4), ids=ALL)
def test_interpreted_and_compiled_adversaries_reveal_the_same_bits(adversary):
    W = np.random.default_rng(1).uniform(-1.0, 1.0, adversary.extent())
    W[::10] = 0.0
    interpreted = revealed(adversary, adversary.start(), W)
    assert like(interpreted, call(revealed, adversary, adversary.start(), W))


@pytest.mark.parametrize(
    "adversary",
    thinned([ALL["Ramp"], ALL["IidLowerBound"], ALL["Chaser"]], 3),
    ids=lambda rule: type(rule).__name__,
)
def test_whole_games_agree_bit_for_bit(adversary):
    player = hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(3))
    interpreted = hf.play(player, adversary, keep=WITH_AVERAGE, compiled=False)
    compiled = hf.play(player, adversary, keep=WITH_AVERAGE, compiled=True)
    for column in (*WITH_AVERAGE, "final"):
        assert same(getattr(interpreted, column), getattr(compiled, column)), column
    assert like(interpreted.state, compiled.state)


@pytest.mark.parametrize("name", ["Contaminated", "Chaser"])
def test_a_game_may_be_interrupted(name):
    player = hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(3))
    whole = hf.play(player, ALL[name], compiled=False)
    half = hf.play(player, ALL[name], rounds=60, compiled=False)
    assert same(whole.final, hf.play(player, ALL[name], after=half, compiled=False).final)


def test_no_field_has_the_name_of_a_method_of_another_module():
    classes = [
        cls
        for module in pkgutil.walk_packages(hf.__path__, "holdfast.")
        if not any(word in module.name for word in ("_compiled", "torch", "optax", "spark", "lab.training"))
        for cls in vars(import_module(module.name)).values()
        if inspect.isclass(cls) and issubclass(cls, tuple) and hasattr(cls, "_fields")
    ]
    methods = {name for cls in classes for name, _ in inspect.getmembers(cls, inspect.isfunction)}
    fields = {field for cls in classes if "adversaries" in cls.__module__ for field in cls._fields}
    assert not fields & methods
