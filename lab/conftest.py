"""Doctests of what needs torch run where it is installed."""

import importlib.util

if importlib.util.find_spec("torch") is None:
    collect_ignore = ["holdfast_lab/training", "holdfast_lab/bench/torch_steps.py"]
