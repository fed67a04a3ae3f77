"""The options of holdfast learn."""

import argparse
import math
from pathlib import Path

from holdfast.cli.config import add_config
from holdfast.cli.options import LEARN_EXITS, add_sources, column_names, describe
from holdfast.cli.skipped_limit import share
from holdfast.terminal import quoted


def add_options(parser, run):
    describe(
        parser,
        run,
        (
            "Learn a linear model from rows, one after the other, and skip outliers. SOURCE is CSV or TSV,\n"
            "JSON lines or svmlight (also .gz, .bz2, .xz, .zst), Parquet or Arrow, of any length, or - for\n"
            "standard input. Several are learned from one after the other, each content once.\n"
            "Task, loss and encoding are guessed from the first rows, and printed. The run folder contains\n"
            "the model, an audit of every skipped row, metrics, configuration and report."
        ),
        [
            "holdfast learn sensors.csv --target benzene               # into the folder sensors.run",
            "holdfast learn clicks.jsonl --target bought --outliers 1% --to clicks.run --report",
            "zcat log.csv.gz | holdfast learn - --target ms --drop id,url --to log.run",
            "holdfast learn sensors.csv --target benzene --resume      # after Ctrl-C, kill -9 or new rows",
            "holdfast learn 'old/*.csv.gz' jan.csv feb.csv --target benzene --to year.run",
            "holdfast learn mar.csv --into year.run                    # the next file, with the same model",
            "holdfast learn sensors.csv --target benzene --dry-run     # the types of the columns",
            "holdfast learn fleet.parquet --target load --key machine  # a model for each machine",
            "holdfast learn data.csv --target y --no-scale --outliers 50    # with a certificate",
        ],
        LEARN_EXITS,
    )
    add_sources(parser)
    parser.add_argument("--target", metavar="COLUMN", help="the column to predict (svmlight: label)")
    parser.add_argument(
        "--task",
        choices=("auto", "regression", "classification"),
        default="auto",
        help="numbers or labels (default: what the first rows look like)",
    )
    parser.add_argument(
        "--loss",
        default="auto",
        help="absolute, squared, huber[:KNEE], pinball[:TAU], epsilon_insensitive[:EPSILON] for numbers; "
        "hinge, squared_hinge, logistic for labels (default: absolute, logistic)",
    )
    parser.add_argument(
        "--outliers",
        default="auto",
        metavar="HOW MANY",
        help="a share such as 1%%, a count such as 50, quantile:0.99, none, or auto: 15%% of the rows and of "
        "the targets for numbers; 10%% of the rows and some 5%% of the labels (default: %(default)s)",
    )
    parser.add_argument(
        "--learner",
        default="auto",
        metavar="NAME",
        help="first_order or second_order for numbers, adagrad[:RATE], ogd[:RADIUS], or any other of "
        "docs/learners.md for linear models, such as adaftrl, soloftrl, freegrad, diagonalmetagrad, "
        "scaleinvariant (default, up to 100 columns: second_order for numbers, logits for labels and log "
        "loss; beyond: first_order, adagrad; with --key: adagrad)",
    )
    parser.add_argument(
        "--memory",
        default="auto",
        metavar="ROWS",
        help="after so many rows a row counts about a third in the model, at most (default: several "
        "memories, the longest for ever); for first_order in the scales (default: 300)",
    )
    parser.add_argument(
        "--patience",
        default="auto",
        metavar="ROWS",
        help="so many bad rows in a row are withstood, and about as many good ones are lost "
        "after a change of units (default: 1000)",
    )
    parser.add_argument(
        "--delay",
        type=int,
        default=1,
        metavar="ROWS",
        help="predict so many rows before learning from them, and judge the model by these predictions: as "
        "many as come in while you wait for targets (default: %(default)s)",
    )
    parser.add_argument(
        "--no-scale",
        dest="scale",
        action="store_false",
        help="do not scale the features: needed for a certificate",
    )
    columns = parser.add_mutually_exclusive_group()
    columns.add_argument(
        "--features", type=column_names, default=(), metavar="A,B,...", help="predict from these columns"
    )
    columns.add_argument(
        "--drop",
        type=column_names,
        default=(),
        metavar="A,B,...",
        help="predict from all columns but these; a name with a comma in quotes, as in CSV: '\"a,b\",c'",
    )
    parser.add_argument(
        "--labels",
        type=column_names,
        default=(),
        metavar="A,B,...",
        help="all labels, if the first rows do not have them",
    )
    parser.add_argument(
        "--missing",
        choices=("auto", "skip", "fill"),
        default="auto",
        help="skip rows with a missing cell, or fill it with the median of the first rows and mark it in an "
        "extra feature (default: fill if more than 10%% of the first rows would be skipped)",
    )
    parser.add_argument("--key", metavar="COLUMN", help="a separate model for each value of this column")
    parser.add_argument(
        "--no-prior",
        dest="prior",
        action="store_false",
        help="a new key starts from nothing, not from what was learned from the first rows of other keys",
    )
    parser.add_argument(
        "--evict",
        type=int,
        metavar="ROWS",
        help="forget a key that has had no row for so many rows (default: never)",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--to", type=Path, metavar="RUN", help="the run folder (default: SOURCE.run, here)")
    where.add_argument(
        "--into",
        type=Path,
        metavar="RUN",
        help="go on with the model of this run, with its settings; what it has learned before is left out",
    )
    parser.add_argument(
        "--resume", action="store_true", help="go on with the run in that folder, if there is one"
    )
    parser.add_argument(
        "--follow",
        action="store_true",
        help="wait for more lines at the end of the last SOURCE, also after it was rotated, until Ctrl-C",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print the columns and their types, as a schema file, and what was guessed; write nothing",
    )
    parser.add_argument(
        "--checkpoint",
        type=_every,
        default="30s",
        metavar="EVERY",
        help="rounds, such as 100000, or seconds, such as 30s (default: %(default)s)",
    )
    parser.add_argument(
        "--no-sizes",
        dest="sizes",
        action="store_false",
        help="do not record the sizes of all rounds, about 20 bytes each, which audit --replay needs",
    )
    parser.add_argument("--report", action="store_true", help="write report.html when done")
    parser.add_argument(
        "--metrics",
        type=Path,
        metavar="FILE",
        help="write the figures of each checkpoint to this file, for Prometheus",
    )
    parser.add_argument(
        "--fail-if-skipped",
        type=share,
        metavar="SHARE",
        help="exit with status 3 if more of the new rows were skipped, such as 20%%",
    )
    add_config(parser)
    parser.add_argument(
        "--json",
        action="store_true",
        help="only JSON lines on standard output: the progress every two seconds, then the results",
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")


def _every(text):
    """The number of rounds and of seconds between checkpoints."""
    try:
        rounds, seconds = (math.inf, float(text[:-1])) if text.endswith("s") else (int(text), math.inf)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"rounds such as 100000, or seconds such as 30s: got {quoted(text)}"
        ) from None
    if not (rounds > 0 and seconds > 0.0):
        raise argparse.ArgumentTypeError(f"must be above 0: got {quoted(text)}")
    return rounds, seconds
