"""Any command line leads to an answer or to one sentence, and leaves the source and the run alone."""

import os

import pytest
from fuzz.asking import CASES, ask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from runs.small import learned, write_source

SOURCE, RUN, NEW = "rows.csv", "run", "new"
INPUTS = (SOURCE, "schema.toml", "learn.toml")
WORDS = [
    *(
        "",
        " ",
        "-",
        "--",
        "---",
        "0",
        "-1",
        "1e300",
        "-1e300",
        "nan",
        "inf",
        "-inf",
        "1%",
        "200%",
        "-5%",
        "%",
        "auto",
    ),
    *(
        "none",
        "quantile:0.9",
        "quantile:",
        "quantile:nan",
        "k=3",
        "k=",
        "share=1%",
        "=",
        "y",
        "a",
        "who",
        "a,b",
        ",",
    ),
    *(
        "adagrad",
        "adagrad:",
        "adagrad:1e-9",
        "adagrad:x",
        "ogd:2",
        "ogd:-0",
        "huber:1e308",
        "pinball:0.5",
        "hinge",
    ),
    *(
        "30s",
        "1e9s",
        "nans",
        "s",
        "10",
        "99999999999999999999",
        "csv",
        "parquet",
        "é\u202e",
        "\x1b[31m",
        "\udcff",
    ),
    *(
        "x" * 300,
        "x" * 70_000,
        "%s%n",
        "$(id)",
        "{0}",
        "../..",
        "\n",
        "a\tb",
        "٣",
        "1_0",
        "0x10",
        "True",
        "[]",
        "@x",
    ),
]
PLACES = [SOURCE, RUN, ".", "none.csv", "", "x" * 300, "\udcff.csv", "/proc/x", "/dev/null", "none/none"]
TARGETS = [
    "out.csv",
    "out.parquet",
    "out.html",
    "none/out.csv",
    "/proc/x.csv",
    "",
    ".",
    "\udcff.csv",
    "x" * 300,
]
OPTIONS = {
    "learn": [
        *(
            "target",
            "task",
            "loss",
            "outliers",
            "learner",
            "memory",
            "patience",
            "features",
            "drop",
            "labels",
        ),
        *(
            "missing",
            "key",
            "checkpoint",
            "format",
            "evict",
            "decimal",
            "schema",
            "config",
            "fail-if-skipped",
        ),
    ],
    "predict": ["format", "decimal", "schema", "pass", "interval"],
    "audit": ["worst", "replay", "source"],
    "release": ["format", "decimal", "schema"],
    "inspect": ["weights"],
    "export": [],
    "report": [],
    "verify": [],
}
FLAGS = [
    *("--json", "--quiet", "--no-scale", "--no-sizes", "--resume", "--report", "--help", "-x", "--version"),
    *("--no-header", "--no-prior", "--dry-run", "--all-columns"),
]
USUAL = {
    **{"target": "y", "learner": "adagrad", "worst": "3", "weights": "3", "replay": "k=3", "format": "csv"},
    **{"schema": "schema.toml", "config": "learn.toml", "source": SOURCE, "pass": "a", "interval": "80%"},
}


@st.composite
def lines(draw):
    """The words after `holdfast`: some usual ones, and some odd."""
    command = draw(st.sampled_from([*OPTIONS, "learn", "learn"]))
    args = [command, draw(st.sampled_from([SOURCE if command == "learn" else RUN] * 5 + PLACES))]
    if command in ("predict", "release"):
        args.append(draw(st.sampled_from([SOURCE] * 5 + PLACES)))
    names = set(draw(st.lists(st.sampled_from(OPTIONS[command]), max_size=3)) if OPTIONS[command] else [])
    names |= {"target", "learner"} if command == "learn" else set()
    for name in sorted(names):
        usual = [USUAL[name]] * 6 if name in USUAL else []
        args += [f"--{name}", draw(st.one_of(st.sampled_from(usual + WORDS), st.text(max_size=8)))]
    if command == "learn":
        place = st.sampled_from([NEW] * 6 + [RUN, "", SOURCE, "/proc/x", "x" * 300, "\udcff"])
        args += [draw(st.sampled_from(["--to"] * 5 + ["--into"])), draw(place)]
        args += ["--metrics", draw(st.sampled_from(TARGETS))] if draw(st.integers(0, 5)) == 0 else []
    elif command in ("predict", "report"):
        args += ["--to", draw(st.sampled_from(TARGETS))]
    elif command == "audit" and draw(st.booleans()):
        args += ["--skipped", draw(st.sampled_from(TARGETS))]
    elif command == "export":
        args += ["--to", draw(st.sampled_from(["sklearn", "sklearn", "onnx", "x"]))]
        args += ["--output", draw(st.sampled_from(TARGETS))]
    args += draw(st.lists(st.sampled_from(FLAGS), max_size=2))
    return [arg.replace("\0", "0") for arg in args]  # no argument can have a NUL


@pytest.fixture(scope="module")
def check_unchanged(work):
    source = write_source(work / SOURCE, 30)
    learned(source, work / RUN, "--learner", "adagrad")
    (work / "schema.toml").write_text('a = "number"\n')
    (work / "learn.toml").write_text('drop = ["who"]\nno-sizes = true\n')
    kept = contents(work)

    def check():
        assert contents(work) == kept

    return check


def contents(work):
    """The inputs and the run; everything else is removed."""
    for folder, folders, names in os.walk(work, topdown=False):
        inside = folder.startswith(str(work / RUN))
        for name in names:
            if not inside and name not in INPUTS:
                os.unlink(os.path.join(folder, name))
        for name in folders:
            if not inside and name != RUN:
                os.rmdir(os.path.join(folder, name))
    files = [*(work / name for name in INPUTS), *(path for path in (work / RUN).rglob("*") if path.is_file())]
    return {path: path.read_bytes() for path in files if path.name not in ("report.html", "manifest.json")}


@pytest.mark.slow
@given(lines())
@settings(max_examples=CASES // 5, suppress_health_check=list(HealthCheck))
def test_any_command_line_ends_in_order(check_unchanged, args):
    ask(*args)
    check_unchanged()


@given(lines())
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
def test_some_command_lines_end_in_order(check_unchanged, args):
    ask(*args)
    check_unchanged()
