"""Folders whose files and checksums were changed on purpose: one sentence, never a crash."""

import itertools
import json
import math
import shutil
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from runs.small import called, learned, refused, rewrite, rewrite_tensors, write_source
from samples import slow, thinned

from holdfast.flatten import check_flat, flatten, restore
from holdfast.fleet.grouped_rounds import first_invalid
from holdfast.options import LEARNERS
from holdfast.rounds import Round
from holdfast.runs.config import Settings
from holdfast.runs.files import table_bytes
from holdfast.sketches import LogHistogram
from holdfast.vectors import aligned_copy, dot

EVIL = (-1.0, 0.0, 0.5, 1e9, 9e11, -1e300, 1e300, 2.0**53, math.nan, math.inf, -math.inf)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return write_source(tmp_path_factory.mktemp("source") / "rows.csv")


@pytest.fixture(scope="module")
def originals(source, tmp_path_factory):
    to = tmp_path_factory.mktemp("runs")
    half = write_source(to / "half.csv")
    half.write_bytes(b"".join(source.read_bytes().splitlines(keepends=True)[:40]))
    runs = {"single": (), "keys": ("--key", "who"), "certified": ("--no-scale", "--outliers", "3")}
    return {name: learned(half, to / name, *args) for name, args in runs.items()}


@pytest.fixture(params=["single", "keys", "certified"])
def run(request, originals, tmp_path):
    shutil.copytree(originals[request.param], tmp_path / "run")
    return tmp_path / "run"


def everything(run, source):
    """The results of all commands that read a folder; the last one resumes with more rows."""
    settings = json.loads((run / "config.json").read_text())["settings"]
    args = ["--outliers", settings["outliers"], *(["--key", "who"] if settings["key"] else [])]
    args += [] if settings["scale"] else ["--no-scale"]
    commands = [["inspect", run], ["audit", run], ["audit", run, "--replay", "k=2"], ["report", run]]
    commands += [["predict", run, source]]
    commands += [
        ["learn", source, "--target", "y", "--drop", "who", "--to", run, "--resume", "--quiet", *args]
    ]
    return [called(*command) for command in commands]


def test_unchanged_folders_are_never_refused(run, source):
    assert not any(map(refused, everything(run, source)))


# -- states


def played(player, state, rounds, seed):
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        for i in range(rounds):
            y = float(rng.normal())
            x = rng.normal(size=3) * (1e6 if i % 17 == 5 else 1.0)
            dot(player.predict(state), x)
            state, _ = player.observe(state, Round(float(rng.normal()), x, y))
    return state


def written(player, rounds):
    buffer = np.zeros(20_000)
    return buffer[: flatten(aligned_copy(played(player, player.init(3), rounds, 0)), buffer, 0)].copy()


def restored(player, row):
    """The state in a row of numbers; None if it is refused."""
    if check_flat(player.init(3), row, 0, len(row)) != len(row):
        return None
    state, end = restore(player.init(3), row, 0)
    assert end == len(row)
    with np.errstate(all="ignore"):
        return state if player.valid(state) else None


@pytest.mark.parametrize(
    ("name", "outliers", "scale"),
    thinned(list(itertools.product(LEARNERS, ["auto", "7", "quantile:0.9"], [True, False])), 5),
)
def test_a_tampered_state_is_refused_or_can_be_played(name, outliers, scale):
    loss = "squared_error" if name in ("onlineridge", "vaw", "ons") else "absolute_error"
    player = Settings("y", learner=name, loss=loss, outliers=outliers, scale=scale).player(True)
    rng = np.random.default_rng(1)
    for rounds in (0, 5, 40):
        row = written(player, rounds)
        assert restored(player, row) is not None
        for place in rng.choice(len(row), 12):
            changed = row.copy()
            changed[place] = rng.choice(EVIL)
            state = restored(player, changed)
            if state is not None:
                played(player, state, 8, 2)  # must not raise


