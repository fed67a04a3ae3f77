"""Hypothesis reads no clock and draws the same examples in every run. No other process compiles."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "holdfast",
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],  # which reads a clock
)
settings.load_profile("holdfast")
os.environ["HOLDFAST_BACKGROUND"] = "0"
