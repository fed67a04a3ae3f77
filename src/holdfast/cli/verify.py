"""holdfast verify: check that every file of a run is what the run wrote."""

from argparse import ArgumentParser, Namespace

from holdfast.cli.arguments import add_json, add_run, describe
from holdfast.cli.exits import report_errors
from holdfast.terminal import DONE, WRONG, print_error, print_json, tell


def add(parser: ArgumentParser) -> None:
    describe(
        parser,
        run,
        "Check every file of a run: its SHA-256 is the one in the manifest, the model and the\n"
        "checkpoint can be read, and the parts of the audit belong together. Nothing is changed. The\n"
        "exit status is 2 if a file is damaged, missing, or not of this run.",
        ["holdfast verify sensors.run", "holdfast verify sensors.run --json"],
    )
    add_run(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    with report_errors():
        from holdfast.runs.reading import verify

        found = verify(options.run)
    if options.json:
        print_json(found)
    for problem in found["problems"]:
        print_error(problem)
    if found["problems"]:
        return WRONG
    if not options.json:
        left = len(found["temporary"])
        tell(
            f"{found['files']:,} files, {found['bytes']:,} bytes: all as the run wrote them",
            *([f"{left} temporary files of a killed process: --resume removes them"] if left else []),
        )
    return DONE
