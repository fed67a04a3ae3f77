"""What this installation is, for `holdfast doctor`. A part with `broken` true does not work."""

import os
import platform
import re
import warnings
from importlib import metadata
from pathlib import Path
from typing import Any

from holdfast import __version__
from holdfast._compiled import cache_folder, prebuilt

_FOR_DEVELOPERS = ("check", "dist", "docs", "heavy", "test")
_X86 = ("x86_64", "AMD64")
_BUILD = "python -m holdfast._compiled.prebuild makes them in about a minute, with numba and a C compiler"
_GAMES = {
    "numbers": "RobustRegressor and holdfast learn",
    "labels": "RobustClassifier and holdfast learn",
    "weighted_numbers": "RobustRegressor with weights",
    "weighted_labels": "RobustClassifier with weights",
    "wide_numbers": "RobustRegressor for more than 300 columns",
    "wide_labels": "RobustClassifier for more than 300 columns",
    "sparse": "sparse rows",
    "textbook": "Filtered with OGD or AdaGrad",
    "gates": "Gate",
    "numbers_in_time": "Level and the widths of intervals",
}


def versions() -> dict[str, Any]:
    names = {"holdfast": __version__, "Python": platform.python_version(), "numpy": _version("numpy")}
    return names | {"folder": str(Path(__file__).parents[1])}


def system() -> dict[str, Any]:
    libc = " ".join(platform.libc_ver()).strip()
    name = f"{platform.system()} {platform.release()}{f', {libc}' if libc else ''}"
    return {"name": name, "processor": platform.machine(), "cores": os.cpu_count()}


def games() -> dict[str, Any]:
    """Whether prebuilt games are used."""
    library = prebuilt.library()
    used = library.code is not None
    found: dict[str, Any] = {"prebuilt": used, "names": [], "level": None, "reason": None, "remedy": None}
    if used:
        found |= {"names": _names(), "level": prebuilt.level() if platform.machine() in _X86 else "generic"}
        found |= {"file": Path(library.code._name).name, "same_bits": _gives_the_same_bits()}
        if found["same_bits"] is False:
            reason = "on this machine they give other results than Python"
            return found | {
                "broken": True,
                "reason": reason,
                "remedy": "set HOLDFAST_PREBUILT=0, and tell us",
            }
        return found
    there, note = (prebuilt.FOLDER / "index.json").exists(), prebuilt.FOLDER / "not_built.txt"
    broken = there and library.reason.startswith("they cannot be loaded")
    reason = library.reason
    if os.environ.get("HOLDFAST_PREBUILT") == "0":
        remedy = "unset HOLDFAST_PREBUILT"
    elif broken:
        remedy = "install holdfast again"
    else:
        reason = note.read_text(encoding="utf-8").strip() if not there and note.exists() else reason
        remedy = f"install a wheel of holdfast for this system, or build them: {_BUILD}"
    return found | {"broken": broken, "reason": reason, "remedy": remedy}


def _names() -> list[str]:
    """The names of all games in the index, in words."""
    text = (prebuilt.FOLDER / "index.json").read_text(encoding="utf-8")
    symbols = re.findall(r'"holdfast_(\w+?)(?:_\d+)?"', text)
    names = dict.fromkeys(symbol for symbol in symbols if not symbol.endswith("release"))
    return [_GAMES.get(name, name.replace("_", " ")) for name in names]


def _gives_the_same_bits() -> bool | None:
    """Whether 60 rounds of the default game end with the same weights as in Python; None if not prebuilt."""
    import numpy as np

    from holdfast.adversaries.replay import replay_of_arrays
    from holdfast.continuing import Game
    from holdfast.defaults import recommended, recommended_loss
    from holdfast.learners.missing_cells import missing_with

    rng = np.random.default_rng(0)
    rows = replay_of_arrays(rng.random((60, 3)), rng.random(60), recommended_loss(True))
    player = recommended(True)._replace(missing=missing_with(0.5))
    native, python = Game(player, rows), Game(player, rows)
    native.play(rows, ())
    python._next_look = 1_000  # round at which it looks for machine code
    python.play(rows, ())
    if not native.is_native:
        return None
    return native._w.tobytes() == python._w.tobytes()


def numba() -> dict[str, Any]:
    """Whether games that are not prebuilt can be compiled."""
    version = _version("numba")
    if version is None:
        return {"version": None, "broken": False, "path": None, "reason": None}
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            from holdfast._compiled import numba_path
    except Exception as problem:  # whatever an import of a broken package raises
        return {"version": version, "broken": True, "path": None, "reason": repr(problem)}
    reason = next((str(each.message) for each in caught if "numba" in str(each.message)), None)
    return {
        "version": version,
        "broken": False,
        "path": "private" if numba_path.private else "public",
        "reason": reason,
    }


def cache() -> dict[str, Any]:
    folder = cache_folder.writable()
    tried = [str(each) for each in cache_folder.folders()]
    if folder is None:
        return {"folder": None, "tried": tried, "files": 0, "bytes": 0}
    sizes = [file.stat().st_size for file in folder.glob(f"*{cache_folder.SUFFIX}")]
    return {"folder": str(folder), "tried": tried, "files": len(sizes), "bytes": sum(sizes)}


def extras() -> dict[str, Any]:
    """For each extra, the version of its packages; None for one that is missing."""
    try:
        needed = metadata.requires("holdfast") or []
    except metadata.PackageNotFoundError:
        return {"installed": False, "packages": {}}
    found: dict[str, dict[str, str | None]] = {}
    for line in needed:
        match = re.match(r"([\w.-]+).*;.*extra == ['\"](\w+)['\"]", line)
        if match and match[2] not in _FOR_DEVELOPERS:
            found.setdefault(match[2], {})[match[1]] = _version(match[1])
    return {"installed": True, "packages": found}


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
