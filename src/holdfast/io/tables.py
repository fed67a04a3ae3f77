"""Tables as rows of numbers: which columns are used, and how."""

from holdfast.io.columns import Layout, read_layout
from holdfast.io.guess_columns import Head, guess_layout
from holdfast.io.target import Target, guess_target, read_target

__all__ = ["Head", "Layout", "Target", "guess_layout", "guess_target", "read_layout", "read_target"]
