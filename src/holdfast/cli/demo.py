"""holdfast demo: learn from real data with real outliers, with filters and without."""

import itertools
import sys
import time
from argparse import ArgumentParser, Namespace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.cli.arguments import describe
from holdfast.terminal import DONE, WRONG, print_error, tell

if TYPE_CHECKING:
    from holdfast.runs.run import Run

_ABOUT = """9,357 hours of five cheap gas sensors beside a road, and the benzene that a certified analyser
measured (De Vito 2008, UCI Machine Learning Repository, CC BY 4.0). In 366 of them a sensor failed and the
file has -200. The learner gets these rows too. It learns to predict benzene: the default, a textbook
learner behind the same kind of filter, and the same learner without one.
"""
_TEXTBOOK = {"... --learner adagrad": "auto", "... ... --outliers none": "none"}


def add(parser: ArgumentParser) -> None:
    describe(
        parser,
        run,
        "Learn to predict benzene from cheap gas sensors, with filters and without; print a table and\n"
        "write a report. The data set is bundled; where a sensor failed it has -200.",
        ["holdfast demo", "holdfast demo --to benzene.run"],
    )
    to = "the run folder, which must be new (default: holdfast-demo.run, then holdfast-demo-2.run, ...)"
    parser.add_argument("--to", type=Path, metavar="RUN", help=to)


def run(options: Namespace) -> int:
    to = options.to or _new_folder()
    if to.exists():
        print_error(f"{to} is there already: remove it, or choose another folder with --to")
        return WRONG
    with resources.as_file(resources.files("holdfast.cli") / "data") as folder:
        import tempfile

        source = folder / "air_quality.csv.gz"
        tell(*_ABOUT.split("\n"))
        start = time.monotonic()
        found = _learned(source, to)
        lines = [_line("holdfast learn", found, source)]
        with tempfile.TemporaryDirectory() as other:
            for name, outliers in _TEXTBOOK.items():
                run = _learned(source, Path(other) / outliers, "adagrad", outliers)
                lines.append(_line(name, run, source))
        from holdfast.cli.page import write

        page = write(found)
        found.folder.close()
    tell(
        f"{'':25}{'mean absolute error':>20}{'broken rows':>14}{'good rows':>12}",
        f"{'':25}{'on the good rows':>20}{'skipped':>14}{'skipped':>12}",
        *lines,
        "",
        f"in {time.monotonic() - start:.0f} s. The report: {page}",
        "",
        *_next(to),
    )
    return DONE


def _new_folder() -> Path:
    names = itertools.chain(["holdfast-demo.run"], (f"holdfast-demo-{i}.run" for i in itertools.count(2)))
    return next(path for path in map(Path, names) if not path.exists())


def _learned(source: Path, to: Path, learner: str = "auto", outliers: str = "auto") -> "Run":
    from holdfast.cli.progress import progress_for
    from holdfast.runs.beginning import learned
    from holdfast.runs.config import Settings

    settings = Settings("benzene", drop=("outlier", "time"), learner=learner, outliers=outliers)
    bar = progress_for(quiet=False)
    found = learned(source, settings, to, bar)
    bar.end()
    return found


def _line(name: str, found: "Run", source: Path) -> str:
    import gzip

    import numpy as np
    import pyarrow.csv as pacsv

    from holdfast.adversaries import Replay
    from holdfast.play import play

    with gzip.open(source) as file:
        table = pacsv.read_csv(file)
    broken, y = table.column("outlier").to_numpy() > 0, table.column("benzene").to_numpy()
    X = np.column_stack([table.column(feature).to_numpy() for feature in found.layout.features()])
    # Play the rounds again, to get the prediction of each before it was learned from.
    record = play(found.player, Replay(X, y, found.loss), keep=("predictions",))
    error = np.abs(record.predictions - y)[~broken].mean()
    skipped = np.zeros(len(y), bool)
    for audit in found.read("audit"):
        skipped[audit.column("row").to_numpy() - 1] = True
    counts = f"{(skipped & broken).sum():,} of {broken.sum():,}"
    found.folder.close()
    return f"{name:25}{error:>20.2f}{counts:>14}{(skipped & ~broken).sum():>12,}"


def _next(to: Path) -> list[str]:
    """Commands to copy; with the path of holdfast if it is installed in a .venv of this folder."""
    here = Path(sys.prefix).name == ".venv" and Path(sys.prefix).parent == Path.cwd()
    command = ".venv/bin/holdfast" if here else "holdfast"
    return [
        "What to try next:",
        f"  {command} audit {to}                      what was skipped, the worst first",
        f"  {command} audit {to} --replay share=1%    what a smaller budget would have skipped",
        f"  {command} inspect {to}                    what was learned",
        f"  {command} learn YOUR.csv --target COLUMN --report    the same with your own data",
    ]
