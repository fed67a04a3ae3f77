"""Names of a package that are imported when they are first asked for."""

import importlib
import sys


def lazy_names(package, home):
    """`__getattr__` and `__dir__` for a package; `home` says in which of its modules each name is at home."""
    room = vars(sys.modules[package])

    def attribute(name):
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        room[name] = value = getattr(importlib.import_module(f"{package}.{home[name]}"), name)
        return value

    return attribute, lambda: sorted({*room, *home})
