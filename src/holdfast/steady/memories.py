"""What the learners for numbers and for labels share: several memories and one covariance."""

from holdfast.rule import rarely_called
from holdfast.vectors import add

_LOOSE = 1.5  # a variance that exceeds the prior's by this factor is set back


def restore_prior(kind, each, covariance, variance, turns, rounds, moves):
    """Set the variances of the weights whose turn it is back to that of the prior, if they are too large.

    With `moves`, the weights go back to 0 as far as this says.
    """
    dim = each.shape[1]
    for i in range(turns):
        k = (int(rounds) * turns + i) % dim
        own = kind.variance_of_weight(covariance, k)
        if own > _LOOSE * variance:
            noise = own * variance / (own - variance)
            kind.shrink(covariance, own, noise)
            if moves:
                for row in range(len(each)):
                    add(each[row], -covariance.growth / (noise + own) * float(each[row, k]), covariance.along)


@rarely_called
def express_column(each, j, moved, unit):
    """Express weights in another center and unit of a column, in place: both are in old units."""
    last = each.shape[1] - 1
    for row in range(len(each)):
        each[row, last] += float(each[row, j]) * moved
        each[row, j] *= unit
