"""One outlier of 10⁹: behind each filter it costs each learner no more than the theorems allow."""

import functools

import numpy as np
import pytest
from samples import slow

import holdfast as hf
from holdfast import bounds
from holdfast_lab.trials.learners import ENTRIES
from holdfast_lab.trials.streams import absolute, experts, ordinary, single

T, DIM, KEEP = 200, 3, ("losses", "sizes", "kept", "products", "gradients")
TOPK = [hf.TopK(1), hf.TopK(1, slack=1.5), hf.TopK(10)]
TOPSHARE = [hf.TopShare(0.01), hf.TopShare(0.05, delta=0.1, exact=True), hf.TopShare(0.02, slack=3.0)]
QUANTILE = [
    hf.Quantile(0.9, horizon=T),
    hf.Quantile(0.9, horizon=T, ranks="bernstein"),
    hf.Quantile(0.9, horizon=T, ranks="newsvendor", exact=True),
    hf.Quantile(0.8, delta=0.01),
    hf.Quantile(0.9),
]
every_learner = pytest.mark.parametrize("name", ENTRIES)


class Run:
    """A game behind a filter, and what each of its rounds lost against u: Σ of it is the regret."""

    def __init__(self, name, filter, sizes=single):
        entry = ENTRIES[name]
        stream = entry.stream(sizes(T, 0), DIM, 0)
        self.learner, self.inliers = entry.learner, stream.inliers
        self.record = hf.play(entry.player(filter), stream.adversary, keep=KEEP, compiled=False)
        self.sizes, self.kept = self.record.size, self.record.kept
        if stream.comparator is None:  # linearised: against the worst of length 1
            total = self.record.gradients[self.inliers].sum(axis=0)
            self.u = -total / np.linalg.norm(total)
            self.lost = self.record.products - self.record.gradients @ self.u
        else:
            self.u, hidden = stream.comparator, stream.adversary.start()
            self.lost = self.record.losses - [stream.adversary.reveal(hidden, t, self.u)[1] for t in range(T)]
        self.G = self.sizes[self.inliers].max()
        self.B = self.learner.bound(self.record.state[0].learner, self.u)

    def diameter(self, on):
        """D of the theorems: the domain's, 1 for sizes that have it in them, D(u, 𝒮) where there is none."""
        if isinstance(on, hf.measures.Range | hf.measures.LossForm):
            return 1.0
        if self.learner.domain.bounded():
            return self.learner.domain.diameter(hf.norms.L2(), DIM)
        return float((np.abs(self.lost) / self.sizes)[self.sizes <= 2.0 * self.G].max())

    def regret(self):
        return float(self.lost[self.inliers].sum())


@functools.cache
def run(name, filter):
    return Run(name, filter)


@every_learner
@pytest.mark.parametrize("filter", [*TOPK, *TOPSHARE, *QUANTILE[:2], *map(slow, QUANTILE[2:])], ids=repr)
def test_the_outlier_is_skipped_and_the_others_cost_what_they_can(name, filter):
    """Theorem 1 in hindsight, which holds for any filter, with the bound of the learner."""
    played, D = run(name, filter), run(name, filter).diameter(ENTRIES[name].on)
    assert not played.kept[T // 2] and played.sizes[T // 2] > 1e8 * played.G
    inliers, B = played.inliers, played.B
    assert played.lost[played.kept].sum() <= B * (1.0 + 1e-9)
    assert (played.lost[inliers] <= D * played.sizes[inliers] * (1.0 + 1e-9)).all()
    assert played.regret() <= bounds.theorem_1_hindsight(B, D, played.sizes, played.kept, inliers)


@every_learner
@pytest.mark.parametrize("filter", TOPK, ids=repr)
def test_behind_topk_that_is_at_most_theorem_1(name, filter):
    played, D = run(name, filter), run(name, filter).diameter(ENTRIES[name].on)
    skipped = bounds.theorem_1_hindsight(0.0, D, played.sizes, played.kept, played.inliers)
    for theorem in (
        bounds.theorem_1_sizes(0.0, D, played.sizes[played.inliers], filter.k, filter.slack),
        bounds.theorem_1(0.0, D, played.G, filter.k, filter.slack),
    ):
        assert skipped <= theorem
        assert played.regret() <= played.B + theorem


@every_learner
@pytest.mark.parametrize("filter", TOPSHARE, ids=repr)
def test_behind_topshare_at_most_theorem_g(name, filter):
    played, D = run(name, filter), run(name, filter).diameter(ENTRIES[name].on)
    k, error = bounds.topshare_budget(filter.share, T, filter.delta), 0.0 if filter.exact else 2.0**-7
    theorem = bounds.theorem_g(0.0, D, played.G, k, filter.slack, error)
    assert bounds.theorem_1_hindsight(0.0, D, played.sizes, played.kept, played.inliers) <= theorem
    assert played.regret() <= played.B + theorem


IID = [name for name, entry in ENTRIES.items() if entry.stream in (absolute, experts)]


@pytest.mark.parametrize("name", IID)
@pytest.mark.parametrize("filter", QUANTILE[:2], ids=repr)
def test_behind_quantile_at_most_theorem_8(name, filter):
    """Sizes are i.i.d. there, of rows or of losses, and the inliers those up to their p-quantile."""
    played, D = run(name, filter), run(name, filter).diameter(ENTRIES[name].on)
    G = quantile_of(ENTRIES[name].stream, filter.p)
    inliers = played.sizes <= G
    assert not (played.kept & ~inliers).any()
    skipped = bounds.theorem_1_hindsight(0.0, D, played.sizes, played.kept, inliers)
    theorem = bounds.theorem_8(0.0, D, G, filter.p, T)
    assert skipped <= theorem
    assert played.lost[inliers].sum() <= played.B + theorem


@functools.cache
def quantile_of(stream, p):
    """The quantile of the sizes of its inliers, to three digits."""
    adversary = stream(np.ones(200_000), DIM, 1).adversary
    if stream is absolute:
        return float(np.quantile(np.linalg.norm(adversary.X, axis=1), p))
    return float(np.quantile(np.ptp(adversary.G, axis=1), p))


@every_learner
def test_it_changes_the_regret_by_less_than_that_and_without_a_filter_by_more(name):
    """Against a game without the outlier; docs/benchmarks.md has the regrets of longer ones."""
    clean, alone = Run(name, hf.Everything(), ordinary).regret(), Run(name, hf.Everything())
    skips = isinstance(ENTRIES[name].learner, hf.learners.Reserved)  # what is too long, without a filter
    assert not skips or alone.regret() - clean <= alone.diameter(ENTRIES[name].on) * alone.G
    for filter in (hf.TopK(1), hf.TopShare(0.01)):
        filtered = run(name, filter)
        k = 1 if filter == hf.TopK(1) else bounds.topshare_budget(filter.share, T, filter.delta)
        D = filtered.diameter(ENTRIES[name].on)
        assert filtered.regret() - clean <= bounds.theorem_g(0.0, D, filtered.G, k)
        assert skips or filtered.regret() - clean < 0.7 * (alone.regret() - clean)
    assert alone.kept[T // 2]
