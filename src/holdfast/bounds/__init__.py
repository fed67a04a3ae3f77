"""The right-hand side of every result, as a function of the paper's letters.

A result bears its number in the paper, and its forms bear the same suffixes throughout:

- `theorem_1_paper`: as printed.
- `theorem_1`: as we prove it, never larger than the printed one (for a lower bound: never smaller). Where
  there is no other, the printed one is ours too.
- `theorem_1_sizes`: tighter, if the sizes of the inliers are given.
- `theorem_1_hindsight`: tightest, if the kept rounds are given too.
- `theorem_6_combined`: a lower bound together with the one that holds without outliers.
- `theorem_8_exact`: from the ranks that the quantile filter uses; `ranks` finds them.

Everywhere D is the diameter of the domain, G the largest size of an inlier, k the number of outliers
withstood, T the number of rounds and `slack` the filter's c, 2 in the paper. B is the learner's own bound, a
number: `ogd` and similar functions give it. `docs/paper.md` explains each result and the errors in print;
proofs are in `docs/math.md`.

How much regret can 50 outliers cause online gradient descent in 10,000 rounds?

>>> f"{theorem_1(B=ogd(D=2.0, G=2.0, T=10_000), D=2.0, G=1.0, k=50):.0f}"
'966'
"""

from holdfast.bounds.convex import (
    corollary_2,
    corollary_2_hindsight,
    corollary_2_paper,
    corollary_2_sizes,
    corollary_2_squares,
    corollary_2_squares_paper,
    corollary_3,
    corollary_3_hindsight,
    corollary_3_paper,
)
from holdfast.bounds.learner import (
    default_bound,
    mixability_gap,
    ogd,
    ogd_hindsight,
    ogd_paper,
    ogd_strongly_convex,
    ogd_strongly_convex_hindsight,
    theorem_i,
    theorem_ii,
    theorem_p,
    theorem_u,
    theorem_u_epochs,
    theorem_x,
)
from holdfast.bounds.lower import (
    specialists,
    theorem_6,
    theorem_6_combined,
    theorem_6_paper,
    theorem_7,
    theorem_7_combined,
)
from holdfast.bounds.odds import RankOdds, empirical_overhead, empirical_rank_odds, ends, rank_odds, ranks
from holdfast.bounds.quantile import (
    epochs_factor,
    failure_probability,
    proposition_9,
    proposition_9_paper,
    theorem_8,
    theorem_8_exact,
    theorem_8_paper,
    theorem_8_probable,
    theorem_8_uniform,
    uniform_ranks,
)
from holdfast.bounds.risk import (
    corollary_5,
    corollary_5_paper,
    heavy_tails,
    heavy_tails_example,
    heavy_tails_rate,
    huber_budget,
    huber_budget_paper,
    huber_floor,
    lemma_4,
    lemma_4_expectation,
    lemma_4_paper,
    pareto_quantile,
    pareto_tail,
)
from holdfast.bounds.topk import (
    best_slack,
    binomial_budget,
    theorem_1,
    theorem_1_at_best_slack,
    theorem_1_hindsight,
    theorem_1_paper,
    theorem_1_sizes,
    theorem_g,
    theorem_h,
    theorem_w,
    topshare_budget,
    window_budget,
)

__all__ = [
    "RankOdds",
    "best_slack",
    "binomial_budget",
    "corollary_2",
    "corollary_2_hindsight",
    "corollary_2_paper",
    "corollary_2_sizes",
    "corollary_2_squares",
    "corollary_2_squares_paper",
    "corollary_3",
    "corollary_3_hindsight",
    "corollary_3_paper",
    "corollary_5",
    "corollary_5_paper",
    "default_bound",
    "empirical_overhead",
    "empirical_rank_odds",
    "ends",
    "epochs_factor",
    "failure_probability",
    "heavy_tails",
    "heavy_tails_example",
    "heavy_tails_rate",
    "huber_budget",
    "huber_budget_paper",
    "huber_floor",
    "lemma_4",
    "lemma_4_expectation",
    "lemma_4_paper",
    "mixability_gap",
    "ogd",
    "ogd_hindsight",
    "ogd_paper",
    "ogd_strongly_convex",
    "ogd_strongly_convex_hindsight",
    "pareto_quantile",
    "pareto_tail",
    "proposition_9",
    "proposition_9_paper",
    "rank_odds",
    "ranks",
    "specialists",
    "theorem_1",
    "theorem_1_at_best_slack",
    "theorem_1_hindsight",
    "theorem_1_paper",
    "theorem_1_sizes",
    "theorem_6",
    "theorem_6_combined",
    "theorem_6_paper",
    "theorem_7",
    "theorem_7_combined",
    "theorem_8",
    "theorem_8_exact",
    "theorem_8_paper",
    "theorem_8_probable",
    "theorem_8_uniform",
    "theorem_g",
    "theorem_h",
    "theorem_i",
    "theorem_ii",
    "theorem_p",
    "theorem_u",
    "theorem_u_epochs",
    "theorem_w",
    "theorem_x",
    "topshare_budget",
    "uniform_ranks",
    "window_budget",
]
