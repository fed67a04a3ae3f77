"""`holdfast reproduce`, `bench`, `trials`, `gauntlet` and `learners`: their options, and what they do.

Each command imports what it measures when it runs.
"""

import argparse
import platform
import time
from functools import partial
from pathlib import Path

from holdfast import __version__
from holdfast.cli.arguments import describe, wrapped
from holdfast.terminal import DONE, FAILED, WRONG, ProgressLine, print_error, quoted, tell


def add_reproduce(parser):
    describe(
        parser,
        _run_reproduce,
        "Measure every result of the paper against its bounds, on all cores, and write one page "
        "with figures, tables and verdicts. A run that was stopped continues where it was.",
        [
            "holdfast reproduce --quick  # all results, in a minute or two",
            "holdfast reproduce quantile huber  # two of them, in full",
            "holdfast reproduce --list  # what there is",
        ],
        None,
    )
    parser.add_argument("results", nargs="*", metavar="RESULT", help="the results to measure (default: all)")
    parser.add_argument("--quick", action="store_true", help="fewer settings and seeds")
    parser.add_argument("--seed", type=_seed, default=0, help="the first seed (default: %(default)s)")
    parser.add_argument("--jobs", type=_jobs, default=-1, help="how many cores (default: -1, all)")
    parser.add_argument(
        "--to", type=Path, metavar="FOLDER", help="where to write (default: holdfast-results)"
    )
    parser.add_argument("--list", action="store_true", help="name the results and stop")


def add_bench(parser):
    from holdfast_lab.bench.runner import NAMES, ON_REQUEST

    describe(
        parser,
        _run_bench,
        "Measure speed, memory and how the cost grows, for holdfast and the other libraries that "
        "are installed (pip install './lab[bench]'); print the table, and write it as JSON with "
        "pictures.",
        [
            "holdfast bench  # everything, in under ten minutes",
            "holdfast bench --quick  # less of it, in under two",
            "holdfast bench --only dense robustness  # two sections",
            "holdfast bench --write docs/benchmarks.md  # and write the table of that page",
        ],
        wrapped(f"sections: {', '.join(NAMES)}; only if named: {', '.join(ON_REQUEST)}"),
    )
    scales = parser.add_mutually_exclusive_group()
    scales.add_argument("--quick", action="store_true", help="less work, and less precise figures")
    scales.add_argument(
        "--tiny", action="store_true", help="compile nothing, only to see it run: the figures have no meaning"
    )
    parts = parser.add_mutually_exclusive_group()
    sections = (*NAMES, *ON_REQUEST)
    parts.add_argument("--only", nargs="+", choices=sections, metavar="SECTION", help="only these sections")
    parts.add_argument(
        "--write",
        type=Path,
        metavar="FILE",
        help="write the whole table between the two markers of this file",
    )
    parser.add_argument(
        "--to",
        type=Path,
        default=Path("holdfast-bench"),
        metavar="FOLDER",
        help="where to write (default: %(default)s)",
    )
    parser.add_argument(
        "--disk",
        type=Path,
        metavar="FOLDER",
        help="play a large file from this folder as well: on another disk, such as one in memory",
    )


