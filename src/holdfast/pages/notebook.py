"""What a notebook shows of records, certificates and audits: small tables as HTML. No library is needed."""

import html
import math

from holdfast.terminal import visible

_LONGEST = 200  # characters of a cell
_FIGURES = ("_size", "_threshold")  # ends of the names of columns that are shown last


def facts(title, rows, text=""):
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


class ColumnTable(dict):
    """A dict of columns of the same length, which a notebook shows as a table, sizes and thresholds last.

    >>> ColumnTable(row=[7], by=["features"])._repr_html_()
    '<div ...><table><tr><th>row</th><th>by</th></tr><tr><td>7</td><td>features</td></tr></table></div>'
    """

    shown = 20  # rows

    def _repr_html_(self):
        names = sorted(self, key=lambda name: name.endswith(_FIGURES))
        head = "".join(f"<th>{_cell(name)}</th>" for name in names)
        rows = list(zip(*(self[name] for name in names), strict=True))
        body = "".join(
            "<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>"
            for row in rows[: self.shown]
        )
        more = f"<p>{len(rows) - self.shown:,} more rows</p>" if len(rows) > self.shown else ""
        return f'<div style="overflow-x:auto"><table><tr>{head}</tr>{body}</table>{more}</div>'


def _cell(value):
    """A value as escaped text: counts in full, other numbers with four digits."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        value = f"{value:.4g}" if math.isfinite(value) else str(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        value = f"{value:,}"
    return html.escape(visible(value, _LONGEST))
