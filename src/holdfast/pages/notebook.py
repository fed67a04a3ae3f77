"""What a notebook shows of records, certificates and audits: small tables as HTML. No library is needed."""

import html
import math
from collections.abc import Mapping
from typing import Any

from holdfast.terminal import visible

_LONGEST = 200  # characters of a cell


def facts(title: str, rows: Mapping[str, Any], text: str = "") -> str:
    """A title, a table of names and values, and a paragraph.

    >>> facts("Record", {"rounds": 1200})
    '<div><strong>Record</strong><table><tr><th ...>rounds</th><td>1,200</td></tr></table></div>'
    """
    lines = "".join(
        f'<tr><th style="text-align:left">{_cell(name)}</th><td>{_cell(value)}</td></tr>'
        for name, value in rows.items()
    )
    below = f"<p>{html.escape(visible(text))}</p>" if text else ""
    return f"<div><strong>{_cell(title)}</strong><table>{lines}</table>{below}</div>"


class ColumnTable(dict[str, Any]):
    """A dict of columns of the same length, which a notebook shows as a table.

    >>> ColumnTable(row=[7], reason=["features"])._repr_html_()
    '<div ...><table><tr><th>row</th><th>reason</th></tr><tr><td>7</td><td>features</td></tr></table></div>'
    """

    shown = 20  # rows

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{_cell(name)}</th>" for name in self)
        rows = list(zip(*self.values(), strict=True))
        body = "".join(
            "<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>"
            for row in rows[: self.shown]
        )
        more = f"<p>{len(rows) - self.shown:,} more rows</p>" if len(rows) > self.shown else ""
        return f'<div style="overflow-x:auto"><table><tr>{head}</tr>{body}</table>{more}</div>'


def _cell(value: Any) -> str:
    """A value as escaped text: counts in full, other numbers with four digits."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        value = f"{value:.4g}" if math.isfinite(value) else str(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        value = f"{value:,}"
    return html.escape(visible(value, _LONGEST))
