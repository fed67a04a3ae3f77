"""Compile the default games while a wheel is built: not for editable installs, nor if HOLDFAST_PREBUILD=0.

If that is not possible, the wheel has no machine code, and holdfast compiles at run time as before.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface[Any]):
    def dependencies(self) -> list[str]:
        return ["numba>=0.68,<0.69", "numpy>=2.0"] if self._is_wanted() else []

    def _is_wanted(self) -> bool:
        return sys.platform == "linux" and os.environ.get("HOLDFAST_PREBUILD") != "0"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable" or not self._is_wanted():
            return
        root = pathlib.Path(self.root)
        folder = root / "build" / "prebuilt"
        shutil.rmtree(folder, ignore_errors=True)
        path = os.pathsep.join(filter(None, [str(root / "src"), os.environ.get("PYTHONPATH")]))
        command = [sys.executable, "-m", "holdfast._compiled.prebuild", str(folder)]
        self.app.display_info("holdfast: compiling the default games, about a minute ...")
        done = subprocess.run(command, env=os.environ | {"PYTHONPATH": path}, check=False)
        if done.returncode:
            self.app.display_warning("holdfast: built without machine code: games are compiled when they run")
            return
        for file in folder.iterdir():
            build_data["force_include"][str(file)] = f"holdfast/_prebuilt/{file.name}"
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
