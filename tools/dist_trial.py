"""Install the sdist and the wheel of dist/ into empty environments, and try them there: `make test-dist`.

The wheel is tried with every Python that is found from python3.11 on, or with those of the variable PYTHONS:
first without numba, then with it. It must use its machine code and give the recorded bits. The sdist is tried
with the Python that runs this, without compiling games: the wheel was built from it.

Nothing of the checkout is used: each environment is in a temporary folder, and so is the working directory.
The tests and the pages are those of the sdist. Some of them are enough: all tests run in the checkout.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

EXTRAS = "cli,compile,plot,pandas,sklearn,river"  # compile: tests of gates compile filters of their own
TESTS = ["tests/filters/test_topk.py", "tests/test_gate.py", "tests/test_record_display.py", "docs/start.md"]
BARE = "import holdfast as hf; hf.Gate(hf.TopK(1)).keep(1.0)"  # needs no extra
WHERE = "import holdfast, pathlib; print(pathlib.Path(holdfast.__file__).parent)"
LARGEST = 5_000_000  # bytes of a wheel
UV = Path(sys.executable).parent / "uv"


def call(*command, cwd, **variables):
    """Run a command; its output is shown if it fails."""
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, capture_output=True, text=True, env=os.environ | variables
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


class Environment:
    """An empty environment in a folder, for one Python."""

    def __init__(self, python, home, *options):
        self.home, self.bin = home, home / ("Scripts" if os.name == "nt" else "bin")
        self.python, self.options = self.bin / "python", options
        call(UV, "venv", "-q", "--python", python, home, cwd=home.parent)

    def install(self, *packages):
        command = [UV, "pip", "install", "-q", "--python", self.python, *self.options]
        call(*command, *packages, cwd=self.home, HOLDFAST_PREBUILD="0")

    def call(self, *command, cwd=None):
        return call(self.bin / command[0], *command[1:], cwd=cwd or self.home)


def try_package(package, pins, tests, folder):
    """Install a package with its extras, and run commands, tests and a page in it."""
    there = Environment(sys.executable, folder / f"all-{package.suffix[1:]}", "-c", pins, "-b", pins)
    there.install(package)
    there.call("python", "-c", BARE)
    there.install(f"{package}[{EXTRAS}]", "pytest", "hypothesis")
    found = Path(there.call("python", "-c", WHERE))
    if not found.is_relative_to(there.home) or not (found / "py.typed").exists():
        raise SystemExit(f"{package.name}: holdfast was imported from {found}")
    there.call("holdfast", "--version")
    lab = subprocess.run([there.bin / "holdfast", "bench"], cwd=folder, capture_output=True, text=True)
    if lab.returncode != 2 or "pip install ./lab" not in lab.stderr:
        raise SystemExit(f"{package.name}: holdfast bench does not say where it is: {lab.stderr}")
    there.call("holdfast", "demo", "--to", folder / f"{there.home.name}-demo")
    # pythonpath without src: the installed package is tested
    said = there.call("python", "-m", "pytest", "-q", "-o", "pythonpath=tests tools", *TESTS, cwd=tests)
    print(f"{package.name}: {said.splitlines()[-1]}", flush=True)


def try_wheel(wheel, python, tests, folder):
    """Use the machine code of a wheel with this Python, without numba and with it."""
    there = Environment(python, folder / f"wheel-{Path(python).name}-{len(list(folder.iterdir()))}")
    there.install(f"{wheel}[sklearn]")
    version = there.call("python", "-c", "import sys; print(sys.version.split()[0])")
    for numba in ("without numba", "with numba"):
        if numba == "with numba":
            there.install(f"{wheel}[sklearn,compile]")
        found = json.loads(there.call("holdfast", "doctor", "--json"))
        if found["games"].get("same_bits") is not True or bool(found["numba"]["version"]) != (
            "with " in numba
        ):
            raise SystemExit(
                f"{wheel.name}, Python {version}: holdfast doctor says {json.dumps(found, indent=1)}"
            )
        said = there.call("python", tests / "tools" / "compare_bits.py", "--machine-code")
        games = said.count("machine code  same bits")
        print(f"{wheel.name}: Python {version} {numba}: {games} games, the same bits", flush=True)


def pythons():
    """The commands of all Pythons to try: those of the variable PYTHONS, or python3.11 and newer."""
    names = os.environ.get("PYTHONS", "").split() or [f"python3.{minor}" for minor in range(11, 30)]
    found = [shutil.which(name) for name in names]
    return [
        name
        for name in found
        if name and not subprocess.run([name, "-c", ""], capture_output=True).returncode
    ]


def main(dist, pins):
    wheels, sdists = [*dist.glob("*.whl")], [*dist.glob("*.tar.gz")]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve()
        with tarfile.open(sdists[0]) as archive:
            archive.extractall(folder, filter="data")
        tests = next(path for path in folder.iterdir() if path.is_dir())
        for wheel in wheels:
            size = wheel.stat().st_size
            print(f"{wheel.name}: {size / 1e6:.2f} MB", flush=True)
            if size > LARGEST:
                raise SystemExit(f"{wheel.name} has more than {LARGEST / 1e6:.0f} MB")
            for python in () if wheel.name.endswith("-none-any.whl") else pythons():
                try_wheel(wheel.resolve(), python, tests, folder)
        for package in (*wheels, *sdists):
            try_package(package.resolve(), pins.resolve(), tests, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
