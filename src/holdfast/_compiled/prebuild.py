"""Compile games ahead of time: `python -m holdfast._compiled.prebuild [FOLDER [GROUP ...]]`.

`GROUPS` says which. The games of a group are compiled together and share code. The objects of all groups are
linked into a library, which `holdfast._compiled.prebuilt` loads. By default these are the usual games, for
this processor. With HOLDFAST_PREBUILD=all they are all games, for two levels of processors: for wheels.
"""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

import numpy as np

from holdfast._compiled.argument_types import AnyFunction, Arguments
from holdfast._compiled.call_graph import CallGraph
from holdfast._compiled.compiler import register
from holdfast._compiled.linking import compiler, library_name, link
from holdfast._compiled.machine_code import Entry, Form, compile_entries, machine_code
from holdfast._compiled.memory_layout import arrays_in, words
from holdfast._compiled.object_files import target
from holdfast._compiled.prebuilt import FOLDER, digest_of, key_of, level

_MODULE = "holdfast._compiled.prebuild"
_PACKAGE = pathlib.Path(__file__).parents[1]
_X86 = {"fast": "x86-64-v3", "any": "x86-64-v2"}
_IS_X86 = platform.machine() in ("x86_64", "AMD64")
_PROCESSES = 2  # at a time: each needs 400 MB
Game = tuple[Form, AnyFunction, Arguments]


# -- the games: functions, and arguments of the types that they are compiled for


def _default(regression: bool, wide: bool = False, sparse: bool = False) -> Any:
    """The player of the estimators for few columns, for many, or for sparse rows."""
    from holdfast.defaults import default_learner, recommended

    columns = np.inf if sparse else 1_000 if wide else 2
    return recommended(regression, learner=default_learner(regression, columns=columns))


def _filling(player: Any) -> Any:
    """The player as the estimators have it: it fills missing cells."""
    from holdfast.learners.missing_cells import missing_with

    if "missing" in player._fields:
        return player._replace(missing=missing_with(0.5))
    return player._replace(learner=player.learner._replace(missing=missing_with(0.5)))


def _rows(loss: Any, sparse: bool = False) -> Any:
    from holdfast.adversaries.replay import SparseReplay, replay_of_arrays

    if sparse:
        starts = np.zeros(5, np.int32)
        return SparseReplay(np.zeros(0), np.zeros(0, np.int32), starts, 2, np.ones(4), loss)
    return replay_of_arrays(np.zeros((4, 2)), np.ones(4), loss)


def _batches(player: Any, adversary: Any) -> Game:
    """Rows that an estimator or a model of River learns from."""
    from holdfast.adversaries.composed import Weighted
    from holdfast.continuing import Game, play_batch
    from holdfast.play import empty_columns

    begun = Game(player, adversary.inner if isinstance(adversary, Weighted) else adversary)
    batch = adversary, empty_columns(4, 2, len(player.check_names()), ()), 4, True
    return "state", play_batch, (begun.state, player, np.zeros(2), batch)


def _groups(player: Any, loss: Any) -> Game:
    """Rows that `holdfast learn` learns from, with keys or without."""
    from holdfast.adversaries.replay import Replay
    from holdfast.fleet.grouped_rounds import example, play_groups

    rows = Replay(np.zeros((4, 2)), np.ones(4), loss)
    return "call", play_groups, example(player, player.init(2), rows, packed=False)


def _default_games(regression: bool) -> Iterator[Game]:
    """Dense rows without weights: of an estimator or River, and of `holdfast learn`."""
    from holdfast.defaults import recommended_loss

    player, loss = _default(regression), recommended_loss(regression)
    yield _batches(_filling(player), _rows(loss))
    yield _groups(player, loss)


def _weighted(regression: bool) -> Iterator[Game]:
    from holdfast.adversaries.composed import Weighted
    from holdfast.defaults import recommended_loss

    rows = Weighted(_rows(recommended_loss(regression)), np.ones(4))
    yield _batches(_filling(_default(regression)), rows)


def _wide(regression: bool) -> Iterator[Game]:
    from holdfast.defaults import recommended_loss

    yield _batches(_filling(_default(regression, wide=True)), _rows(recommended_loss(regression)))


