"""ALG: what learns from the rounds that the filter keeps."""

from holdfast.learners.fixed import Fixed
from holdfast.learners.ogd import OGD
from holdfast.learners.steps import Adaptive, StronglyConvex

__all__ = ["OGD", "Adaptive", "Fixed", "StronglyConvex"]
