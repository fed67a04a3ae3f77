"""Plots as SVG, over the rounds, over time or over another number.

By hand: a report needs three kinds of marks, and matplotlib would add 75 MB to what the commands install.
"""

import datetime
import math

import numpy as np
from markupsafe import Markup, escape
from numpy.typing import ArrayLike

from holdfast.pages.palette import css
from holdfast.terminal import visible

_WIDTH, _HEIGHT = 720, 300
DASHES = ' stroke-dasharray="6 5"'
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 14, 46


class Plot:
    """Axes with the rounds from left to right; the vertical axis may be logarithmic.

    With `across`, a name, the horizontal axis has the same range as the vertical one. With `times`, the first
    and the last one in seconds since 1970, it has times instead of rounds. Colours are names of
    `holdfast.pages.palette`.
    """

    def __init__(
        self,
        title: str,
        rounds: int,
        low: float,
        high: float,
        log: bool = False,
        across: str = "",
        times: tuple[float, float] | None = None,
    ) -> None:
        self.log, self.title, self.across = log, title, across
        self.parts: list[str] = []
        self.low: float
        self.high: float
        if log:
            self.low, self.high = math.floor(math.log10(low)), math.ceil(math.log10(high))
            self.high += self.high == self.low
        else:
            room = 0.05 * (high - low) or abs(high) or 1.0
            self.low, self.high = low - room, high + room
        self.times = times
        self.left, self.right = (self.low, self.high) if across else (1, max(rounds, 2))
        if times is not None:
            self.left, self.right, self.across = times[0], max(times[1], times[0] + 1.0), "time (UTC)"

    def x(self, values: ArrayLike) -> np.ndarray:
        share = (np.asarray(values, float) - self.left) / (self.right - self.left)
        return _LEFT + np.clip(share, 0.0, 1.0) * (_WIDTH - _LEFT - _RIGHT)

    def y(self, values: ArrayLike) -> np.ndarray:
        with np.errstate(all="ignore"):
            values = np.log10(values) if self.log else np.asarray(values, float)
        share = np.clip((values - self.low) / (self.high - self.low), 0.0, 1.0)
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)

    def line(
        self,
        rounds: np.ndarray,
        values: np.ndarray,
        color: str,
        width: float = 2.0,
        name: str = "",
        dashed: bool = False,
    ) -> None:
        fine = np.isfinite(values) & ((values > 0) if self.log else True)
        points = " ".join(
            f"{x:.1f},{y:.1f}" for x, y in zip(self.x(rounds[fine]), self.y(values[fine]), strict=True)
        )
        title = f"<title>{escape(visible(name, 200))}</title>" if name else ""
        if points:
            self.parts.append(
                f'<polyline points="{points}" fill="none" style="stroke:{css(color)}" stroke-width="{width}"'
                f"{DASHES if dashed else ''}>{title}</polyline>"
            )

    def dots(
        self, rounds: np.ndarray, values: np.ndarray, color: str, radius: float = 1.2, opacity: float = 0.5
    ) -> None:
        fine = np.isfinite(values) & ((values > 0) if self.log else True)
        places = zip(self.x(rounds[fine]), self.y(values[fine]), strict=True)
        path = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in places)
        if path:
            self.parts.append(
                f'<path d="{path}" style="stroke:{css(color)}" stroke-width="{2 * radius}" '
                f'stroke-linecap="round" opacity="{opacity}" fill="none"/>'
            )

    def crosses(self, rounds: np.ndarray, values: np.ndarray, color: str, size: float = 3.0) -> None:
        """Mark rounds; where a value is not finite the mark is at the upper edge."""
        heights = np.where(np.isfinite(values), self.y(np.where(np.isfinite(values), values, 1.0)), _TOP)
        path = "".join(
            f"M{x - size:.1f} {y - size:.1f}l{2 * size:g} {2 * size:g}"
            f"m0 {-2 * size:g}l{-2 * size:g} {2 * size:g}"
            for x, y in zip(self.x(rounds), heights, strict=True)
        )
        if path:
            self.parts.append(
                f'<path d="{path}" style="stroke:{css(color)}" stroke-width="1.4" fill="none"/>'
            )

    def svg(self) -> Markup:
        grid = []
        for value, text in self._ticks():
            y = float(self.y(10.0**value if self.log else value))
            grid.append(f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" style="stroke:{css("rule")}"/>')
            grid.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
        for value, text, anchor in self._marks():
            x = float(self.x(value))
            grid.append(
                f'<text x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="{anchor}">{text}</text>'
            )
        grid.append(
            f'<text x="{(_LEFT + _WIDTH) / 2:.0f}" y="{_HEIGHT - 4}" text-anchor="middle">'
            f"{escape(visible(self.across or 'round', 60))}</text>"
        )
        return Markup(
            f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(self.title)}">'
            f"{''.join(grid)}{''.join(self.parts)}</svg>"
        )

    def _marks(self) -> list[tuple[float, str, str]]:
        """Values of the horizontal axis, their texts and how these are aligned."""
        shares = ((0.0, "start"), (0.5, "middle"), (1.0, "end"))
        if self.times is not None:
            span = self.right - self.left
            places = [(self.left + share * span, anchor) for share, anchor in shares]
            return [(value, _time(value, span), anchor) for value, anchor in places]
        if self.across:
            return [(value, text, "middle") for value, text in self._ticks()]
        rounds = [(round(1 + share * (self.right - 1)), anchor) for share, anchor in shares]
        return [(value, f"{value:,}", anchor) for value, anchor in rounds]

    def _ticks(self) -> list[tuple[float, str]]:
        if self.log:  # whole powers of ten
            places = range(int(self.low), int(self.high) + 1, max(1, math.ceil((self.high - self.low) / 6)))
            return [(e, f"{10.0**e:g}") for e in places]
        step = 10.0 ** math.floor(math.log10((self.high - self.low) / 3.0))
        step *= next(m for m in (1, 2, 5, 10) if (self.high - self.low) / (m * step) <= 6.0)
        first = math.ceil(self.low / step)
        return [(i * step, f"{i * step:g}") for i in range(first, math.floor(self.high / step) + 1)]


def _time(seconds: float, span: float) -> str:
    """A time with what matters in so many seconds."""
    form = "%H:%M:%S" if span < 3600.0 else "%H:%M" if span < 86400.0 else "%Y-%m-%d %H:%M"
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime(form)
