"""Doctests of what needs a large optional package run where it is installed."""

import importlib.util

NEEDS = {
    "torch": ["holdfast/torch"],
    "lightning": ["holdfast/torch/lightning.py"],
    "optax": ["holdfast/optax.py"],
    "pyspark": ["holdfast/spark"],
}
collect_ignore = [
    path for name, paths in NEEDS.items() if importlib.util.find_spec(name) is None for path in paths
]
