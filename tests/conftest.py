"""Tests never look at the clock; in CI they draw the same examples every time."""

import os

from hypothesis import settings

settings.register_profile("holdfast", deadline=None, derandomize="CI" in os.environ, print_blob=True)
settings.load_profile("holdfast")
