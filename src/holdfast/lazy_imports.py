"""Names of a package that are imported when they are first used."""

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(package: str, home: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` for a package; `home` has the module of each name."""
    namespace = vars(sys.modules[package])

    def attribute(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        namespace[name] = value = getattr(importlib.import_module(f"{package}.{home[name]}"), name)
        return value

    return attribute, lambda: sorted({*namespace, *home})
