"""Without torch, what is not a test cannot be imported."""

import importlib.util

collect_ignore = [] if importlib.util.find_spec("torch") else ["training.py", "two_processes.py"]