def add_trials(parser):
    from holdfast_lab.trials.data import NAMES

    describe(
        parser,
        _run_trials,
        "Read public data sets from a folder, NAME/data.csv.gz each, corrupt some rounds, and "
        "print how far each contestant is from one without the outliers (pip install "
        "'./lab[bench]'). Or play streams that change (--drift), measure the default estimators "
        "on tables with awkward columns (--zoo) or on all tables of a folder (--tables), or try "
        "the settings of two peers on clean data (--tune), or measure intervals (--intervals) or "
        "alarms (--alarms). Rounds come in "
        "batches (--delay): all rounds of a batch are predicted before the first of them is "
        "learned from.",
        [
            "holdfast trials --data FOLDER  # everything, in under ten minutes",
            "holdfast trials --data FOLDER --quick  # less of it, in under two",
            "holdfast trials --data FOLDER --only air_quality  # one data set",
            "holdfast trials --data FOLDER --numbers --quick  # twelve kinds of bad rows, in two minutes",
            "holdfast trials --data FOLDER --labels --reported  # eleven kinds, and labels as targets",
            "holdfast trials --data FOLDER --labels --delay 1 50 200  # one row ahead, and batches",
            "holdfast trials --data FOLDER --constants  # settings at half and at twice, in minutes",
            "holdfast trials --data FOLDER --ablations  # the defaults without each part, in minutes",
            "holdfast trials --zoo --write docs/real-data.md  # and write a table of that page",
            "holdfast trials --data FOLDER --intervals  # how many good rows intervals miss",
            "holdfast trials --data FOLDER --alarms  # faults that alarms find, in a minute",
            "holdfast trials --drift  # streams that change, in two minutes",
            "holdfast trials --zoo  # awkward columns, in a minute or two",
            "holdfast trials --zoo --quick  # fewer of them, and shorter",
            "holdfast trials --tables FOLDER  # your own CSV files, or any others",
        ],
        wrapped(f"data sets: {', '.join(NAMES[:6])}, {', '.join(NAMES[6:])}"),
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--data", type=Path, metavar="FOLDER", help="where the data sets are")
    which.add_argument("--drift", action="store_true", help="play streams that change; they need no data")
    which.add_argument(
        "--zoo",
        action="store_true",
        help="the default estimators beside least squares on clean rows, on tables with awkward columns "
        "and targets; they need no data",
    )
    which.add_argument(
        "--tables",
        type=Path,
        metavar="FOLDER",
        help="the default estimators on all CSV files of a folder with at least 300 rows, beside ridge and "
        "logistic regression on clean rows, and with 10%% of bad rows",
    )
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument(
        "--numbers",
        action="store_true",
        help="numbers as targets, with many kinds of bad rows in 1, 5 and 10%% of the rounds",
    )
    kind.add_argument("--labels", action="store_true", help="the same with labels as targets")
    kind.add_argument(
        "--intervals",
        action="store_true",
        help="how many good rows intervals miss and how wide they are, with 0, 5 and 10%% of bad rows",
    )
    kind.add_argument(
        "--alarms",
        action="store_true",
        help="which known faults of real streams alarms find, how late, and how many are false",
    )
    parser.add_argument(
        "--reported",
        action="store_true",
        help="with --numbers or --labels: only the tables on which nothing was chosen",
    )
    kind.add_argument(
        "--tune", action="store_true", help="only try the settings of WoLF and QC-SGD on the data sets"
    )
    kind.add_argument(
        "--constants",
        action="store_true",
        help="the defaults with each of their settings at half and at twice its value",
    )
    kind.add_argument(
        "--ablations",
        action="store_true",
        help="the defaults without each of their parts, and with one regression alone",
    )
    parser.add_argument(
        "--delay",
        nargs="+",
        type=_delay,
        default=[1],
        metavar="N",
        help="rounds of a batch, which is predicted before it is learned from (default: 1); several are\n"
        "measured one after the other",
    )
    parser.add_argument("--quick", action="store_true", help="fewer seeds and rounds")
    parser.add_argument(
        "--only", nargs="+", choices=NAMES, metavar="NAME", help="these data sets, rather than all"
    )
    parser.add_argument(
        "--write", type=Path, metavar="FILE", help="write the table between the markers of this file"
    )


def add_gauntlet(parser):
    describe(
        parser,
        _run_gauntlet,
        "Let learners and spike-skippers run through corruption of growing number and size: "
        "streams of rows, steps of trainings, and games against adversaries. Print a table for "
        "each track, and write results.json and a page (pip install './lab[bench]'). With "
        "--entry, a file of yours runs too. A run that was stopped continues where it was.",
        [
            "holdfast gauntlet --quick  # all tracks, in two minutes on two cores",
            "holdfast gauntlet --entry mine.py  # one file beside all others, in two minutes",
            "holdfast gauntlet --track steps  # one track in full",
            "holdfast gauntlet --scenarios NaN adaptive  # scenarios with these words in their names",
            "holdfast gauntlet --data FOLDER  # more tables: NAME/data.csv.gz",
            "holdfast gauntlet --list  # name the scenarios and stop",
        ],
        None,
    )
    parser.add_argument(
        "--track", nargs="+", choices=("streams", "steps", "games"), help="these tracks, rather than all"
    )
    parser.add_argument(
        "--entry",
        type=Path,
        metavar="FILE",
        help="a Python file that enters; implies --quick (see docs/gauntlet.md)",
    )
    parser.add_argument(
        "--scenarios",
        nargs="+",
        default=[],
        metavar="WORD",
        help="only those with one of these words in the name",
    )
    parser.add_argument("--quick", action="store_true", help="fewer and shorter scenarios")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="where more data sets are")
    parser.add_argument("--seed", type=_seed, default=0, help="of all that is random (default: %(default)s)")
    parser.add_argument("--jobs", type=_jobs, default=-1, help="how many cores (default: -1, all)")
    parser.add_argument(
        "--to",
        type=Path,
        default=Path("holdfast-gauntlet"),
        metavar="FOLDER",
        help="where to write (default: %(default)s)",
    )
    parser.add_argument(
        "--write", type=Path, metavar="FILE", help="write the tables between the markers of this file"
    )
    parser.add_argument("--list", action="store_true", help="name the scenarios and stop")


