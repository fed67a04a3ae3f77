"""A changed byte in the folder of a run is found, or no answer changes; no command ends in a traceback."""

import functools
import itertools
import random
import shutil

import pytest
from fuzz.asking import CASES, ask, ask_and_watch
from runs.small import learned, write_source

from holdfast.cli.parser import new_parser

KINDS = {
    "numbers": ("--learner", "adagrad", "--report"),
    "keys": ("--key", "who"),
    "certified": ("--no-scale", "--outliers", "2", "--learner", "ogd:2"),
}
ONLY_WRITTEN = ("metrics.json", "certificate.json", "report.html", "keys.parquet")  # but checked by verify


@pytest.fixture(scope="module")
def runs(work):
    """Small runs, with two parts of each table, and one parser for all commands."""
    source = write_source(work / "rows.csv", 30)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_INTERPRETED", "_INTERPRETED_KEYS"):
            patch.setattr(f"holdfast.runs.run.{name}", 15)  # rounds, before a checkpoint can be written
        for name, args in KINDS.items():
            learned(source, work / name, *args, "--checkpoint", "15")
            assert len(list((work / name / "sizes").iterdir())) == 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("holdfast.cli.main.new_parser", functools.cache(new_parser))  # to make it takes 10 ms
        yield {name: work / name for name in KINDS}


def files_of(run):
    return [path for path in sorted(run.rglob("*")) if path.is_file() and path.name != "lock"]


def commands(run, source):
    return (["predict", run, source], ["inspect", run], ["audit", run], ["audit", run, "--replay", "k=2"])


def answers(run, source):
    """The commands, the answer of each, and the names of all files that it opens."""
    return [(command, *ask_and_watch(*command)) for command in commands(run, source)]


def changes(data, rng):
    """What was changed, and the data: one bit in every byte, in random order; then larger damage."""
    for place in rng.sample(range(len(data)), len(data)):
        flipped = bytearray(data)
        flipped[place] ^= 1 << rng.randrange(8)
        yield f"a bit of byte {place}", bytes(flipped)
    while True:
        start, length = rng.randrange(len(data)), rng.randrange(1, 64)
        before, middle, after = data[:start], data[start : start + length], data[start + length :]
        damage = {
            "cut": before,
            "zeros": before + bytes(len(middle)) + after,
            "removed": before + after,
            "twice": before + middle + middle + after,
            "moved": before + after + middle,
        }
        how = rng.choice(list(damage))
        yield f"{length} bytes at {start} {how}", damage[how]


def check(run, path, what, data, expected):
    """Put the data into a file, and ask the commands.

    If the length is the same, those that do not open the file are left out: their answers cannot change.
    """
    whole = path.read_bytes()
    expected = [each for each in expected if str(path) in each[2] or len(data) != len(whole)]
    asked, expected = [each[0] for each in expected], [each[1] for each in expected]
    path.write_bytes(data)
    name, found = str(path.relative_to(run)), [ask(*command) for command in asked]
    status, _, said = ask("verify", run)
    path.write_bytes(whole)
    where = f"{run.name}, {name}: {what}"
    for after, before in zip(found, expected, strict=True):
        assert after[0] == 2 or after == before, where  # refused, or no change
        assert after[0] == 0 or name in after[2], where
    if status == 0:  # such as a space in JSON
        assert data == whole or name == "manifest.json", where
        assert found == expected, where
    assert status == 0 or name in said, where
    assert name not in ONLY_WRITTEN or found == expected, where


def check_some(runs, work, cases, seed):
    rng, source, streams = random.Random(seed), work / "rows.csv", []
    for run in runs.values():
        expected = answers(run, source)
        assert all(answer[0] == 0 for _, answer, _ in expected)
        streams += [(run, path, expected, changes(path.read_bytes(), rng)) for path in files_of(run)]
    for run, path, expected, stream in itertools.islice(itertools.cycle(streams), cases):
        check(run, path, *next(stream), expected)


@pytest.mark.slow
def test_a_changed_byte_of_a_folder_is_found_or_harmless(runs, work):
    check_some(runs, work, CASES * 2 // 5, seed=1)


def test_some_changed_bytes_of_a_folder_are_found_or_harmless(runs, work):
    check_some(runs, work, 60, seed=2)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_bit_of_every_byte_is_found_or_harmless(runs, work, kind):
    rng, run = random.Random(3), runs[kind]
    expected = answers(run, work / "rows.csv")
    for path in files_of(run):
        data = path.read_bytes()
        for what, changed in itertools.islice(changes(data, rng), len(data)):
            check(run, path, what, changed, expected)


@pytest.mark.parametrize("kind", KINDS)
def test_resuming_a_damaged_folder_changes_nothing_or_keeps_the_damage_visible(runs, work, kind):
    """A run goes on without reading the parts that it wrote before; verify still finds a damaged one."""
    rng, source = random.Random(4), work / "rows.csv"
    args = [arg for arg in KINDS[kind] if arg != "--report"]
    for path in files_of(runs[kind]):
        name = path.relative_to(runs[kind])
        for what, data in itertools.islice(changes(path.read_bytes(), rng), 3):
            copy = work / "copy"
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(runs[kind], copy)
            (copy / name).write_bytes(data)
            before = {path: path.read_bytes() for path in files_of(copy)}
            learn = ("learn", source, "--target", "y", "--drop", "who", "--quiet", "--resume", "--to", copy)
            if ask(*learn, *args)[0] == 0:
                status, _, said = ask("verify", copy)
                left = len(name.parts) > 1 or name.name == "report.html"  # which resuming does not replace
                assert (status, str(name) in said) == ((2, True) if left else (0, False)), (name, what)
            else:
                assert {path: path.read_bytes() for path in files_of(copy)} == before, (name, what)
