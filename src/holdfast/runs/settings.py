"""The settings of a run, as the command line has them, and the player that they stand for."""

import dataclasses
import math
from typing import Any

from holdfast import options
from holdfast.certificates.certified import Certified
from holdfast.defaults import default_learner, recommended
from holdfast.domains import Everywhere
from holdfast.io.dates import ORDERS
from holdfast.io.sources import DECIMALS, Reading
from holdfast.io.typed import typed
from holdfast.learners import Scaled
from holdfast.runs.files import RunError
from holdfast.steady import Logits, Ridges
from holdfast.steady.player import FEW_STORED

MISSING = ("auto", "skip", "impute")


@dataclasses.dataclass(frozen=True)
class Settings:
    """The settings, as they are written on the command line."""

    target: str
    task: str = "auto"
    loss: str = "auto"
    outliers: str = "auto"
    learner: str = "auto"
    scale: bool = True
    memory: str = "auto"
    patience: str = "auto"
    delay: int = 1
    missing: str = "auto"
    features: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    key: str | None = None
    format: str | None = None
    header: bool = True
    decimal: str = "auto"
    dates: str = "auto"
    schema: str | None = None
    sizes: bool = True
    prior: bool = True
    evict: int | None = None

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @staticmethod
    def from_json(found: Any) -> "Settings":
        """The settings that `to_json` wrote; raises ValueError if they are anything else."""
        settings = typed(Settings, found)
        settings.check()
        return settings

    def check(self, words: options.Words = options.TERMINAL) -> None:
        """Raise if a setting has a value that is not allowed."""
        options.read_outliers(self.outliers, words)
        options.read_learner(self.learner, None, words)
        options.read_rows("memory", self.memory, words)
        options.read_rows("patience", self.patience, words)
        options.read_delay(self.delay, words)
        options.read_loss(self.loss, None, words)
        options.read_missing(self.missing, MISSING, words)
        if self.evict is not None and not 1 <= self.evict < 1 << 53:
            raise RunError(f"--evict counts rows, at least 1: got {self.evict}")
        if self.key is None and self.evict is not None:
            raise RunError("--evict removes keys, and there are none: add --key COLUMN")
        if self.key is None and not self.prior:
            raise RunError("--no-prior is about new keys, and there are none: add --key COLUMN")
        if self.decimal not in DECIMALS:
            raise RunError(f"--decimal must be {', '.join(DECIMALS)}: got {self.decimal!r}")
        if self.dates not in ("auto", *ORDERS):
            raise RunError(f"--dates must be auto, {', '.join(ORDERS)}: got {self.dates!r}")
        if twice := set(self.category) & {self.target, self.key, *self.drop}:
            raise RunError(f"--category names {sorted(twice, key=str)[0]!r}, which is no feature")

    def reading(self) -> Reading:
        """How to read the sources."""
        return Reading(self.format, self.header, self.decimal, self.schema)

    def has_prior(self) -> bool:
        """Whether new keys start from a shared prior. A certificate is about keys that start from nothing."""
        return self.key is not None and self.prior and bool(self.why_no_certificate())

    def player(self, regression: bool, layout: Any = None, words: options.Words = options.TERMINAL) -> Any:
        """The player; it tracks a certificate if there can be one. By default the columns are few and dense.

        With keys it is the same, but the default stores fewer of its first rounds, because there is a state
        for each key.
        """
        columns = 0 if layout is None else math.inf if layout.is_sparse() else layout.feature_count()
        outliers = options.read_outliers(self.outliers, words)
        loss = options.read_loss(self.loss, regression, words)
        learner = options.read_learner(self.learner, loss, words)
        if learner is None:
            learner = default_learner(regression, self.scale, loss, columns)
        is_default = self.scale and isinstance(learner, Ridges | Logits)
        if not is_default:
            options.refuse_without_default(self.memory, self.patience, self.delay, words)
        recency = self.memory, self.patience
        player = recommended(regression, outliers, learner, self.scale, *recency, self.delay)
        if self.key is not None and is_default:
            player = player._replace(stored=FEW_STORED)
        if not self.why_no_certificate():
            return Certified(player, outliers)
        return player

    def why_no_certificate(self) -> str:
        """A sentence; empty if there can be a certificate."""
        if self.scale:
            return (
                "There is no certificate: features have a running scale, so the meaning of a weight changes "
                "from round to round, and there are no fixed weights to compare with. For a certificate "
                "learn with --no-scale and a count, such as --outliers 50."
            )
        outliers = options.read_outliers(self.outliers, options.TERMINAL)
        if not (isinstance(outliers, int) and outliers >= 1):
            return (
                "There is no certificate: it needs a number of outliers. Learn with a count, such as "
                "--outliers 50."
            )
        learner = options.read_learner(self.learner, None, options.TERMINAL) or options.LEARNER
        if not getattr(learner, "domain", Everywhere()).bounded():
            return (
                f"There is no certificate: the weights of {self.learner} are not bounded. Learn with another "
                "--learner."
            )
        return ""


def learner_name(player: Any) -> str:
    """The name of the learner inside a player of `Settings`."""
    learner = player.core().learner
    return type(learner.learner if isinstance(learner, Scaled) else learner).__name__
