"""Guess from the first rows of a table which columns to use as features, and how."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.io import cells
from holdfast.io.byte_stream import SourceError, no_column
from holdfast.io.columns import (
    Category,
    Column,
    Hashed,
    Layout,
    Number,
    SparseColumns,
    Target,
    Time,
    column_kind,
)
from holdfast.io.dates import seconds as seconds_of
from holdfast.io.forms import Form, units_in
from holdfast.io.guess_numbers import (
    as_ranks,
    counts_rows,
    covered_words,
    cycle_words,
    is_unnamed,
    predicts_better_as_category,
    time_words,
    with_cycles,
)
from holdfast.io.head import Head
from holdfast.io.schema import DROP, check_fit, types_of
from holdfast.terminal import percent, quoted, visible

_FEW = 32  # so few values get a feature each
_GROUPS = 64  # features for more values
_COUNTS = "only counts the rows"
_MANY_MISSING = 0.1  # share of the rows; with more, missing cells are filled in


def feature_columns(source: Any, settings: Any) -> list[str]:
    """The names of the columns to predict from; raises if the settings name a column that is not there."""
    keys = [] if settings.key is None else [settings.key]
    named = (*settings.features, *settings.drop, *settings.category)
    for name in (settings.target, *named, *keys, *types_of(settings.schema)):
        if name not in source.names:
            raise no_column(source, name)
    if settings.key == settings.target:
        raise SourceError(f"--key and --target name the same column {quoted(settings.key)}")
    names = list(settings.features) or [name for name in source.names if name not in settings.drop]
    if settings.features and (lost := set(settings.category) - set(settings.features)):
        raise SourceError(f"--category names {quoted(sorted(lost)[0])}, which is not among --features")
    return [name for name in names if name not in (settings.target, settings.key)]


def guess_layout(
    head: Head,
    names: Sequence[str],
    missing: str,
    types: Mapping[str, str] | None = None,
    asked: Iterable[str] = (),
    target: Target | None = None,
) -> tuple[Layout, list[str]]:
    """The layout of these columns, and a sentence about each one that is left out or encoded.

    `types` has the types of columns that are not guessed, `asked` the columns that the user has named.
    """
    layout, notes = guess_encoding(head, names, types or {}, asked, target)
    if layout.is_sparse():
        return layout, list(notes.values())
    said = [f"{called(name)}: {note}" for name, note in notes.items()]
    lost = _rows_with_missing(head, layout)
    share = float(lost.mean()) if len(lost) else 0.0
    fill = missing == "impute" or (missing == "auto" and share > _MANY_MISSING)
    if head.faults:
        fault = head.faults[min(head.faults)]
        lines = percent(len(head.faults) / head.rows)
        said.append(
            f"rows that cannot be read: {lines} of the first {head.rows:,}, such as one with {fault}: skipped"
        )
    if share > 0.0:
        what = "filled in, with a feature that says so" if fill else "skipped"
        said.append(f"rows with a missing cell: {100 * share:.3g} % of the first {len(lost):,}: {what}")
    if fill:
        layout = Layout(tuple(_with_filling(head, column) for column in layout.columns))
    return layout, said


def called(name: str) -> str:
    return visible(name, 80) or "the column without a name"


def guess_encoding(
    head: Head,
    names: Sequence[str],
    types: Mapping[str, str],
    asked: Iterable[str] = (),
    target: Target | None = None,
) -> tuple[Layout, dict[str, str]]:
    """The layout of these columns before missing cells are filled in, and notes by column."""
    asked = {*asked, *types}
    used, notes = _encodings(head, names, types, asked)
    if not used:  # a counter is better than nothing
        used, notes = _encodings(head, names, types, {*asked, *names})
        notes |= dict.fromkeys(used, f"{_COUNTS}, but there is no other column")
    targets = None if target is None else _targets(head, target)
    for name, column in used.items():
        code = ""
        if isinstance(column, Number) and not column.truth and name not in types:
            if zeros := head.leading_zeros(name):
                code = f"begins with zeros, as in {quoted(zeros, 40)}"
            elif targets is not None and predicts_better_as_category(head.numbers(name), targets):
                code = "predicts better as a category"
        code += f": probably a code, use --category {as_option(name)}" if code else ""
        parts = (notes.get(name), code, _unreadable(head, column))
        notes |= {name: "; ".join(filter(None, parts))} if any(parts) else {}
    return Layout(tuple(used.values())), notes


def _unreadable(head: Head, column: Column) -> str:
    """What `learn` does not read of a column of numbers or times."""
    name = column.name
    if isinstance(column, Number):
        form = column.form or (None if column.truth or head.decimal == "." else Form("", head.decimal))
        return head.unreadable(name, column._replace(form=form).read)
    return head.unreadable(name, partial(seconds_of, form=column.form)) if isinstance(column, Time) else ""


def _encodings(
    head: Head, names: Sequence[str], types: Mapping[str, str], asked: Iterable[str]
) -> tuple[dict[str, Column], dict[str, str]]:
    used: dict[str, Column] = {}
    notes: dict[str, str] = {}
    for name in names:
        found = head.kind(name)
        kind = types.get(name, found)
        times = head.time_form(name) if found in ("number", "time") and kind in (found, "time") else None
        times = None if kind == types.get(name) == "number" else times
        check_fit(name, kind, "time" if times is not None and kind == "time" else found)
        column, note = _encoded(head, name, kind, found, times, name in asked, len(names) == 1)
        used |= {name: column} if column is not None else {}
        notes |= {name: note} if note else {}
    return used, notes


def _targets(head: Head, target: Target) -> np.ndarray:
    """The targets of the first rows: ranks of numbers, or a column for each label."""
    if target.regression:
        return as_ranks(head.numbers(target.name))
    codes = pc.index_in(cells.labels(head.columns[target.name]), pa.array(target.labels, pa.string()))
    y = pc.cast(codes, pa.float64()).to_numpy(zero_copy_only=False)
    columns = (y[:, None] == np.arange(len(target.labels))).astype(float)
    return np.where(np.isnan(y)[:, None], np.nan, columns)


def _encoded(
    head: Head, name: str, kind: str, found: str, times: tuple[str, str] | None, asked: bool, alone: bool
) -> tuple[Column | None, str]:
    """A column as features, None if it is left out; and a note. `kind` is `found`, or what the user says.

    `asked`: whether the user has named the column.
    """
    array = head.columns[name]
    if kind == DROP:
        return None, "left out"
    if kind == "empty":
        return None, "empty in the first rows: left out"
    if kind == "sparse" and alone:
        width = 1 + (pc.max(cells.plain(array).keys).as_py() or 0)
        return SparseColumns(name, width), f"{width:,} columns: rows are sparse, and features not centred"
    if kind in ("other", "sparse"):
        return None, f"{array.type}, which cannot be a feature: left out"
    if times is not None:
        return _as_time(head, name, times, asked)
    if is_unnamed(name) and not asked:
        return None, "probably the index of a DataFrame: left out"
    if kind in ("number", "truth"):
        return _as_number(head, name, kind, asked)
    values = sorted(cells.different_labels(array))
    if kind == "category" or (kind != "hashed" and len(values) <= _FEW):
        many = f"{len(values)} values: a feature each" if len(values) > 1 else "one value: a feature"
        return Category(name, tuple(values)), many
    if kind != "hashed" and len(values) > 0.5 * (len(array) - array.null_count):
        return None, f"{_many_words(array)}: left out"
    return Hashed(name, _GROUPS), f"{len(values)} values in the first rows: hashed into {_GROUPS} features"


def _many_words(array: cells.Array) -> str:
    """What a column has whose cells are different in most rows, and no numbers or times."""
    texts = pc.drop_null(cells.labels(array))
    units = units_in(texts.to_pylist())
    if len(units) > 1:
        return f"numbers with different units, such as {quoted(units[0], 20)} and {quoted(units[1], 20)}"
    wrong = cells.numbers(texts)[1]
    share = 1.0 - len(wrong) / len(texts)
    if share > 0.5:
        other = f"others are not, such as {quoted(texts[wrong[0]], 40)}"
        skip = 'with "number" in a schema these rows are skipped'
        return f"{percent(share)} of the cells are numbers, {other}; {skip}"
    return "text that is different in most rows"


def _as_number(head: Head, name: str, kind: str, asked: bool) -> tuple[Column | None, str]:
    if kind == "truth":
        return Number(name, None, True), ""
    form = head.form(name)
    if not asked and counts_rows(head.numbers(name)):
        return None, f"{_COUNTS}: left out; --features or a schema can keep it"
    column = Number(name, form=form)
    if form is None:
        return column, ""
    return column, head.example(name, form)


def _as_time(head: Head, name: str, times: tuple[str, str], asked: bool) -> tuple[Column | None, str]:
    form, doubt = times
    seconds, _ = seconds_of(head.columns[name], form)
    column = with_cycles(Time(name, form), seconds, asked)
    if column is None:
        return None, f"{time_words(form)} of {covered_words(seconds)}, less than a cycle: left out"
    note = f"{time_words(form)}, used as {cycle_words(column)}"
    return column, f"{note}; {doubt}" if doubt else note


def types_in(layout: Layout, names: Iterable[str]) -> dict[str, str]:
    """The type of each of these columns, as in a schema file."""
    kinds = {column.name: column_kind(column) for column in layout.columns}
    return {name: kinds.get(name, DROP) for name in names}


def _rows_with_missing(head: Head, layout: Layout) -> np.ndarray:
    """For each row that can be read, whether it has a missing cell."""
    missing = np.zeros(head.rows, bool)
    for column in layout.columns:
        if isinstance(column, Number | Time):
            missing |= head.missing(column.name)
    return np.delete(missing, list(head.faults))


def as_option(name: str) -> str:
    """A name as the command line reads it."""
    text = f'"{name}"' if "," in name or not name else name
    return f"'{text}'" if text != name or " " in name else name


def _with_filling(head: Head, column: Column) -> Column:
    if isinstance(column, Time):
        return column._replace(fill=True)
    if isinstance(column, Number):
        values = cells.booleans(head.columns[column.name])[0] if column.truth else head.numbers(column.name)
        finite = values[np.isfinite(values)]
        return column._replace(middle=float(np.median(finite)) if len(finite) else 0.0)
    return column
