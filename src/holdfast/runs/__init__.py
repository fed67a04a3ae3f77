"""Runs: learn from a source into a folder. A run can be killed at any moment and resumed."""
