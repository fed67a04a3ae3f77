"""What a run learns, from which columns, and with what it began: the content of config.json.

A fleet on Spark has the same, beside its states.
"""

import dataclasses
import json
from typing import Any

from holdfast.io.columns import Layout, Target, read_layout, read_target
from holdfast.io.typed import typed
from holdfast.options import TERMINAL, Words, read_loss
from holdfast.runs.files import reading
from holdfast.runs.folder import Folder
from holdfast.runs.settings import Settings
from holdfast.runs.source_records import read_fingerprint

CONFIG, FORMAT = "config.json", "holdfast run 1"
NO_SOURCE = {"bytes": 0, "crc32": 0}  # the fingerprint of none: any source can follow


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
        loss = read_loss(settings.loss, target.regression, words)
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
        """The configuration that `to_json` wrote; raises ValueError if it is anything else."""
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise ValueError(f"it is not {FORMAT!r}")
        fields = {name: value for name, value in found.items() if name != "format"}
        config = typed(Config, fields, _PARTS | {"source_begins": read_fingerprint})
        config.settings.player(config.target.regression, config.layout)  # raises if they do not fit
        return config


_PARTS = {"settings": Settings.from_json, "layout": read_layout, "target": read_target}


def read_config(folder: Folder) -> Config:
    """The configuration of the run in a folder."""
    with reading(folder.path / CONFIG):
        return Config.from_json(json.loads(folder.read(CONFIG)))
