"""holdfast doctor: what this installation is, and why it is not faster."""

import os
import platform
import re
import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

from holdfast import __version__
from holdfast._compiled import disk_cache, prebuilt
from holdfast.cli.arguments import add_json, describe
from holdfast.terminal import DONE, FAILED, print_json, tell, visible

_EXITS = """exit status:
  0    holdfast works, perhaps more slowly than it could
  1    something is broken: it is marked with BROKEN, and the line says what\n       to do"""
_LEVELS = {"fast": "for processors with AVX2 (x86-64-v3) or newer", "any": "for older processors (x86-64-v2)"}
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


def add(parser: ArgumentParser) -> None:
    describe(
        parser,
        run,
        "Say what this installation is: versions, whether games run as prebuilt machine code and why\n"
        "not, whether that gives the same bits as Python on this machine, where compiled games are\n"
        "stored, and which optional packages are missing. Put its output into a report of an error.",
        [
            "holdfast doctor",
            "holdfast doctor --json | jq .games.reason       # why games are not prebuilt; null if they are",
        ],
        exits=_EXITS,
    )
    add_json(parser)


def run(options: Namespace) -> int:
    found = {
        "versions": versions(),
        "system": system(),
        "games": games(),
        "numba": numba(),
        "cache": cache(),
        "extras": extras(),
    }
    broken = [name for name, part in found.items() if part.get("broken")]
    if options.json:
        print_json(found | {"broken": broken})
    else:
        for name, part in found.items():
            mark = "BROKEN: " if name in broken else ""
            for i, line in enumerate(_WORDS[name](part)):
                tell(f"{'' if i else name:10}{'' if i else mark}{visible(line)}")
        tell("", f"Broken: {', '.join(broken)}." if broken else "Nothing is broken.")
    return FAILED if broken else DONE


def _versions_in_words(part: dict[str, Any]) -> list[str]:
    return [", ".join(f"{name} {part[name]}" for name in ("holdfast", "Python", "numpy")), part["folder"]]


def _system_in_words(part: dict[str, Any]) -> list[str]:
    return [f"{part['name']}; {part['processor']}, {part['cores']} cores"]


def _games_in_words(part: dict[str, Any]) -> list[str]:
    if part["reason"]:
        return [f"not prebuilt: {part['reason']}", f"remedy: {part['remedy']}"]
    lines = [f"prebuilt machine code, {_LEVELS.get(part['level'], 'for this processor')}: {part['file']}"]
    if part["same_bits"]:
        lines.append("checked: it gives the same bits as Python here")
    return [*lines, f"for {', '.join(part['names'])}"]


def _numba_in_words(part: dict[str, Any]) -> list[str]:
    if part["version"] is None:
        return [
            "not installed: games that are not prebuilt run in Python, as do rules of your own",
            "remedy: pip install 'holdfast[compile]'",
        ]
    if part["broken"]:
        return [
            f"{part['version']} cannot be imported: {part['reason']}; pip install --force-reinstall numba"
        ]
    return [f"{part['version']}, which compiles games that are not prebuilt", *filter(None, [part["reason"]])]


def _cache_in_words(part: dict[str, Any]) -> list[str]:
    if part["folder"] is None:
        tried = ", ".join(part["tried"])
        return [
            f"no folder can be written to ({tried}): compiled games are lost when the process ends",
            "remedy: set HOLDFAST_CACHE_DIR to a folder of your own",
        ]
    return [f"{part['folder']}: {part['files']} compiled games, {part['bytes'] / 1e6:.1f} MB"]


def _extras_in_words(part: dict[str, Any]) -> list[str]:
    if not part["installed"]:
        return ["unknown, because holdfast runs from a folder that was not installed"]
    lines = []
    for extra, packages in part["packages"].items():
        missing = [name for name, version in packages.items() if version is None]
        there = ", ".join(f"{name} {version}" for name, version in packages.items() if version)
        lack = f"without {', '.join(missing)}: pip install 'holdfast[{extra}]'" if missing else ""
        lines.append(f"{extra:10}{'; '.join(filter(None, [there, lack]))}")
    return lines


_WORDS: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "versions": _versions_in_words,
    "system": _system_in_words,
    "games": _games_in_words,
    "numba": _numba_in_words,
    "cache": _cache_in_words,
    "extras": _extras_in_words,
}


# -- the parts; one with `broken` true does not work


def versions() -> dict[str, Any]:
    names = {"holdfast": __version__, "Python": platform.python_version(), "numpy": _version("numpy")}
    return names | {"folder": str(Path(__file__).parents[1])}


def system() -> dict[str, Any]:
    libc = " ".join(platform.libc_ver()).strip()
    name = f"{platform.system()} {platform.release()}{f', {libc}' if libc else ''}"
    return {"name": name, "processor": platform.machine(), "cores": os.cpu_count()}


def games() -> dict[str, Any]:
    library = prebuilt.library()
    used = library.code is not None
    found: dict[str, Any] = {"prebuilt": used, "names": [], "level": None, "reason": None, "remedy": None}
    if used:
        found |= {"names": _names(), "level": prebuilt.level() if platform.machine() in _X86 else "generic"}
        found |= {"file": Path(library.code._name).name, "same_bits": _gives_the_same_bits()}
        if found["same_bits"] is False:
            found |= {"broken": True, "remedy": "set HOLDFAST_PREBUILT=0, and tell us"}
            found["reason"] = "on this machine they give other results than Python"
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
    found = {"version": _version("numba"), "broken": False, "path": None, "reason": None}
    if found["version"] is None:
        return found
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            from holdfast._compiled import numba_path
    except Exception as problem:  # whatever an import of a broken package raises
        return found | {"broken": True, "reason": repr(problem)}
    reason = next((str(each.message) for each in caught if "numba" in str(each.message)), None)
    return found | {"path": "private" if numba_path.private else "public", "reason": reason}


def cache() -> dict[str, Any]:
    folder = disk_cache.writable()
    files = folder.glob(f"*{disk_cache.SUFFIX}") if folder else ()
    sizes = [file.stat().st_size for file in files]
    tried = [str(each) for each in disk_cache.folders()]
    return {"folder": folder and str(folder), "tried": tried, "files": len(sizes), "bytes": sum(sizes)}


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
