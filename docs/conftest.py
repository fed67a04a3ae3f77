"""Lets the pages import the examples they show. Pages about torch are run where torch is installed."""

import importlib.util
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parent / "examples"))
collect_ignore = ["api"]  # its examples are run in the docstrings they come from
if not importlib.util.find_spec("torch"):
    collect_ignore += ["torch.md", "solved-training.md"]
