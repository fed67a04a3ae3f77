"""The line below a table: the command that wrote it, the day, and the versions."""

import datetime
from importlib import metadata

from holdfast import __version__

_PACKAGES = ("numpy", "numba", "scikit-learn", "river")


def written_by(command):
    versions = ", ".join(f"{name} {_version(name)}" for name in _PACKAGES)
    return (
        f"Written by `{command}` on {datetime.date.today().isoformat()}: holdfast {__version__}, {versions}."
    )


def delay_option(delays):
    """The words of `--delay`; none if it has its default."""
    return [] if tuple(delays) == (1,) else ["--delay", *map(str, delays)]


def _version(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
