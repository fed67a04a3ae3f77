"""`--config FILE`: options from a TOML file, with the names that they have on the command line."""

import argparse
import tomllib
from pathlib import Path

from holdfast.terminal import quoted


def add_config(parser):
    """Let a command read options from a file. Those on the command line count more."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        help='a TOML file with options, such as outliers = "1%%", no-scale = true, drop = ["id", "url"]; '
        "those on the command line replace them",
    )


def with_config(parser, args):
    """The arguments, after those of the file that --config names, if it does."""
    options = {name: action for action in parser._actions for name in action.option_strings}
    if "--config" not in options:
        return args
    path = _config_in(args)
    if path is None:
        return args
    found = []
    for name, value in _read(parser, path).items():
        action = options.get(f"--{name}")
        if action is None or name in ("config", "help"):
            parser.error(f"{path}: there is no option {quoted(name)}; see holdfast learn --help")
        found += _as_arguments(parser, path, name, value, action.nargs == 0)
    return [*found, *args]


def _config_in(args):
    only = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    only.add_argument("--config", nargs="?")
    return only.parse_known_args(args)[0].config


def _read(parser, path):
    try:
        return tomllib.loads(Path(path).read_bytes().decode())
    except OSError as problem:
        parser.error(f"--config {path}: {problem.strerror or problem}")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as problem:
        parser.error(f"--config {path} is not TOML: {problem}")


def _as_arguments(parser, path, name, value, is_flag):
    """The option as it is written on the command line."""
    if is_flag:
        if not isinstance(value, bool):
            parser.error(f"{path}: {name} is true or false: got {quoted(value)}")
        return [f"--{name}"] if value else []
    items = value if isinstance(value, list) else [value]
    if not all(type(item) in (str, int, float) for item in items):
        parser.error(f"{path}: {name} is a text, a number or a list of these: got {quoted(value)}")
    return [f"--{name}={','.join(map(str, items))}"]
