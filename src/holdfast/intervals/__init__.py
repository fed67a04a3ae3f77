"""How sure is a forecast: widths of intervals that bad rows cannot mislead, and how they have done."""

from holdfast.intervals.tracker import Tracker
from holdfast.intervals.widths import IntervalReport, Widths

__all__ = ["IntervalReport", "Tracker", "Widths"]
