"""Theorem 1: Top-k against any adversary."""

import math

from holdfast.bounds.budget import binomial_budget
from holdfast.bounds.checks import above_one, columns, largest, probability
from holdfast.filters.budget_schedule import end_of_step


def theorem_1(B, D, G, k, slack=2.0):
    """B + (c + c/(c-1)) D G k, for every set of inliers that leaves out at most k rounds.

    `TopK(k, slack)` before a learner whose regret on the kept rounds is at most B if their sizes are at most
    c G; such a B must not shrink as rounds or sizes grow. At c = 2 the overhead is 4 D G k, and smallest
    (`docs/math.md`, 2).

    >>> theorem_1(B=0.0, D=1.0, G=1.0, k=10)
    40.0
    """
    return B + (above_one(slack) + slack / (slack - 1.0)) * D * G * k


def theorem_1_paper(B, D, G, k):
    """B + 4 D G (k + 1), eq. (4). At most k skipped rounds have sizes in (a/2, a], not k + 1: hence our k.

    >>> theorem_1_paper(B=0.0, D=1.0, G=1.0, k=10)
    44.0
    """
    return B + 4.0 * D * G * (k + 1)


def theorem_1_sizes(B, D, sizes, k, slack=2.0):
    """B + (c + c/(c-1)) D (x_1 + ... + x_k), with x the `sizes` of the inliers in descending order.

    >>> theorem_1_sizes(B=0.0, D=1.0, sizes=[1.0, 0.1, 0.1, 0.1], k=2)
    4.4
    """
    return theorem_1(B, D, float(largest(sizes, k).sum()), 1, slack)


def theorem_1_hindsight(B, D, sizes, kept, inliers):
    """B + D Σ (sizes of the kept outliers and the skipped inliers), for any filter whatever.

    `sizes`, `kept` and `inliers` have an entry for each round. B bounds the regret on the kept rounds.

    >>> sizes, kept, inliers = [1.0, 1.0, 9.0, 2.0], [False, True, False, True], [True, True, False, False]
    >>> theorem_1_hindsight(B=0.0, D=1.0, sizes=sizes, kept=kept, inliers=inliers)
    3.0
    """
    sizes, kept, inliers = columns(sizes, kept, inliers)
    return B + D * float(sizes[kept != inliers].sum())


def best_slack(beta, T, D, k):
    """The slack c that makes Theorem 1 smallest for a learner with B(G) = beta G sqrt(T).

    1 + sqrt(Dk / (Dk + beta sqrt(T))), at most 2 (`docs/math.md`, 2). It counts on a learner that suffers as
    much as its bound allows; `OGD` pays only for the sizes it meets, and for it 2 is as good a choice.

    >>> round(best_slack(beta=2.0, T=10_000, D=1.0, k=25), 3)
    1.333
    """
    return 1.0 + math.sqrt(D * k / (D * k + beta * math.sqrt(T)))


def theorem_1_at_best_slack(beta, T, D, G, k):
    """G (sqrt(beta sqrt(T) + Dk) + sqrt(Dk))²: Theorem 1 for B(G) = beta G sqrt(T) and `best_slack`.

    >>> theorem_1_at_best_slack(beta=2.0, T=10_000, D=1.0, G=1.0, k=25)
    400.0
    """
    return G * (math.sqrt(beta * math.sqrt(T) + D * k) + math.sqrt(D * k)) ** 2


def theorem_g(B, D, G, k, slack=2.0, error=2.0**-7):
    """Theorem 1 for `TopShare`: B + (c + c'/(c'-1)) D G k, with k = `topshare_budget` of the last round.

    For every set of inliers that leaves out at most k_t of the first t rounds, for all t. If rounds are
    corrupted independently with probability at most `share`, the good rounds are such a set with probability
    1 - delta, for all T at once. B is the learner's bound for sizes up to c G. The histogram reads sizes low
    by a factor of up to 1 + `error`, hence c' = c / (1 + error); with `exact=True` the error is 0
    (`docs/math.md`, 4 and 5).

    >>> round(theorem_g(B=0.0, D=1.0, G=1.0, k=1), 3)
    4.016
    """
    return B + (slack + skipped_factor(slack, error)) * D * G * k


def skipped_factor(slack, error):
    """c'/(c'-1) with c' = c / (1 + error): the sizes of the inliers that a filter skips sum to this G k."""
    band = above_one(slack / (1.0 + error))
    return band / (band - 1.0)


def topshare_budget(share, T, delta):
    """k_T of `TopShare(share, delta)`: the smallest k with P(Bin(e, share) > k) <= 6 delta / (pi e)².

    Here e is the last round of the step to which round T belongs: T itself, before round 512.

    >>> topshare_budget(share=0.01, T=10_000, delta=1e-3)
    177
    """
    end = end_of_step(T, share)
    return binomial_budget(share, end, 6.0 * probability("delta", delta) / (math.pi * end) ** 2)