def _sparse() -> Iterator[Game]:
    from holdfast.defaults import recommended_loss

    for regression in (True, False):
        player, loss = _default(regression, sparse=True), recommended_loss(regression)
        yield _batches(_filling(player), _rows(loss, sparse=True))


def _numbers_in_time() -> Iterator[Game]:
    """`Level`, and the widths of intervals."""
    from holdfast.intervals.widths import LABELS, NUMBERS, follow_each
    from holdfast.levels.level import Level, follow_values

    level, values = Level(), np.zeros(4)
    numbers, flags = np.zeros((4, 5)), np.zeros((4, 4), np.bool_)
    yield "call", follow_values, (level._state, level.baseline, values, numbers, flags)
    for tracker in (NUMBERS, LABELS):
        yield "call", follow_each, (tracker.begin(), tracker, values)


def _gates() -> Iterator[Game]:
    from holdfast.gate import keep_each, keep_one

    for filter in _filters():
        state, last = filter.init(1), np.zeros(1)
        yield "state", keep_one, (state, filter, last, 0.0)
        yield "call", keep_each, (state, filter, last, np.zeros(4), np.zeros(4, np.bool_))


def _filters() -> list[Any]:
    from holdfast.filters import Quantile, TopK, TopShare

    return [TopK(3), TopShare(0.1), Quantile(0.9), Quantile(0.9, horizon=100), TopShare(0.1, window=100)]


def _textbook(is_ogd: bool) -> Iterator[Game]:
    """`OGD` or `AdaGrad` behind the usual filters, by `play` and by `Player`."""
    from holdfast import losses
    from holdfast.adversaries.gradients import Gradients
    from holdfast.domains import Ball, Box
    from holdfast.filters import Quantile, TopK, TopShare
    from holdfast.game import Filtered
    from holdfast.learners import OGD, AdaGrad
    from holdfast.player import learn_round, observe_round

    usual = [losses.Logistic(), losses.Squared()]
    others = [losses.Hinge(), losses.Absolute(), losses.Huber(1.0)]
    learner = OGD(Ball(1.0)) if is_ogd else AdaGrad(Box(-1.0, 1.0))
    for filter in (TopK(3), TopShare(0.1), Quantile(0.9, horizon=100)):
        player = Filtered(learner, filter)
        values = player.init(2), player, np.zeros(2), np.zeros(2)
        yield "state", observe_round, (*values, 0.0)
        for loss in usual + others * is_ogd:
            yield _whole(player, _rows(loss))
        if is_ogd:
            yield _whole(player, Gradients(np.zeros((4, 2))))
            for loss in usual:
                yield "state", learn_round, (*values, loss, 0.0)


def _whole(player: Any, adversary: Any) -> Game:
    """All rounds of an adversary, as `play` plays them."""
    from holdfast.game import Counts, play_rounds
    from holdfast.play import empty_columns

    columns = empty_columns(4, 2, len(player.check_names()), ())
    counts = Counts(0, 0, 0, np.zeros(0))
    return "call", play_rounds, (player, adversary, player.init(2), adversary.start(), counts, columns, 0, 4)


# The longest first, so that the processes end together.
GROUPS: dict[str, Callable[[], Iterator[Game]]] = {
    "numbers": lambda: _default_games(True),
    "labels": lambda: _default_games(False),
    "textbook_ogd": lambda: _textbook(True),
    "textbook_adagrad": lambda: _textbook(False),
    "gates": _gates,
    "numbers_in_time": _numbers_in_time,
    "weighted_numbers": lambda: _weighted(True),
    "weighted_labels": lambda: _weighted(False),
    "wide_numbers": lambda: _wide(True),
    "wide_labels": lambda: _wide(False),
    "sparse": _sparse,
}
# For `pip install .`, which should take a minute.
USUAL = ("numbers", "labels", "textbook_ogd", "textbook_adagrad", "gates", "numbers_in_time")


# -- compile and link them