def test_a_row_that_is_too_short_or_too_long_is_refused():
    player = Settings("y").player(True)
    row = written(player, 40)
    for length in range(0, len(row), 3):
        assert check_flat(player.init(3), row, 0, length) != length
    assert check_flat(player.init(3), np.append(row, 0.0), 0, len(row) + 1) == len(row)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (0, -1.0),  # sizes seen
        (0, 6.0),
        (0, 2.0**60),
        (1, 1e12),  # the cursor
        (1, -5.0),
        (2, 1.0),  # how many are before it
        (3, 1e9),  # buckets in use
        (3, math.nan),
        (3, -2.0),
        (4, 9e11),  # a bucket
        (4, -1.0),
        (4, 0.5),
        (6, 0.0),  # one that is not above the one before it
        (5, -3.0),  # a count
        (5, math.inf),
        (5, 2.5),
    ],
)
def test_a_tampered_histogram_is_refused(place, value):
    sketch = LogHistogram.empty()
    for size in (0.0, 1e-300, 1.0, 1.0, 1e300):
        sketch = sketch.push(size)
    row = np.zeros(4 + 2 * 4)
    assert sketch.write_to(row, 0) == len(row)
    assert sketch.check_stored(row, 0, len(row)) == len(row)
    row[place] = value
    assert sketch.check_stored(row, 0, len(row)) == -1


@pytest.mark.slow  # compiles for long
def test_python_and_compiled_code_refuse_the_same_states():
    from holdfast._compiled import call

    player = Settings("y").player(True)
    row, rng = written(player, 40), np.random.default_rng(5)
    rows = np.tile(row, (100, 1))
    for changed in rows[1:]:
        changed[rng.integers(len(row))] = rng.choice(EVIL)
    scratch, one = np.zeros(len(row)), np.array([len(row)])
    results = set()
    for tampered in rows:
        args = (player, player.init(3), tampered, np.zeros(1, np.int64), one, scratch)
        with np.errstate(all="ignore"):
            found = first_invalid(*args)
        assert call(first_invalid, *args) == found == (0 if restored(player, tampered) is None else -1)
        results.add(found)
    assert results == {0, -1}


# -- files with correct checksums


