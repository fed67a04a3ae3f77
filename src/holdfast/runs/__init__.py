"""Runs: a stream learned from, in a folder that survives whatever happens to the process."""
