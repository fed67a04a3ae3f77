"""Lets the pages import the examples they show."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parent / "examples"))
collect_ignore = ["api"]  # its examples are run in the docstrings they come from
