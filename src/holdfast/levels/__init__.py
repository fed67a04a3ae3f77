"""One number at a time: its level, the interval of the next, and what has happened to the stream."""

from holdfast.levels.alarms import Event, json_lines
from holdfast.levels.level import Level, Reading, Readings
from holdfast.levels.webhook import Webhook

__all__ = ["Event", "Level", "Reading", "Readings", "Webhook", "json_lines"]
