"""Choose how games are compiled: with `numba_private`, or only through the public API of numba.

`HOLDFAST_PUBLIC_NUMBA=1` chooses the public API. If `numba_private` does not work with the installed numba,
the public API is used with one warning. The results are the same, but compiling and playing take longer.
"""

import sys
import warnings
from types import ModuleType

import numba

from holdfast._compiled.calls import SWITCH, is_public


def _load() -> ModuleType | None:
    """The module `numba_private`, or None."""
    if is_public():
        return None
    try:
        from holdfast._compiled import numba_private

        numba_private.check()
        # On other systems LLVM's linker was not tried when this was written.
        if numba.__version__.rsplit(".", 1)[0] not in numba_private.TESTED or sys.platform != "linux":
            from holdfast._compiled.trial import run

            run()
    except Exception as problem:
        warnings.warn(
            f"holdfast cannot use the private API of numba {numba.__version__} ({problem!r}), so it "
            "compiles through the public API: the same results, but slower and without a disk cache. "
            f"Install numba>=0.68,<0.69, or set {SWITCH}=1 to choose the public API without this warning",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return numba_private


private = _load()
