"""Options and help texts that several commands share."""

from pathlib import Path

EXITS = """exit status:
  0    done
  1    could not write: the disk or standard output is full or closed, or the folder may not be written to;
       the last checkpoint is valid
  2    a wrong call, or a source or run that cannot be read; what was learned before is saved
  3    more rows were skipped than --fail-if-skipped allows; everything is saved
  129  stopped by SIGHUP, 130 by Ctrl-C, 143 by SIGTERM: everything is saved, go on with --resume
  141  nothing reads the pipe on standard output any more, as after | head: what was learned is saved"""
FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow", "svmlight")
# How each shell completes files and folders, for shtab.
_FILES = {"bash": "_shtab_compgen_files", "zsh": "_files", "tcsh": "f"}
_FOLDERS = {"bash": "_shtab_compgen_dirs", "zsh": "_files -/", "tcsh": "d"}


def describe(parser, run, description, examples, exits=EXITS):
    """Set the help of a command, with examples. `run` is called with the parsed options."""
    examples = "\n".join(["examples:", *(f"  {line}" for line in examples)])
    parser.description = description
    parser.epilog = f"{examples}\n\n{exits}" if exits else examples
    parser.set_defaults(command=run)


def add_run(parser):
    found = parser.add_argument("run", type=Path, metavar="RUN", help="the folder of a run")
    found.complete = _FOLDERS


def add_source(parser):
    found = parser.add_argument("source", metavar="SOURCE", help="a file, or - for standard input")
    found.complete = _FILES
    parser.add_argument("--format", choices=FORMATS, help="if the name and content of SOURCE do not show it")


def add_json(parser):
    parser.add_argument("--json", action="store_true", help="as JSON")


def column_names(text):
    """The names in an option such as --drop A,B."""
    return tuple(name.strip() for name in text.split(",") if name.strip())
