"""Compile the default games ahead of time: `python -m holdfast._compiled.prebuild [FOLDER [GAME ...]]`.

Each becomes a C function: int game(nothing, error, values, argument, answer). Machine code for two levels of
processors is linked into one library for each, with `runtime.c`. `holdfast._compiled.prebuilt` loads it.
"""

import json
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Any

import numba
import numpy as np
from llvmlite import binding as llvm
from numba import types
from numba.extending import intrinsic

from holdfast._compiled import numba_private
from holdfast._compiled.argument_types import AnyFunction, Arguments
from holdfast._compiled.memory_layout import layout_of
from holdfast._compiled.method_registration import CallGraph
from holdfast._compiled.native_calls import is_counted, uncounted
from holdfast._compiled.numba_private import incref
from holdfast._compiled.prebuilt import FOLDER, digest_of, key_of

_MODULE = "holdfast._compiled.prebuild"
_PACKAGE = pathlib.Path(__file__).parents[1]
_X86 = {"fast": "x86-64-v3", "any": "x86-64-v2"}
_SPEED = 2  # the level of LLVM's optimisation
NAMES = ("numbers", "labels")  # the defaults of the two estimators, dense rows without weights


def build(folder: pathlib.Path = FOLDER, names: tuple[str, ...] = NAMES) -> None:
    """Compile games, two processes at a time, and write libraries and index into the folder."""
    start = time.monotonic()
    compiler = shutil.which("cc")
    if compiler is None:
        raise SystemExit("no C compiler (cc) to link the games with")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as objects:
        waiting, running = list(names), list[tuple[str, subprocess.Popen[bytes]]]()
        while waiting or running:
            while waiting and len(running) < 2:
                name = waiting.pop(0)
                running.append(
                    (name, subprocess.Popen([sys.executable, "-m", _MODULE, "--game", name, objects]))
                )
            name, process = running.pop(0)
            if process.wait():
                raise SystemExit(f"the game {name!r} was not compiled")
        _link(pathlib.Path(objects), folder, names, compiler)
    sys.stderr.write(f"holdfast: {len(names)} games in {time.monotonic() - start:.0f} s\n")


def _link(objects: pathlib.Path, folder: pathlib.Path, names: tuple[str, ...], compiler: str) -> None:
    libraries = {level: f"games-{level}.so" for level in _processors()}
    runtime = str(pathlib.Path(__file__).with_name("runtime.c"))
    for level, library in libraries.items():
        files = [str(objects / f"{name}-{level}.o") for name in names]
        options = ["-O2", "-fPIC", "-shared", "-s", "-o", str(folder / library)]
        subprocess.run([compiler, *options, runtime, *files, "-lm"], check=True)
    notes = [json.loads((objects / f"{name}.json").read_text()) for name in names]
    sources = sorted({source for note in notes for source in note["sources"]})
    symbols = {note["key"]: f"holdfast_{name}" for note, name in zip(notes, names, strict=True)}
    index = {"libraries": libraries, "symbols": symbols, "sources": sources, "digest": digest_of(sources)}
    (folder / "index.json").write_text(json.dumps(index, indent=1))


def _processors() -> dict[str, str]:
    return _X86 if platform.machine() in ("x86_64", "AMD64") else {"fast": "generic"}


def game(name: str) -> tuple[AnyFunction, Arguments]:
    """The function and arguments of the types of one of the default games."""
    from holdfast.adversaries.replay import replay_of_arrays
    from holdfast.continuing import Game, play_batch
    from holdfast.defaults import default_learner, recommended, recommended_loss
    from holdfast.learners.missing_cells import missing_with
    from holdfast.play import empty_columns

    regression = name == "numbers"
    learner = default_learner(regression, columns=2)
    player = recommended(regression, learner=learner)._replace(missing=missing_with(0.5))
    adversary = replay_of_arrays(np.zeros((4, 2)), np.ones(4), recommended_loss(regression))
    begun = Game(player, adversary)
    batch = adversary, empty_columns(4, 2, len(player.checks()), ()), 4, True
    return play_batch, (begun.state, player, np.zeros(len(begun._w)), batch)