def test_a_bucket_outside_of_a_histogram_does_not_crash_the_compiled_game(originals, source, tmp_path):
    """An earlier version wrote to that address, and the process died with SIGSEGV."""
    run = tmp_path / "run"
    shutil.copytree(originals["single"], run)

    def change(about, tensors):
        tape = tensors["games.tape"]
        buckets = np.flatnonzero((tape > 100_000) & (tape < 2047 * 128) & (tape == np.round(tape)))
        tape[buckets[-1]] = 9e11
        tensors["trace.rounds"] = np.array(60_000)  # so many that the next ones are compiled

    rewrite_tensors(run, "checkpoint.safetensors", change)
    args = ["learn", source, "--target", "y", "--drop", "who", "--to", run, "--resume", "--quiet"]
    command = [sys.executable, "-m", "holdfast.cli.main", *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 2, done.stderr
    assert "the state is not valid" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("seed", [2, slow(3)])
def test_tampered_numbers_of_a_checkpoint_are_refused_or_can_be_used(
    run, source, tmp_path, monkeypatch, seed
):
    for module in ("compile_choice", "replay"):  # interpreted, an index outside of an array is an error
        monkeypatch.setattr(f"holdfast.runs.{module}.WORTH_COMPILING", math.inf)
    rng, refusals = np.random.default_rng(seed), 0
    names: list = []
    rewrite_tensors(run, "checkpoint.safetensors", lambda about, tensors: names.extend(tensors))
    for name in names:
        shutil.rmtree(tmp_path / "copy", ignore_errors=True)
        shutil.copytree(run, tmp_path / "copy")

        def change(about, tensors, name=name):
            array = tensors[name].copy()
            if array.size:
                evil = EVIL if array.dtype.kind == "f" else (-1, 0, 10**9, 2**53, 2**62, -(2**62))
                array.reshape(-1)[rng.integers(array.size)] = rng.choice(evil)
            tensors[name] = array

        rewrite_tensors(tmp_path / "copy", "checkpoint.safetensors", change)
        refusals += any(map(refused, everything(tmp_path / "copy", source)))
    assert refusals > 0


@pytest.mark.parametrize("file", ["checkpoint.safetensors", "model.safetensors"])
def test_tensors_of_another_shape_or_type_are_refused(run, source, tmp_path, file):
    changes = [
        lambda array: array.astype(np.float32),
        lambda array: array[..., None],
        lambda array: np.concatenate([array.ravel(), array.ravel(), [7]]).astype(array.dtype),
        lambda array: None,
    ]
    names: list = []
    rewrite_tensors(run, file, lambda about, tensors: names.extend(tensors))
    for name, made in zip(sorted(names), itertools.cycle(changes), strict=False):
        if name in ("recent", "threshold", "widths") and made is changes[-1]:
            continue  # a model without them can be read
        shutil.rmtree(tmp_path / "copy", ignore_errors=True)
        shutil.copytree(run, tmp_path / "copy")

        def change(about, tensors, name=name, made=made):
            array = made(tensors.pop(name))
            if array is not None:
                tensors[name] = array

        rewrite_tensors(tmp_path / "copy", file, change)
        assert any(map(refused, everything(tmp_path / "copy", source))), name


WRONG = [None, [], {}, "x", -1, 1e300, True, [None], {"a": {}}, [[1]]]


@pytest.mark.parametrize("first", [0, slow(1)])
@pytest.mark.parametrize("file", ["checkpoint.safetensors", "model.safetensors"])
def test_wrong_json_in_a_header_is_refused_or_can_be_used(run, source, tmp_path, file, first):
    names: list = []
    rewrite_tensors(run, file, lambda about, tensors: names.extend(about))
    for i, name in enumerate(names):
        for wrong in WRONG[(i + first) % 4 :: 4]:
            shutil.rmtree(tmp_path / "copy", ignore_errors=True)
            shutil.copytree(run, tmp_path / "copy")
            rewrite_tensors(
                tmp_path / "copy", file, lambda about, _, name=name, wrong=wrong: about.update({name: wrong})
            )
            copy = tmp_path / "copy"
            readers = [called("predict", copy, source)] if "model" in file else everything(copy, source)
            for answer in readers:
                refused(answer)


def paths(found, start=()):
    """The places in nested JSON."""
    for key, value in found.items() if isinstance(found, dict) else enumerate(found):
        yield (*start, key)
        if isinstance(value, dict | list):
            yield from paths(value, (*start, key))


def test_wrong_json_in_the_configuration_is_refused_or_can_be_used(run, source, tmp_path):
    config = json.loads((run / "config.json").read_text())
    for i, path in enumerate(paths(config)):
        changed = json.loads(json.dumps(config))
        place = changed
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = WRONG[i % len(WRONG)]
        shutil.rmtree(tmp_path / "copy", ignore_errors=True)
        shutil.copytree(run, tmp_path / "copy")
        rewrite(tmp_path / "copy", "config.json", json.dumps(changed).encode())
        for command in (["inspect"], ["audit"], ["audit", "--replay", "k=2"], ["report"]):
            refused(called(command[0], tmp_path / "copy", *command[1:]))


@pytest.mark.parametrize("data", [b"", b"[", b"7", b"[" * 100_000, b"\xff"])
@pytest.mark.parametrize("name", ["config.json", "checkpoint.safetensors", "model.safetensors"])
def test_files_without_valid_content_are_refused(run, source, name, data):
    rewrite(run, name, data)
    answers = [called("inspect", run), called("predict", run, source)]
    assert any(map(refused, answers))


@pytest.mark.parametrize("name", ["audit/part-000000.parquet", "sizes/part-000000.parquet"])
@pytest.mark.parametrize("how", ["nothing", "columns", "types", "nulls"])
def test_parts_with_other_columns_are_refused(run, source, name, how):
    import pyarrow.parquet as pq

    table = pq.read_table(run / name)
    column = table.column_names[-1]
    number = table.schema.types.index(pa.float64())
    changed = {
        "nothing": None,
        "columns": table.drop([column]),
        "types": table.set_column(number, table.column_names[number], pa.array(["x"] * table.num_rows)),
        "nulls": table.set_column(
            0, table.column_names[0], pa.array([None] * table.num_rows, table.schema.field(0).type)
        ),
    }[how]
    rewrite(run, name, b"PAR1" if changed is None else table_bytes(changed))
    answers = [called("audit", run), called("audit", run, "--replay", "k=2"), called("report", run)]
    assert any(map(refused, answers))


def test_a_manifest_cannot_name_files_outside_of_the_folder(run, source):
    manifest = json.loads((run / "manifest.json").read_text())
    del manifest["sha256"]
    from holdfast.runs import manifest as manifests

    for name in ("../victim", "/etc/passwd", "audit/../../victim", "audit/part-1.parquet", "lock"):
        changed = manifest | {"files": manifest["files"] | {name: [[0, "0" * 64]]}}
        text = json.dumps(changed | {"sha256": manifests._digest(changed)})
        (run / "manifest.json").write_text(text)
        answer = called("inspect", run)
        assert refused(answer)
        assert "lists files that no run writes" in answer[2]
