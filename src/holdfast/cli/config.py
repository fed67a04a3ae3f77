"""`--config FILE`: options from a TOML file, with the names that they have on the command line."""

import tomllib
from argparse import Action, ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from holdfast.cli.arguments import as_names
from holdfast.terminal import quoted


def add_config(parser: ArgumentParser) -> None:
    """Let a command read options from a file. Those on the command line count more."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        help='a TOML file with options, such as outliers = "1%%", no-scale = true, drop = ["id", "url"]; '
        "those on the command line replace them",
    )


def with_config(parser: ArgumentParser, args: Sequence[str]) -> Sequence[str]:
    """The arguments, after those of the file that --config names, if it does.

    An option of the file is left out if one of the arguments excludes it, such as --into excludes --to.
    """
    options = {name: action for action in parser._actions for name in action.option_strings}
    if "--config" not in options:
        return args
    given = _given(options, args)
    path = given.get("--config")
    if path is None:
        return args
    found, excluded = [], _excluded(parser, [options[name] for name in given])
    for name, value in _read(parser, path).items():
        action = options.get(f"--{name}")
        if action is None or name in ("config", "help"):
            parser.error(f"{path}: there is no option {quoted(name)}; see holdfast learn --help")
        arguments = _as_arguments(parser, path, name, value, action.nargs == 0)
        found += arguments if action not in excluded else []
    return [*found, *args]


def _given(options: dict[str, Action], args: Sequence[str]) -> dict[str, str | None]:
    """The long options among the arguments, and what follows each. Names may be abbreviated."""
    found = {}
    for arg, after in zip(args, [*args, "--"][1:], strict=True):
        if arg == "--":
            break
        start, has_value, value = arg.partition("=")
        names = [name for name in options if name.startswith(start)] if start.startswith("--") else []
        names = [start] if start in names else names
        if len(names) == 1:
            found[names[0]] = value if has_value else None if after.startswith("--") else after
    return found


def _excluded(parser: ArgumentParser, actions: list[Action]) -> list[Action]:
    """The options that cannot be used together with one of these."""
    groups = [group._group_actions for group in parser._mutually_exclusive_groups]
    return [other for group in groups if any(action in group for action in actions) for other in group]


def _read(parser: ArgumentParser, path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(path).read_bytes().decode("utf-8-sig"))
    except OSError as problem:
        parser.error(f"--config {path}: {problem.strerror or problem}")
    except (ValueError, RecursionError) as problem:
        parser.error(f"--config {path} is not TOML: {problem}")


def _as_arguments(parser: ArgumentParser, path: str, name: str, value: Any, is_flag: bool) -> list[str]:
    """The option as it is written on the command line."""
    if is_flag:
        if not isinstance(value, bool):
            parser.error(f"{path}: {name} is true or false: got {quoted(value)}")
        return [f"--{name}"] if value else []
    items = value if isinstance(value, list) else [value]
    if not all(type(item) in (str, int, float) for item in items):
        parser.error(f"{path}: {name} is a text, a number or a list of these: got {quoted(value)}")
    try:
        text = as_names(map(str, items)) if isinstance(value, list) else str(value)
    except ValueError:  # Python does not write integers of more than 4,300 digits
        parser.error(f"{path}: {name} has a number of too many digits")
    if "\0" in text:
        parser.error(f"{path}: {name} has a character that no option can have: NUL")
    return [f"--{name}={text}"]
