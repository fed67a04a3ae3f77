"""holdfast report: a page about a run."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from holdfast.cli.arguments import add_run, describe
from holdfast.cli.outputs import check_output
from holdfast.terminal import DONE, tell


def add(parser: ArgumentParser) -> None:
    describe(
        parser,
        run,
        "Write a page about a run, and print its path: how good the model is, also beside a baseline,\n"
        "what made rows outliers and where they are, errors, sizes and thresholds over time, weights,\n"
        "and columns used and left out. It is one file that needs no network, for any browser.",
        [
            "holdfast report sensors.run                  # sensors.run/report.html",
            "holdfast report sensors.run --to page.html   # also while the run is learning",
        ],
    )
    add_run(parser)
    parser.add_argument(
        "--to", type=Path, metavar="FILE", help="where to write the page (default: RUN/report.html)"
    )


def run(options: Namespace) -> int:
    from holdfast.cli.page import write
    from holdfast.runs.run import open_run

    found = open_run(options.run)
    if options.to is not None and options.to.resolve() == (options.run / "report.html").resolve():
        options.to = None
    check_output(options.to, "--to", [record.name for record in found.sources], options.run)
    tell(f"The report: {write(found, options.to)}")
    return DONE
