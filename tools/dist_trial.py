"""Install the sdist and the wheel of dist/ into empty environments, and try them there: `make test-dist`.

Nothing of the checkout is used: each environment is in a temporary folder, and so is the working directory.
The tests and the pages are those of the sdist. Some of them are enough: all tests run in the checkout.
"""

import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

EXTRAS = "cli,plot,pandas,sklearn,river"
TESTS = ["tests/filters/test_topk.py", "tests/test_gate.py", "tests/test_record_display.py", "docs/start.md"]
BARE = "import holdfast as hf; hf.Gate(hf.TopK(1)).keep(1.0)"  # needs no extra
WHERE = "import holdfast, pathlib; print(pathlib.Path(holdfast.__file__).parent)"


def call(*command, cwd):
    """Run a command; its output is shown if it fails."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def trial(package, pins, tests, folder):
    """Install a package into an empty environment, and run commands, tests and a page in it."""
    home = folder / package.suffix[1:]
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    uv = [Path(sys.executable).parent / "uv", "pip", "install", "-q", "--python", python, "-c", pins]
    uv += ["-b", pins]
    call(*uv, package, cwd=folder)
    call(python, "-c", BARE, cwd=folder)
    call(*uv, f"{package}[{EXTRAS}]", "pytest", "hypothesis", cwd=folder)
    found = Path(call(python, "-c", WHERE, cwd=folder))
    if not found.is_relative_to(home) or not (found / "py.typed").exists():
        raise SystemExit(f"{package.name}: holdfast was imported from {found}")
    call(home / "bin" / "holdfast", "--version", cwd=folder)
    lab = subprocess.run([home / "bin" / "holdfast", "bench"], cwd=folder, capture_output=True, text=True)
    if lab.returncode != 2 or "pip install ./lab" not in lab.stderr:
        raise SystemExit(f"{package.name}: holdfast bench does not say where it is: {lab.stderr}")
    call(home / "bin" / "holdfast", "demo", "--to", folder / f"{home.name}-demo", cwd=folder)
    # pythonpath without src: the installed package is tested
    said = call(python, "-m", "pytest", "-q", "-o", "pythonpath=tests tools", *TESTS, cwd=tests)
    print(f"{package.name}: {said.splitlines()[-1]}")


def main(dist, pins):
    packages = [*dist.glob("*.whl"), *dist.glob("*.tar.gz")]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve()
        with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
            archive.extractall(folder, filter="data")
        tests = next(path for path in folder.iterdir() if path.is_dir())
        for package in packages:
            trial(package.resolve(), pins.resolve(), tests, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
