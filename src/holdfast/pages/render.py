"""Fill in a template. Every value is escaped, printable and of a bounded length, unless it is Markup."""

import functools
import numbers
from typing import Any

import jinja2
from markupsafe import Markup, escape

from holdfast.pages import palette
from holdfast.terminal import visible

_LONGEST = 200  # characters of a name or a cell


def render(template: str, **values: Any) -> str:
    """The page that a template of this room makes of these values."""
    return environment().get_template(template).render(values)


@functools.cache
def environment() -> jinja2.Environment:
    """The templates of this room, with what they may use; the laboratory adds one of its own."""
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("holdfast.pages"),
        autoescape=True,
        finalize=_printable,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {"figure": figure, "whole": lambda text: escape(visible(text))}
    templates.globals["palette"] = palette
    return templates


def _printable(value: Any) -> str:
    """Values come from files: no control characters, and not too long. The filter `whole` does not cut."""
    return value if isinstance(value, Markup) else visible(value, _LONGEST)


def figure(value: Any) -> str:
    """A count in full, any other number with four digits or without decimals; nothing for None and NaN.

    >>> figure(12345), figure(3.14159), figure(46633.2), figure(1e20), figure(float("nan"))
    ('12,345', '3.142', '46,633', '1e+20', '')
    """
    if value is None or value != value:
        return ""
    if isinstance(value, numbers.Integral):
        return f"{value:,}"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e12 else f"{value:.4g}"
