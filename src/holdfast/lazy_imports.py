"""Names that are imported when they are first used, and old names that still work for a while."""

import importlib
import sys
import warnings


def lazy_names(package, home, moved=None):
    """`__getattr__` and `__dir__` for a package.

    `home` has the module of each name. `moved` has the new place of each old name, such as "learners.Squint":
    using an old name gives a DeprecationWarning with the new one.
    """
    namespace, moved = vars(sys.modules[package]), moved or {}

    def attribute(name):
        if name in moved:
            warnings.warn(
                f"{package}.{name} is now {package}.{moved[name]}; the old name is removed in version 0.3",
                DeprecationWarning,
                stacklevel=2,
            )
            module, _, new = moved[name].rpartition(".")
            return getattr(importlib.import_module(f"{package}.{module}" if module else package), new)
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        namespace[name] = value = getattr(importlib.import_module(f"{package}.{home[name]}"), name)
        return value

    return attribute, lambda: sorted({*namespace, *home})
