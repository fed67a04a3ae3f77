"""The tables and the runs of `tests/cli`."""

from cli.conftest import learn, source, table

__all__ = ["learn", "source", "table"]
