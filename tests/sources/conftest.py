"""The tables and the runs of `tests/command`."""

from command.conftest import learn, source, table

__all__ = ["learn", "source", "table"]
