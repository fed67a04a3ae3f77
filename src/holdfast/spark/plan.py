"""What a fleet learns, and from which columns: settings, encoding of the columns, target and order."""

import dataclasses
import json
from types import SimpleNamespace

from holdfast.io import cells
from holdfast.io.columns import Layout, Number, Target, Time, read_layout, read_target
from holdfast.io.guess_columns import ROWS, Head, feature_columns, guess_layout
from holdfast.io.guess_target import guess_target
from holdfast.runs.files import RunError
from holdfast.runs.settings import Settings
from holdfast.spark.columns import quoted_name, tie_breakers

FORMAT = "holdfast fleet 1"
_NUMBERS = ("byte", "short", "integer", "long", "float", "double", "decimal")
_WHOLE = ("byte", "short", "integer", "long")
_TIMES = ("timestamp", "timestamp_ntz", "date")
_KEYS = ("string", "boolean", "date", *_WHOLE)
_AS_TEXT = ("outliers", "memory", "patience", "loss", "learner")  # 300 means the same as "300"
_SETTINGS = ("task", "scale", "missing", *_AS_TEXT)
_WHERE = "the DataFrame"


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


def check_columns(schema, settings, order):
    """The names of the feature columns; raises if a column is missing or has a type that cannot be used."""
    twice = [name for name in schema.names if schema.names.count(name) > 1]
    if twice:
        raise RunError(f"{_WHERE}: column {twice[0]!r} is there more than once: give each a name of its own")
    names = feature_columns(SimpleNamespace(names=schema.names, name=_WHERE), settings)
    check_key(schema, settings.key)
    check_order(schema, order)
    return names


def check_key(schema, key):
    """Raise if there is no such column, or it cannot be a key."""
    kind = _kind_in(schema, key)
    if kind not in _KEYS:
        raise RunError(f"{_WHERE}, column {key!r}: {kind} cannot be a key; cast it to string")


def check_order(schema, order):
    """Raise if there is no such column, or it cannot be an order."""
    kind = _kind_in(schema, order)
    if kind not in (*_WHOLE, *_TIMES):
        raise RunError(
            f"{_WHERE}, column {order!r}: {kind} cannot be an order; whole numbers, dates and timestamps can"
        )


def _kind_in(schema, name):
    if name not in schema.names:
        raise RunError(f"{_WHERE} has no column {name!r}; it has {', '.join(schema.names[:20])}")
    return kind_of(schema[name])


def plan_from_rows(table, schema, settings, order, say):
    """The plan that `holdfast learn` makes from the same first rows, given as a table of Arrow."""
    names = check_columns(schema, settings, order)
    head = Head({name: cells.plain(table.column(name)) for name in table.column_names}, table.num_rows, {})
    if not head.rows:
        raise RunError(f"{_WHERE} has no rows to choose the encoding of the columns from")
    target, sentence = guess_target(head, settings.target, settings.task, settings.labels, _WHERE)
    say(sentence)
    layout, sentences = guess_layout(head, names, settings.missing)
    for sentence in sentences:
        say(sentence)
    return _checked(Plan(settings, layout, target, order))


def plan_from_schema(schema, settings, order):
    """A plan without any row: numbers, truth values and times only."""
    names, columns = check_columns(schema, settings, order), []
    for name in names:
        kind = kind_of(schema[name])
        if kind in _NUMBERS or kind == "boolean":
            columns.append(Number(name, None, kind == "boolean"))
        elif kind in _TIMES:
            columns.append(Time(name))
        else:
            raise RunError(
                f"the stream, column {name!r}: the encoding of {kind} depends on its values; give some "
                "rows with sample=, or leave the column out with drop="
            )
    if settings.missing == "fill":
        raise RunError("missing='fill' needs the medians of some rows: give them with sample=")
    kind = kind_of(schema[settings.target])
    numbers = kind in ("float", "double", "decimal") or settings.task == "regression"
    if not settings.labels and (settings.task == "classification" or not numbers):
        raise RunError(
            f"the stream, column {settings.target!r}: name all labels with labels=, or use "
            "task='regression', or give some rows with sample="
        )
    if not settings.labels and kind not in (*_NUMBERS, "boolean"):
        raise RunError(
            f"the stream, column {settings.target!r}: {kind} holds no numbers; name all labels with labels="
        )
    return _checked(Plan(settings, Layout(tuple(columns)), Target(settings.target, settings.labels), order))


def _checked(plan):
    if not plan.layout.columns:
        raise RunError(f"{_WHERE}: no column is left to predict from")
    plan.settings.player(plan.target.regression, plan.layout)  # raises if the settings do not fit the target
    return plan


def kind_of(field):
    """The type of a column of Spark in one word, such as long or decimal."""
    return field.dataType.typeName()


def first_rows(df, key, order):
    """The first rows as a table of Arrow, sorted by order, then by key, then by the other columns."""
    return df.orderBy(quoted_name(order), quoted_name(key), *tie_breakers(df.schema)).limit(ROWS).toArrow()