def _run_gauntlet(options):
    from holdfast_lab.gauntlet.command import run_gauntlet

    try:
        run_gauntlet(options)
    except (OSError, ValueError) as problem:
        print_error(problem)
        return WRONG
    except ImportError as problem:
        print_error(f"{problem}; pip install './lab[bench]'")
        return WRONG
    return DONE


def add_learners(parser):
    from holdfast_lab.trials.data import NAMES
    from holdfast_lab.trials.experts import DATA

    describe(
        parser,
        _run_learners,
        "Play every learner on a stream that has what it needs: clean, with 1 % of outliers, and "
        "with these and a filter; and time it with 10, 100 and 1,000 weights. Most of it is "
        "compiling. Or climb towards the rounds on which each comes nearest to its bound "
        "(--search), have many more experts than rounds (--crowd), compare those for experts on "
        "real data (--data), or try the settings of those that go by a name (--tune); data sets "
        "are NAME/data.csv.gz each (pip install './lab[bench]').",
        [
            "holdfast learners  # all learners, in about ten minutes",
            "holdfast learners --quick  # fewer rounds, seeds and turns",
            "holdfast learners --write docs/benchmarks.md  # and write the table of that page",
            "holdfast learners --search  # the largest regret / bound, in ten minutes",
            "holdfast learners --crowd  # 100,000 experts, in a minute",
            "holdfast learners --data FOLDER  # experts on real data, in a few minutes",
            "holdfast learners --tune FOLDER  # settings on real data, in half an hour",
        ],
        wrapped(f"data sets for experts: {', '.join(DATA)}; for settings: {', '.join(NAMES)}"),
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--search", action="store_true", help="look for the largest regret / bound")
    which.add_argument("--crowd", action="store_true", help="have many more experts than rounds")
    which.add_argument("--data", type=Path, metavar="FOLDER", help="where the data sets for experts are")
    which.add_argument("--tune", type=Path, metavar="FOLDER", help="where those for settings are")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, seeds, turns and steps")
    parser.add_argument(
        "--write", type=Path, metavar="FILE", help="write the table between the markers of this file"
    )


def _run_learners(options):
    markers, measure = _of_learners(options)
    return _tabulated(options.write, markers, partial(measure, options.quick, options.write))


def _of_learners(options):
    """The markers of the requested table, and the function that measures it."""
    if options.search:
        from holdfast_lab.trials.worst_table import WORST, search_all

        return WORST, search_all
    if options.crowd:
        from holdfast_lab.trials.crowd import CROWD, measure_crowds

        return CROWD, measure_crowds
    if options.tune:
        from holdfast_lab.trials.tuning_table import TUNED, tune_all

        return TUNED, partial(tune_all, options.tune)
    from holdfast_lab.trials.learners_table import EXPERTS, MARKERS, compare_learners, compare_on_data

    return (EXPERTS, partial(compare_on_data, options.data)) if options.data else (MARKERS, compare_learners)


def _run_trials(options):
    if options.drift:
        from holdfast_lab.trials.drift import MARKERS as DRIFT
        from holdfast_lab.trials.drift import hold_drift_trials

        measure = partial(hold_drift_trials, options.quick, options.write, delays=options.delay)
        return _tabulated(options.write, DRIFT, measure)
    if options.zoo:
        from holdfast_lab.trials.zoo_trials import MARKERS as ZOO
        from holdfast_lab.trials.zoo_trials import hold_zoo_trials

        return _tabulated(options.write, ZOO, partial(hold_zoo_trials, options.quick, options.write))
    if options.tables:
        from holdfast_lab.trials.table_trials import MARKERS as TABLES
        from holdfast_lab.trials.table_trials import hold_table_trials

        measure = partial(hold_table_trials, options.tables, options.quick, options.write)
        return _tabulated(options.write, TABLES, measure)
    if options.tune:
        from holdfast_lab.trials.peer_tuning import tune_peers

        return _tabulated(None, (), partial(tune_peers, options.data, delays=options.delay))
    if options.constants:
        from holdfast_lab.trials.constants import MARKERS as CONSTANTS
        from holdfast_lab.trials.constants import try_constants

        return _tabulated(options.write, CONSTANTS, partial(try_constants, options.data, options.write))
    if options.ablations:
        from holdfast_lab.trials.ablations import MARKERS as ABLATIONS
        from holdfast_lab.trials.ablations import try_ablations

        return _tabulated(options.write, ABLATIONS, partial(try_ablations, options.data, options.write))
    if options.alarms:
        from holdfast_lab.trials.alarms import MARKERS as ALARMS
        from holdfast_lab.trials.alarms import hold_alarm_trials

        measure = partial(hold_alarm_trials, options.data, options.write)
        return _tabulated(options.write, ALARMS, measure)
    if options.intervals:
        from holdfast_lab.trials.intervals import DELAYS, hold_interval_trials
        from holdfast_lab.trials.intervals import MARKERS as INTERVALS

        delays = DELAYS if options.delay == [1] else tuple(options.delay)
        held = (options.data, options.quick, options.write, options.only or (), delays)
        return _tabulated(options.write, INTERVALS, partial(hold_interval_trials, *held))
    if options.numbers or options.labels:
        from holdfast_lab.trials.bad_row_trials import FOR_LABELS, FOR_NUMBERS, hold_trials_of

        trials = FOR_NUMBERS if options.numbers else FOR_LABELS
        measure = partial(
            hold_trials_of,
            trials,
            options.data,
            options.quick,
            options.write,
            options.reported,
            options.delay,
        )
        return _tabulated(options.write, trials.markers, measure)
    from holdfast_lab.trials.runner import hold_trials
    from holdfast_lab.trials.table import MARKERS

    measure = partial(hold_trials, options.data, options.only, options.quick, options.write, options.delay)
    return _tabulated(options.write, MARKERS, measure)


def _tabulated(page, markers, measure):
    """Measure; check first that the page, if there is one, has the markers for the table."""
    from holdfast_lab.bench.table import split_at_markers

    try:
        if page:
            split_at_markers(page, markers)  # before minutes of measuring
        measure()
    except (OSError, ValueError) as problem:
        print_error(problem)
        return WRONG
    except ImportError as problem:
        print_error(f"{problem}; pip install './lab[bench]'")
        return WRONG
    return DONE


def _run_bench(options):
    from holdfast_lab.bench.runner import NAMES, bench
    from holdfast_lab.bench.table import split_at_markers

    scale = "tiny" if options.tiny else "quick" if options.quick else "full"
    try:
        if options.write:
            split_at_markers(options.write)  # before minutes of measuring
        if options.disk and not options.disk.is_dir():
            raise ValueError(f"--disk is a folder on another disk, and there is none at {options.disk}")
    except (OSError, ValueError) as problem:
        print_error(problem)
        return WRONG
    bench(options.only or NAMES, scale, options.to, options.write, options.disk)
    return DONE


def _run_reproduce(options):
    from holdfast_lab.reproduce.runner import NAMES, experiment, run

    if options.list:
        for name in NAMES:
            tell(f"{name:22} {experiment(name).RESULT}: {experiment(name).TITLE}")
        return DONE
    unknown = [name for name in options.results if name not in NAMES]
    if unknown:
        print_error(f"there is no result {quoted(unknown[0])}; one of {', '.join(NAMES)}")
        return WRONG
    try:
        from holdfast_lab.reproduce.page import write

        folder = options.to or Path("holdfast-results")
        parts = folder / ("quick" if options.quick else "full")
        parts.mkdir(parents=True, exist_ok=True)
        start, results = time.perf_counter(), []
        for name in options.results or NAMES:
            line = ProgressLine()
            show = partial(_show, line, name)
            results.append(run(name, parts, options.quick, options.seed, options.jobs, show))
            good, sentence = experiment(name).judge(results[-1].rows)
            line.clear()
            tell(f"{'holds' if good else 'FAILS'}  {name:22} {sentence}")
        note = (
            f"holdfast {__version__}, Python {platform.python_version()}, seed {options.seed}, "
            f"{'quick' if options.quick else 'full'}; {time.perf_counter() - start:.0f} s of measuring."
        )
        page = write(results, parts, note)
    except ImportError as problem:
        print_error(f"{problem}; pip install ./lab")
        return WRONG
    tell(f"The report: {page}")
    return DONE if all(experiment(r.name).judge(r.rows)[0] for r in results) else FAILED


def _seed(text):
    return _whole(text, 0, 2**32, f"a whole number from 0 to {2**32:,}")


def _delay(text):
    return _whole(text, 1, 10**6, "a number of rounds from 1 to 1,000,000")


def _jobs(text):
    return _whole(text, -1, 1024, "a number of processes from 1 to 1024, or -1 for one on each core")


def _whole(text, low, high, expected):
    try:
        number = int(text)
    except ValueError:
        number = None
    if number is None or not low <= number <= high or (low < 0 and number == 0):
        raise argparse.ArgumentTypeError(f"must be {expected}: got {quoted(text)}")
    return number


def _show(line, name, done, total):
    line.show(f"{name}: {done} of {total}", done, total)
