"""If output cannot be written, the command fails, and what was learned is saved."""

import os
import subprocess
import sys

import pytest
from cli.conftest import bits
from samples import slow

# Progress is reported after every piece, and the columns are guessed from the first 200 rows.
DRIVER = """
import sys
from holdfast.cli.progress import Events
from holdfast.io import head
from holdfast.cli.main import main

Events.interval, head.ROWS = 0.0, 200
sys.exit(main(sys.argv[1:]))
"""
NOISE = ("Traceback", "Exception ignored", "BrokenPipeError", "Fatal")


def command(*args, driver=None):
    start = ["-m", "holdfast.cli.main"] if driver is None else ["-c", driver]
    return [sys.executable, *start, *map(str, args)]


def unread(*args, **options):
    """Run a command; its standard output is a pipe without a reader."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        return subprocess.run(
            command(*args), stdout=writing, stderr=subprocess.PIPE, text=True, timeout=100, **options
        )
    finally:
        os.close(writing)


@pytest.fixture(scope="module")
def run(source, tmp_path_factory):
    """The folder of a finished run."""
    from holdfast.cli.main import main

    folder = tmp_path_factory.mktemp("runs") / "run"
    assert main(["learn", str(source), "--target", "y", "--to", str(folder), "--quiet"]) == 0
    assert main(["audit", str(folder), "--skipped", str(folder.with_name("quarantine.csv"))]) == 0
    return folder


def rows(count, start=0):
    return "".join(f"{i % 7},{i % 5},{i % 11 * 10 + i % 3}\n" for i in range(start, start + count)).encode()


def test_what_was_learned_is_saved_when_the_reader_ends(tmp_path):
    folder = tmp_path / "run"
    learn = ("learn", "-", "--target", "y", "--json", "--to", folder)
    process = subprocess.Popen(
        command(*learn, driver=DRIVER), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdin.write(b"a,b,y\n" + rows(1000))
    process.stdin.flush()
    assert b"progress" in process.stdout.readline()
    process.stdout.close()
    process.stdin.write(rows(300, 1000))
    process.stdin.flush()  # and it stays open: more could come
    assert process.wait(timeout=100) == 141
    printed = process.stderr.read().decode()
    process.stdin.close()
    process.stderr.close()
    assert printed.count("\n") == 1
    assert "saved" in printed and "--resume" in printed
    assert (folder / "model.safetensors").exists()
    whole = b"a,b,y\n" + rows(1600)
    again = subprocess.run(command(*learn, "--resume", driver=DRIVER), input=whole, capture_output=True)
    assert again.returncode == 0, again.stderr
    other = ("learn", "-", "--target", "y", "--json", "--to", tmp_path / "other")
    assert subprocess.run(command(*other, driver=DRIVER), input=whole, capture_output=True).returncode == 0
    assert bits(folder) == bits(tmp_path / "other")


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_run_without_a_reader_is_complete(source, tmp_path, more):
    done = unread("learn", source, "--target", "y", "--to", tmp_path / "run", *more)
    assert done.returncode == 141
    assert not any(word in done.stderr for word in NOISE)
    assert (tmp_path / "run" / "model.safetensors").exists()


@pytest.mark.parametrize(
    "args",
    [
        ("--help",),
        slow((("learn", "--help"),)),
        slow((("--version",),)),
        ("watch", "SOURCE", "--value", "y"),
        ("predict", "RUN", "SOURCE"),
        ("audit", "RUN"),
        slow((("audit", "RUN", "--json"),)),
        slow((("audit", "RUN", "--replay", "k=5"),)),
        ("audit", "RUN", "--skipped", "skipped.csv"),
        slow((("inspect", "RUN"),)),
        slow((("inspect", "RUN", "--json"),)),
        slow((("release", "RUN", "QUARANTINE"),)),
        slow((("report", "RUN"),)),
        slow((("verify", "RUN"),)),
        slow((("doctor",),)),
        ("completion", "bash"),
        slow((("reproduce", "--list"),)),
        ("bench", "--tiny", "--only", "import"),
        ("demo",),
    ],
    ids=" ".join,
)
def test_every_command_ends_quietly_with_141_if_nothing_reads_its_output(source, run, tmp_path, args):
    places = {"RUN": run, "SOURCE": source, "QUARANTINE": run.with_name("quarantine.csv")}
    done = unread(*(places.get(word, word) for word in args), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize(
    ("args", "where"),
    [
        (("--help",), ">&-"),
        (("predict", "RUN", "SOURCE", "--quiet"), ">/dev/full"),
        slow((("predict", "RUN", "SOURCE", "--quiet"), ">&-")),
        slow((("inspect", "RUN"), ">&-")),
        (("audit", "RUN", "--json"), ">/dev/full"),
    ],
    ids=str,
)
def test_a_standard_output_that_cannot_be_written_is_one_sentence(source, run, args, where):
    places = {"RUN": run, "SOURCE": source}
    line = ["bash", "-c", f'"$@" {where}', "bash", *command(*(places.get(word, word) for word in args))]
    done = subprocess.run(line, capture_output=True, text=True, timeout=100)
    assert done.returncode == 1
    assert done.stderr.startswith("holdfast: standard output")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("where", [">/dev/full", ">&-", ">&- 2>&- <&-", "2>/dev/full"])
def test_a_run_is_saved_also_if_its_output_cannot_be_written(source, tmp_path, where):
    args = ("learn", source, "--target", "y", "--to", tmp_path / "run")
    line = ["bash", "-c", f'"$@" {where}', "bash", *command(*args)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=100)
    assert done.returncode == (0 if where == "2>/dev/full" else 1)
    assert not any(word in done.stderr for word in NOISE)
    assert (tmp_path / "run" / "model.safetensors").exists()
    assert "holdfast" not in (tmp_path / "run" / "config.json").read_text().partition("{")[0]


def test_a_closed_standard_output_is_no_error_if_nothing_is_printed(source, tmp_path):
    args = command("learn", source, "--target", "y", "--to", tmp_path / "run", "--quiet")
    done = subprocess.run(["bash", "-c", '"$@" >&-', "bash", *args], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_closed_standard_input_is_one_sentence(tmp_path):
    args = command("learn", "-", "--target", "y", "--to", tmp_path / "run")
    done = subprocess.run(["bash", "-c", '"$@" <&-', "bash", *args], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == (
        "holdfast: standard input is empty: expected a header line with the names of the columns\n"
    )
