"""Online learning that outliers cannot derail.

The names below are those that most people need. The rest is in its module: `hf.learners`, `hf.losses`,
`hf.domains`, `hf.norms`, `hf.filters`, `hf.sketches`, `hf.adversaries`, `hf.regret`, `hf.game`,
`hf.measures`; and what the theorems promise in `holdfast.bounds`.

>>> import holdfast as hf
>>> player = hf.Player(hf.Filtered(hf.OGD(hf.Ball(radius=1.0)), hf.TopK(k=1)), dim=1)
>>> [player.observe([g]).kept for g in (1.0, 1.0, 1e9, 1.0)]
[False, True, False, True]
"""

from typing import TYPE_CHECKING

from holdfast import adversaries, domains, filters, game, learners, losses, measures, norms, regret, sketches  # noqa: F401
from holdfast.adversaries import Gradients, Replay
from holdfast.audit import HoldfastWarning
from holdfast.certificates.certificate import Certificate
from holdfast.certificates.certified import Certified
from holdfast.checks import Check, Guarded, LabelCheck
from holdfast.domains import Ball, Box, Simplex
from holdfast.filters import Everything, Quantile, TopK, TopShare
from holdfast.game import Filtered
from holdfast.gate import Gate
from holdfast.journal import Journal
from holdfast.lazy_imports import lazy_names
from holdfast.levels.level import Level
from holdfast.losses import Absolute, Hinge, Huber, Linear, Logistic, Squared
from holdfast.measures import Features, Gradient, Target
from holdfast.play import play
from holdfast.play_many import play_many
from holdfast.player import Player
from holdfast.record import Record
from holdfast.regret import robust_regret, worst_case
from holdfast.rounds import Round, Verdict
from holdfast.rule import rule

if TYPE_CHECKING:
    from holdfast.learners import (
        EG,
        OGD,
        ONS,
        VAW,
        AdaFTRL,
        AdaGrad,
        AdaHedge,
        MetaGrad,
        OnlineRidge,
        Scaled,
        ScaleInvariant,
        StronglyConvex,
    )

__version__ = "0.2.0"

__all__ = [
    "EG",
    "OGD",
    "ONS",
    "VAW",
    "Absolute",
    "AdaFTRL",
    "AdaGrad",
    "AdaHedge",
    "Ball",
    "Box",
    "Certificate",
    "Certified",
    "Check",
    "Everything",
    "Features",
    "Filtered",
    "Gate",
    "Gradient",
    "Gradients",
    "Guarded",
    "Hinge",
    "HoldfastWarning",
    "Huber",
    "Journal",
    "LabelCheck",
    "Level",
    "Linear",
    "Logistic",
    "MetaGrad",
    "OnlineRidge",
    "Player",
    "Quantile",
    "Record",
    "Replay",
    "Round",
    "ScaleInvariant",
    "Scaled",
    "Simplex",
    "Squared",
    "StronglyConvex",
    "Target",
    "TopK",
    "TopShare",
    "Verdict",
    "play",
    "play_many",
    "robust_regret",
    "rule",
    "worst_case",
]

__getattr__, __dir__ = lazy_names(__name__, dict.fromkeys(__all__, "learners"))
