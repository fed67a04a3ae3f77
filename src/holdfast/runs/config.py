"""What a run learns, from which columns, and with what it began: the content of config.json.

A fleet on Spark has the same, beside its states. The settings are those of the command line.
"""

import dataclasses
import json
import math
from typing import Any

from holdfast import options
from holdfast.certificates.certified import Certified
from holdfast.defaults import default_learner, recommended
from holdfast.domains import Everywhere
from holdfast.io.columns import Layout, Target, read_layout, read_target
from holdfast.io.dates import ORDERS
from holdfast.io.sources import DECIMALS, Reading
from holdfast.io.typed import typed
from holdfast.options import TERMINAL, Words
from holdfast.runs.files import RunError, reading
from holdfast.runs.folder import Folder
from holdfast.runs.source_records import read_fingerprint
from holdfast.steady import Logits, Ridges
from holdfast.steady.player import FEW_STORED

CONFIG, FORMAT = "config.json", "holdfast run 1"
NO_SOURCE = {"bytes": 0, "crc32": 0}  # the fingerprint of none: any source can follow
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

    def changed(self) -> dict[str, Any]:
        """The target, and the settings that are not the defaults."""
        default = Settings(self.target)
        found = self.to_json().items()
        return {name: value for name, value in found if name == "target" or value != getattr(default, name)}

    @staticmethod
    def from_json(found: Any) -> "Settings":
        settings = typed(Settings, found)
        settings.check()
        return settings

    def check(self, words: Words = TERMINAL) -> None:
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
        return Reading(self.format, self.header, self.decimal, self.schema)

    def has_prior(self) -> bool:
        """Whether new keys start from a shared prior. A certificate is about keys that start from nothing."""
        return self.key is not None and self.prior and bool(self.why_no_certificate())

    def player(self, regression: bool, layout: Any = None, words: Words = TERMINAL) -> Any:
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
        outliers = options.read_outliers(self.outliers, TERMINAL)
        if not (isinstance(outliers, int) and outliers >= 1):
            return (
                "There is no certificate: it needs a number of outliers. Learn with a count, such as "
                "--outliers 50."
            )
        learner = options.read_learner(self.learner, None, TERMINAL) or options.LEARNER
        if not getattr(learner, "domain", Everywhere()).bounded():
            return (
                f"There is no certificate: the weights of {self.learner} are not bounded. Learn with another "
                "--learner."
            )
        return ""


@dataclasses.dataclass(frozen=True)
class Config:
    """The settings, and what was chosen from the first rows. `new` makes one."""

    settings: Settings
    layout: Layout
    target: Target
    source: str  # the name of the first one
    source_begins: dict[str, int]  # its fingerprint
    names: tuple[str, ...] | None  # of all columns of the first source, if a later one may lack them
    notes: tuple[str, ...]
    codes: tuple[str, ...]  # columns of numbers that may be codes: few different whole numbers
    order: str | None  # the column that orders the rows, on Spark
    loss: str  # loss and player as they are written: another version may have others
    player: str

    @staticmethod
    def new(
        settings: Settings,
        layout: Layout,
        target: Target,
        source: str = "spark",
        source_begins: dict[str, int] | None = None,
        names: tuple[str, ...] | None = None,
        notes: tuple[str, ...] = (),
        codes: tuple[str, ...] = (),
        order: str | None = None,
        words: Words = TERMINAL,
    ) -> "Config":
        """A configuration; raises if the settings do not fit together, or not the target."""
        loss = options.read_loss(settings.loss, target.regression, words)
        player = settings.player(target.regression, layout, words)
        begins = NO_SOURCE if source_begins is None else source_begins
        about = (source, begins, names, notes, codes, order)
        return Config(settings, layout, target, *about, repr(loss), repr(player))

    @property
    def key(self) -> str | None:
        return self.settings.key

    def columns(self) -> list[str]:
        """The columns that are read: key, order, features and target."""
        names = [self.key, self.order, *(column.name for column in self.layout.columns), self.target.name]
        return list(dict.fromkeys(name for name in names if name is not None))

    def to_json(self) -> dict[str, Any]:
        found = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {"format": FORMAT} | found | {name: found[name].to_json() for name in _PARTS}

    def to_text(self) -> str:
        return json.dumps(self.to_json(), sort_keys=True)

    @staticmethod
    def from_json(found: Any) -> "Config":
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise ValueError(f"it is not {FORMAT!r}")
        fields = {name: value for name, value in found.items() if name != "format"}
        config = typed(Config, fields, _PARTS | {"source_begins": read_fingerprint})
        config.settings.player(config.target.regression, config.layout)  # raises if they do not fit
        return config


_PARTS = {"settings": Settings.from_json, "layout": read_layout, "target": read_target}


def read_config(folder: Folder) -> Config:
    with reading(folder.path / CONFIG):
        return Config.from_json(json.loads(folder.read(CONFIG)))
