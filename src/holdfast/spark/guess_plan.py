"""The plan of a fleet: from its first rows, as `holdfast learn` makes it, or from the types of columns."""

from types import SimpleNamespace

from holdfast.io import cells
from holdfast.io.columns import Layout, Number, Target, Time
from holdfast.io.guess_columns import ROWS, Head, feature_columns, guess_layout
from holdfast.io.guess_target import guess_target
from holdfast.runs.files import RunError
from holdfast.spark.columns import (
    NUMBERS,
    TIMES,
    WHERE,
    check_key,
    check_order,
    kind_of,
    quoted_name,
    tie_breakers,
)
from holdfast.spark.plan import Plan


def check_columns(schema, settings, order):
    """The names of the feature columns; raises if a column is missing or has a type that cannot be used."""
    twice = [name for name in schema.names if schema.names.count(name) > 1]
    if twice:
        raise RunError(f"{WHERE}: column {twice[0]!r} is there more than once: give each a name of its own")
    names = feature_columns(SimpleNamespace(names=schema.names, name=WHERE), settings)
    check_key(schema, settings.key)
    check_order(schema, order)
    return names


def plan_from_rows(table, schema, settings, order, say):
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
    return _checked(Plan(settings, layout, target, order))


def plan_from_schema(schema, settings, order):
    """A plan without any row: numbers, truth values and times only."""
    names, columns = check_columns(schema, settings, order), []
    for name in names:
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
    if settings.missing == "fill":
        raise RunError("missing='fill' needs the medians of some rows: give them with sample=")
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
    return _checked(Plan(settings, Layout(tuple(columns)), Target(settings.target, settings.labels), order))


def _checked(plan):
    if not plan.layout.columns:
        raise RunError(f"{WHERE}: no column is left to predict from")
    plan.settings.player(plan.target.regression, plan.layout)  # raises if the settings do not fit the target
    return plan


def first_rows(df, key, order):
    """The first rows as a table of Arrow, sorted by order, then by key, then by the other columns."""
    return df.orderBy(quoted_name(order), quoted_name(key), *tie_breakers(df.schema)).limit(ROWS).toArrow()
