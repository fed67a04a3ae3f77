"""The plan of a fleet: what it learns, and from which columns. It is a `Config`, as of a run, with an order.

It is made from the first rows, as `holdfast learn` makes it, or from the types of columns.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from holdfast.io import cells
from holdfast.io.columns import Layout, Number, Target, Time
from holdfast.io.guess_columns import feature_columns, guess_layout
from holdfast.io.guess_target import guess_target
from holdfast.io.head import ROWS, Head
from holdfast.options import SPARK, read_delay
from holdfast.runs.config import Config, Settings
from holdfast.runs.files import RunError
from holdfast.spark.checks import (
    NUMBERS,
    TIMES,
    WHERE,
    check_key,
    check_order,
    kind_of,
    quoted_name,
    tie_breakers,
)

_AS_TEXT = ("outliers", "memory", "patience", "loss", "learner")  # 300 means the same as "300"
_SETTINGS = ("task", "scale", "missing", "delay", *_AS_TEXT)


def read_plan(text: Any) -> Config:
    """The plan that `Config.to_text` wrote; raises RunError if it is anything else."""
    try:
        plan = Config.from_json(json.loads(text))
        if plan.order is None or plan.key is None:
            raise ValueError("order and key are names of columns")
    except (ValueError, TypeError, RecursionError) as problem:
        raise RunError(f"the description of these models is damaged: {problem}; learn again") from None
    return plan


def settings_of(
    key: str,
    target: str,
    order: str,
    features: Sequence[str] | None,
    drop: Sequence[str] | None,
    labels: Sequence[Any] | None,
    others: Mapping[str, Any],
) -> Settings:
    """The settings of a run, from the arguments in Python."""
    unknown = sorted(set(others) - set(_SETTINGS))
    if unknown:
        raise TypeError(f"there is no setting {unknown[0]!r}; there are {', '.join(sorted(_SETTINGS))}")
    texts = dict(others) | {name: str(others[name]) for name in _AS_TEXT if name in others}
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
    read_delay(texts.get("delay", 1))
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
    settings.check(SPARK)
    return settings


def check_columns(schema: StructType, settings: Settings, order: str) -> list[str]:
    """The names of the feature columns; raises if a column is missing or has a type that cannot be used."""
    twice = [name for name in schema.names if schema.names.count(name) > 1]
    if twice:
        raise RunError(f"{WHERE}: column {twice[0]!r} is there more than once: give each a name of its own")
    names = feature_columns(SimpleNamespace(names=schema.names, name=WHERE), settings)
    check_key(schema, str(settings.key))
    check_order(schema, order)
    return names


def plan_from_rows(
    table: pa.Table, schema: StructType, settings: Settings, order: str, say: Callable[[str], object]
) -> Config:
    """The plan that `holdfast learn` makes from the same first rows, given as a table of Arrow."""
    names = check_columns(schema, settings, order)
    head = Head({name: cells.plain(table.column(name)) for name in table.column_names}, table.num_rows, {})
    if not head.rows:
        raise RunError(f"{WHERE} has no rows to choose the encoding of the columns from")
    target, sentence = guess_target(head, settings.target, settings.task, settings.labels, WHERE)
    say(sentence)
    layout, sentences = guess_layout(head, names, settings.missing)
    for sentence in sentences:
        say(sentence)
    return _new(settings, layout, target, order)


def plan_from_schema(schema: StructType, settings: Settings, order: str) -> Config:
    """A plan without any row: numbers, truth values and times only."""
    columns: list[Number | Time] = []
    for name in check_columns(schema, settings, order):
        kind = kind_of(schema[name])
        if kind in NUMBERS or kind == "boolean":
            columns.append(Number(name, None, kind == "boolean"))
        elif kind in TIMES:
            columns.append(Time(name))
        else:
            raise RunError(
                f"the stream, column {name!r}: the encoding of {kind} depends on its values; give some "
                "rows with sample=, or leave the column out with drop="
            )
    if settings.missing == "impute":
        raise RunError("missing='impute' needs the medians of some rows: give them with sample=")
    kind = kind_of(schema[settings.target])
    numbers = kind in ("float", "double", "decimal") or settings.task == "regression"
    if not settings.labels and (settings.task == "classification" or not numbers):
        raise RunError(
            f"the stream, column {settings.target!r}: name all labels with labels=, or use "
            "task='regression', or give some rows with sample="
        )
    if not settings.labels and kind not in (*NUMBERS, "boolean"):
        raise RunError(
            f"the stream, column {settings.target!r}: {kind} holds no numbers; name all labels with labels="
        )
    return _new(settings, Layout(tuple(columns)), Target(settings.target, settings.labels), order)


def _new(settings: Settings, layout: Layout, target: Target, order: str) -> Config:
    if not layout.columns:
        raise RunError(f"{WHERE}: no column is left to predict from")
    return Config.new(settings, layout, target, order=order, words=SPARK)


def first_rows(df: DataFrame, key: str, order: str) -> pa.Table:
    """The first rows as a table of Arrow, sorted by order, then by key, then by the other columns."""
    return df.orderBy(quoted_name(order), quoted_name(key), *tie_breakers(df.schema)).limit(ROWS).toArrow()
