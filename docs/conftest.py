"""Lets the pages import the examples they show. Pages about torch or Spark are run where that is."""

import importlib.util
import pathlib
import shutil
import sys

sys.path.append(str(pathlib.Path(__file__).parent / "examples"))
collect_ignore = ["api"]  # its examples are run in the docstrings they come from
collect_ignore += ["serve.md"]  # which needs a server: tests/serve/test_docs.py
if not importlib.util.find_spec("torch"):
    collect_ignore += ["torch.md", "solved-training.md"]
if not (importlib.util.find_spec("pyspark") and shutil.which("java")):
    collect_ignore.append("spark.md")
