"""Tables as rows of numbers: which columns are used, and how."""

from holdfast.tables.columns import Layout, read_layout
from holdfast.tables.guessing import Head, guess_layout
from holdfast.tables.target import Target, guess_target, read_target

__all__ = ["Head", "Layout", "Target", "guess_layout", "guess_target", "read_layout", "read_target"]
