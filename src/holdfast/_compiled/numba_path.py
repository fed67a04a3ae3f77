"""How games are compiled: with the help of `numba_private`, or through numba's public API only.

`HOLDFAST_PUBLIC_NUMBA=1` asks for the public API. So does a numba that lacks what `numba_private` uses, with
one warning. The results are the same; compiling and playing take longer.
"""

import os
import warnings

import numba

SWITCH = "HOLDFAST_PUBLIC_NUMBA"


def _load():
    """The module `numba_private`, or None."""
    if os.environ.get(SWITCH, "") not in ("", "0"):
        return None
    try:
        from holdfast._compiled import numba_private

        numba_private.check()
        if numba.__version__.rsplit(".", 1)[0] not in numba_private.TESTED:
            from holdfast._compiled.trial import run

            run()
    except Exception as problem:
        warnings.warn(
            f"holdfast cannot use what is private to numba {numba.__version__} ({problem!r}), so it "
            "compiles through the public API instead: the same results, but slower, with no disk cache. "
            f"Install numba>=0.68,<0.69, or set {SWITCH}=1 to choose this and end the warning",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return numba_private


private = _load()
