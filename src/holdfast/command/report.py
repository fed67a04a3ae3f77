"""holdfast report: a page about a run."""

import argparse
from pathlib import Path

from holdfast.command.speaking import DONE, EXITS, mistakes_said


def add(commands):
    parser = commands.add_parser(
        "report",
        help="write a page about a run: errors, sizes and thresholds, weights, skipped rows",
        description="Write RUN/report.html, one page that needs nothing but itself, and print its path.",
        epilog=(
            "examples:\n  holdfast report sensors.run\n  holdfast report sensors.run --to /tmp/page.html\n\n"
            f"{EXITS}"
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="the folder of a run")
    parser.add_argument(
        "--to", type=Path, metavar="FILE", help="where to write the page (default: RUN/report.html)"
    )
    parser.set_defaults(command=run)


def run(options):
    with mistakes_said():
        from holdfast.command.page import write
        from holdfast.runs.beginning import open_run

        print(f"The report: {write(open_run(options.run), options.to)}")
    return DONE