def compile_game(name: str, folder: pathlib.Path) -> None:
    """Write the object files of one game, its key and the names of its sources."""
    start = time.monotonic()
    function, args = game(name)
    graph = CallGraph(function, args)
    code = _bitcode(function, args, f"holdfast_{name}")
    for level, processor in _processors().items():
        (folder / f"{name}-{level}.o").write_bytes(_machine_code(code, processor))
    used = {each.__module__ for each in graph.functions} | {each.__module__ for each in graph.classes}
    files = {pathlib.Path(str(sys.modules[each].__file__)) for each in used if each.startswith("holdfast.")}
    files |= {*pathlib.Path(__file__).parent.glob("*.py"), pathlib.Path(__file__).with_name("runtime.c")}
    sources = sorted(file.relative_to(_PACKAGE).as_posix() for file in files)
    (folder / f"{name}.json").write_text(json.dumps({"key": key_of(function, args), "sources": sources}))
    sys.stderr.write(f"holdfast: compiled {name} in {time.monotonic() - start:.0f} s\n")


def _bitcode(function: AnyFunction, args: Arguments, symbol: str) -> bytes:
    """The game in LLVM's language, with one visible function of pointers."""
    kind = _writeable(numba.typeof(args))
    values = types.Tuple(list(kind)[:-1])
    for some, part in ((values, args[:-1]), (kind[-1], args[-1])):
        if numba_private.size_of(some) != layout_of(part).size:
            raise AssertionError("memory_layout and numba lay out a value differently")
    load, load_batch, store = _loader(values), _loader(kind[-1]), _storer()
    inner = numba.njit(function, **numba_private.HELPER)

    def entry(block: Any, batch: Any, place: Any) -> None:
        first, answer = inner(*uncounted(load(block)), uncounted(load_batch(batch)))
        store(block, first)
        store(place, (answer[0], answer[1], 1 if is_counted(first) else 0))

    dispatcher = numba.njit(entry, **numba_private.OVERLOAD)
    pointers = (types.voidptr,) * 3
    return numba_private.bitcode(dispatcher, pointers, symbol)


def _machine_code(bitcode: bytes, processor: str) -> bytes:
    """An object file. What is rarely called is made small, which takes less time."""
    module = llvm.parse_bitcode(bitcode)
    target = llvm.Target.from_triple(module.triple)
    machine = target.create_target_machine(cpu=processor, opt=_SPEED, reloc="pic", codemodel="default")
    for each in module.functions:
        if not each.is_declaration and b"cold" in b" ".join(each.attributes):
            each.add_function_attribute("minsize")
            each.add_function_attribute("optsize")
    for speed in (0, _SPEED):
        tuning = llvm.create_pipeline_tuning_options(speed_level=speed)
        tuning.loop_vectorization, tuning.slp_vectorization = speed > 0, False
        builder = llvm.create_pass_builder(machine, tuning)
        passes = builder.getModulePassManager()
        if speed == 0:
            passes.add_loop_rotate_pass()
            passes.add_instruction_combine_pass()
            passes.add_jump_threading_pass()
        passes.add_refprune_pass()
        passes.run(module, builder)
    written: bytes = machine.emit_object(module)
    return written


def _writeable(kind: Any) -> Any:
    """The type with arrays that can be written to: one game for both, as machine code does not differ."""
    if isinstance(kind, types.Array):
        return kind.copy(readonly=False)
    if not isinstance(kind, types.BaseTuple):
        return kind
    items = [_writeable(item) for item in kind]
    if not isinstance(kind, types.BaseNamedTuple):
        return types.Tuple(items)
    if items and len(set(items)) == 1:
        return types.NamedUniTuple(items[0], len(items), kind.instance_class)
    return types.NamedTuple(items, kind.instance_class) if items else kind


def _loader(kind: Any) -> Any:
    @intrinsic
    def load(typing_context: Any, place: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.load(builder.bitcast(args[0], context.get_value_type(kind).as_pointer()))

        return kind(types.voidptr), generate

    return load


def _storer() -> Any:
    @intrinsic
    def store(typing_context: Any, place: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            incref(context, builder, value, args[1])  # of new arrays; `prebuilt` releases them
            builder.store(args[1], builder.bitcast(args[0], args[1].type.as_pointer()))
            return numba_private.nothing(context)

        return types.void(types.voidptr, value), generate

    return store


def main() -> None:
    if sys.argv[1:2] == ["--game"]:
        compile_game(sys.argv[2], pathlib.Path(sys.argv[3]))
    else:
        build(pathlib.Path(sys.argv[1]) if sys.argv[1:] else FOLDER, tuple(sys.argv[2:]) or NAMES)


if __name__ == "__main__":
    main()
