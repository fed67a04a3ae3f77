"""holdfast doctor: what this installation is, and why it is not faster."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import Any

from holdfast.cli import installation
from holdfast.cli.arguments import add_json, describe
from holdfast.terminal import DONE, FAILED, print_json, tell, visible

_EXITS = """exit status:
  0    holdfast works, perhaps more slowly than it could
  1    something is broken: it is marked with BROKEN, and the line says what\n       to do"""
_LEVELS = {"fast": "for processors with AVX2 (x86-64-v3) or newer", "any": "for older processors (x86-64-v2)"}


def add(parser: ArgumentParser) -> None:
    describe(
        parser,
        run,
        (
            "Say what this installation is: versions, whether games run as prebuilt machine code and why\n"
            "not, whether that gives the same bits as Python on this machine, where compiled games are\n"
            "stored, and which optional packages are missing. Put its output into a report of an error."
        ),
        [
            "holdfast doctor",
            "holdfast doctor --json | jq .games.reason       # why games are not prebuilt; null if they are",
        ],
        exits=_EXITS,
    )
    add_json(parser)


def run(options: Namespace) -> int:
    found = {
        "versions": installation.versions(),
        "system": installation.system(),
        "games": installation.games(),
        "numba": installation.numba(),
        "cache": installation.cache(),
        "extras": installation.extras(),
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
