"""One number at a time: its level, the interval of the next, and what has happened to the stream."""

from holdfast.levels.alarms import Event, Events, json_lines
from holdfast.levels.frozen_columns import FrozenColumns
from holdfast.levels.level import Level, Reading, Readings
from holdfast.levels.row_events import Decisions, RowEvents
from holdfast.levels.webhook import Webhook

__all__ = [
    "Decisions",
    "Event",
    "Events",
    "FrozenColumns",
    "Level",
    "Reading",
    "Readings",
    "RowEvents",
    "Webhook",
    "json_lines",
]
