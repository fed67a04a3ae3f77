"""Link machine code into a shared library, on Linux, macOS and Windows.

The linker is that of a C compiler: the command in the variable CC, else cc or clang, else zig of the package
ziglang. With zig a library can be made that also loads on older systems: for Linux with glibc 2.17,
`CC="python -m ziglang cc -target x86_64-linux-gnu.2.17"`.
"""

import importlib.util
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence

_SUFFIX = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")


def library_name(level: str) -> str:
    return f"games-{level}{_SUFFIX}"


def compiler() -> list[str]:
    """The command of a C compiler; raises if there is none."""
    if os.environ.get("CC"):
        return shlex.split(os.environ["CC"], posix=sys.platform != "win32")
    for name in ("cc", "clang"):
        if shutil.which(name):
            return [name]
    if importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc"]
    raise SystemExit("no C compiler to link the games with: install cc or clang, or pip install ziglang")


def link(files: Sequence[pathlib.Path], symbols: Sequence[str], library: pathlib.Path) -> None:
    """Link object files, or files of C, into a library with these functions."""
    command = [*compiler(), "-O2", "-shared", "-o", str(library), *map(str, files)]
    done = subprocess.run([*command, *_options(symbols)], stdout=sys.stderr, check=False)
    if done.returncode:
        raise SystemExit(f"{command[0]} did not link {library.name}")


def _options(symbols: Sequence[str]) -> list[str]:
    if sys.platform == "win32":  # clang, which calls Microsoft's linker
        return [f"-Wl,/EXPORT:{symbol}" for symbol in symbols]
    return ["-fPIC"] if sys.platform == "darwin" else ["-fPIC", "-s", "-lm"]
