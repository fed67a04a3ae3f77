"""What a fleet learns, and from which columns: settings, encoding of the columns, target and order."""

import dataclasses
import json

from holdfast.io.columns import Layout, Target, read_layout, read_target
from holdfast.runs.files import RunError
from holdfast.runs.settings import Settings

FORMAT = "holdfast fleet 1"
_AS_TEXT = ("outliers", "memory", "patience", "loss", "learner")  # 300 means the same as "300"
_SETTINGS = ("task", "scale", "missing", "delay", *_AS_TEXT)


@dataclasses.dataclass(frozen=True)
class Plan:
    """What every task needs. It is stored beside the states as JSON."""

    settings: Settings
    layout: Layout
    target: Target
    order: str

    @property
    def key(self):
        return self.settings.key

    def columns(self):
        """The columns that are read: key, order, features and target."""
        names = [self.key, self.order, *(column.name for column in self.layout.columns), self.target.name]
        return list(dict.fromkeys(names))

    def to_json(self):
        parts = {name: getattr(self, name).to_json() for name in ("settings", "layout", "target")}
        return json.dumps({"format": FORMAT} | parts | {"order": self.order}, sort_keys=True)

    @staticmethod
    def from_json(text):
        """The plan that `to_json` wrote; raises RunError if it is anything else."""
        try:
            found = json.loads(text)
            if not isinstance(found, dict) or found.get("format") != FORMAT:
                raise ValueError(f"it is not {FORMAT!r}")
            settings = Settings.from_json(found.get("settings"))
            layout, target = read_layout(found.get("layout")), read_target(found.get("target"))
            if not isinstance(found.get("order"), str) or settings.key is None:
                raise ValueError("order and key are names of columns")
        except (ValueError, TypeError, RecursionError) as problem:
            raise RunError(f"the description of these models is damaged: {problem}; learn again") from None
        return Plan(settings, layout, target, found["order"])


def settings_of(key, target, order, features, drop, labels, others):
    """The settings of a run, from the arguments in Python."""
    unknown = sorted(set(others) - set(_SETTINGS))
    if unknown:
        raise TypeError(f"there is no setting {unknown[0]!r}; there are {', '.join(sorted(_SETTINGS))}")
    texts = {name: str(value) if name in _AS_TEXT else value for name, value in others.items()}
    used = {"target": target, "key": key, "order": order}
    for name, column in used.items():
        if not isinstance(column, str):
            raise TypeError(f"{name} must be the name of a column: got {column!r}")
    if len(set(used.values())) < len(used):
        raise ValueError(f"target, key and order must be three columns: got {', '.join(used.values())}")
    if features and order in features:
        raise ValueError(
            f"the column {order!r} gives the order, so it cannot be a feature: give a copy of it another name"
        )
    if not isinstance(texts.get("delay", 1), int):
        raise TypeError(f"delay is a number of rows of the key: got {texts['delay']!r}")
    settings = Settings(
        target=target,
        key=key,
        features=tuple(features or ()),
        drop=(*tuple(drop or ()), *(() if features else (order,))),
        labels=tuple(map(str, labels or ())),
        sizes=False,
        prior=False,  # it depends on the order of all rows, and tasks see those of some keys
        **texts,
    )
    settings.check()
    return settings