def build(folder: pathlib.Path, names: tuple[str, ...], levels: tuple[str, ...]) -> None:
    """Compile groups of games, some processes at a time, and write libraries and an index into the folder."""
    start = time.monotonic()
    compiler()  # raises now rather than after a minute
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as objects, ThreadPoolExecutor(_PROCESSES) as pool:
        started = {pool.submit(_run, name, objects, levels): name for name in names}
        for done, each in enumerate(as_completed(started), 1):
            if each.result():
                pool.shutdown(cancel_futures=True)
                raise SystemExit(f"the games {started[each]!r} were not compiled")
            passed = time.monotonic() - start
            sys.stderr.write(
                f"compiled {done} of {len(names)} groups of games, {passed:.0f} s: {started[each]}\n"
            )
        _link(pathlib.Path(objects), folder, names, levels)


def _run(name: str, objects: str, levels: tuple[str, ...]) -> int:
    """The exit status of a process that compiles one group."""
    command = [sys.executable, "-m", _MODULE, "--levels", ",".join(levels), "--group", name, objects]
    return subprocess.run(command, check=False).returncode


def _link(
    objects: pathlib.Path, folder: pathlib.Path, names: tuple[str, ...], levels: tuple[str, ...]
) -> None:
    notes = [json.loads((objects / f"{name}.json").read_text()) for name in names]
    programs = {key: program for note in notes for key, program in note["programs"].items()}
    symbols = {each[kind] for each in programs.values() for kind in ("symbol", "release")}
    libraries = {}
    for each in levels:
        library = folder / library_name(each)
        link([objects / f"{name}-{each}.o" for name in names], sorted(symbols), library)
        libraries[each] = {"file": library.name, "bytes": library.stat().st_size}
    sources = sorted({source for note in notes for source in note["sources"]})
    index = {"libraries": libraries, "sources": sources, "digest": digest_of(sources), "programs": programs}
    (folder / "index.json").write_text(json.dumps(index))


def compile_group(name: str, folder: pathlib.Path, levels: tuple[str, ...]) -> None:
    """Write the object files of a group, and what the index says of its games."""
    games = list(GROUPS[name]())
    entries = [Entry(f"holdfast_{name}_{i}", *game) for i, game in enumerate(games)]
    release = f"holdfast_{name}_release"
    graphs = [CallGraph(entry.function, entry.args) for entry in entries]
    for graph in graphs:
        register(graph)
    compiled = compile_entries(entries, release)
    for each in levels:
        processor = _X86[each] if _IS_X86 else "generic"
        (folder / f"{name}-{each}.o").write_bytes(machine_code(compiled.bitcode, target(processor))[0])
    programs = {
        key_of(entry.function, entry.args): {
            "symbol": entry.symbol,
            "release": release,
            "result": words(result),
            "written": [array.flags.writeable for array in arrays_in(entry.args)],
        }
        for entry, result in zip(entries, compiled.results, strict=True)
    }
    used = {each.__module__ for graph in graphs for each in (*graph.functions, *graph.classes)}
    files = {pathlib.Path(str(sys.modules[each].__file__)) for each in used if each.startswith("holdfast.")}
    files |= {*pathlib.Path(__file__).parent.glob("*.py"), *pathlib.Path(__file__).parent.glob("*.ll")}
    sources = sorted(file.relative_to(_PACKAGE).as_posix() for file in files)
    (folder / f"{name}.json").write_text(json.dumps({"programs": programs, "sources": sources}))


def main() -> None:
    parser = argparse.ArgumentParser(prog=f"python -m {_MODULE}", description=__doc__)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=FOLDER)
    parser.add_argument("names", nargs="*", metavar="GROUP", help=f"of {', '.join(GROUPS)}")
    parser.add_argument("--levels", help="fast, any, or both with a comma; default: that of this processor")
    parser.add_argument("--group", help=argparse.SUPPRESS)
    options = parser.parse_args()
    for_all = os.environ.get("HOLDFAST_PREBUILD") == "all"
    levels = tuple((options.levels or ("fast,any" if for_all and _IS_X86 else level())).split(","))
    if options.group:
        compile_group(options.group, options.folder, levels)
    else:
        build(options.folder, tuple(options.names) or (tuple(GROUPS) if for_all else USUAL), levels)


if __name__ == "__main__":
    main()
