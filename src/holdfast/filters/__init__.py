"""FILTER: looks at the size of a round, and decides whether the learner may learn from it."""

from holdfast.filters.everything import Everything
from holdfast.filters.quantile import Quantile
from holdfast.filters.topk import TopK
from holdfast.filters.topshare import TopShare

__all__ = ["Everything", "Quantile", "TopK", "TopShare"]
