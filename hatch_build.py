"""Compile the default games while a wheel is built: not for editable installs, nor if HOLDFAST_PREBUILD=0.

Progress goes to the terminal, because pip shows the output of a build only with -v. If the games cannot be
compiled, the wheel has no machine code, but the reason in `_prebuilt/not_built.txt`, which `holdfast doctor`
prints. It works as well, more slowly.
"""

import contextlib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_NUMBA = "numba>=0.68,<0.69"
_MACOS = {"MACOSX_DEPLOYMENT_TARGET": str(sysconfig.get_config_var("MACOSX_DEPLOYMENT_TARGET") or "11.0")}
_PROCESSORS = ("x86_64", "AMD64", "aarch64", "arm64")  # those for which there is numba


class CustomBuildHook(BuildHookInterface[Any]):
    def dependencies(self) -> list[str]:
        return [] if _why_not() else [_NUMBA, "numpy>=2.0"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        self._folder = folder = pathlib.Path(tempfile.mkdtemp(prefix="holdfast-"))
        why_not = _why_not() or self._compile(folder)
        if why_not:
            for file in folder.iterdir():
                file.unlink()
            (folder / "not_built.txt").write_text(f"{why_not}\n", encoding="utf-8")
            self._say(f"holdfast: no machine code in this wheel: {why_not}. It works as well, more slowly")
        else:
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{_system()}"
        for file in folder.iterdir():
            build_data["force_include"][str(file)] = f"holdfast/_prebuilt/{file.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            shutil.rmtree(self._folder, ignore_errors=True)

    def _compile(self, folder: pathlib.Path) -> str:
        """Write the libraries and their index into the folder; return why that failed, or ""."""
        path = [str(pathlib.Path(self.root) / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
        env = _MACOS | os.environ | {"PYTHONPATH": os.pathsep.join(path)}
        command = [sys.executable, "-m", "holdfast._compiled.prebuild", str(folder)]
        self._say("holdfast: compiling the default games, about a minute (HOLDFAST_PREBUILD=0 skips it)")
        last = ""
        with subprocess.Popen(
            command, env=env, stderr=subprocess.PIPE, text=True, errors="replace"
        ) as process:
            for line in process.stderr or ():
                last = line.strip() or last
                self._say(f"holdfast: {line.rstrip()}")
        return f"they were not compiled ({last})" if process.returncode else ""

    def _say(self, text: str) -> None:
        """Print a line on the terminal from which the build was started, or if there is none, as pip -v."""
        with contextlib.suppress(OSError):
            place = "CONOUT$" if sys.platform == "win32" else "/dev/tty"
            with open(place, "w", encoding="utf-8", errors="replace") as terminal:
                terminal.write(f"\r{text}\n")
                return
        self.app.display_info(text)


def _why_not() -> str:
    """Why no machine code is wanted or possible here; "" if it is."""
    if os.environ.get("HOLDFAST_PREBUILD") == "0":
        return "it was built with HOLDFAST_PREBUILD=0"
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "there is no numba for this kind of Python, which compiles the games"
    if platform.machine() not in _PROCESSORS or (sys.platform == "linux" and not platform.libc_ver()[0]):
        return f"there is no numba for this system ({_system()}), which compiles the games"
    return ""


def _system() -> str:
    """The platform in the name of the wheel. The libraries are for one processor, Python may be for two."""
    name = sysconfig.get_platform().replace("universal2", platform.machine())
    return re.sub(r"[-.]", "_", name)
