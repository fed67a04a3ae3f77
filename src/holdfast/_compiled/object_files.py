"""Object files of machine code: their bytes on disk, and how LLVM's linker loads them into this process.

This needs llvmlite, but not numba.
"""

import functools
import itertools
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import __version__ as release
from llvmlite import binding as llvm

from holdfast._compiled.memory_layout import Kind, from_words, words
from holdfast._compiled.programs import Program

GAME, RELEASE = "game", "release"  # the functions in an object file, as `programs.Program` takes them
SPEED = 2  # the level of LLVM's optimisation


class ObjectFile(NamedTuple):
    """Machine code of a function, and the kind of what it writes (`memory_layout`)."""

    data: bytes
    result: Kind
    needs: list[str]  # functions of numba that it calls
    is_portable: bool = True  # whether other processes can run it

    def packed(self) -> bytes:
        about = {"result": words(self.result), "needs": self.needs}
        return json.dumps(about).encode() + b"\n" + self.data

    @staticmethod
    def unpacked(packed: bytes, find: Callable[[str, str], type]) -> "ObjectFile":
        """The file of these bytes. `find` looks up a class by its module and name."""
        head, _, data = packed.partition(b"\n")
        about = json.loads(head)
        return ObjectFile(data, from_words(about["result"], find), about["needs"])

    def load(self) -> Program:
        """Its function. Raises RuntimeError if it calls one that is not there."""
        library = llvm.JITLibraryBuilder().add_object_img(self.data).add_current_process()
        for name in self.needs:
            place = _numba_function(name)
            if not place:
                raise RuntimeError(f"this numba has no function {name}")
            library.import_symbol(name, place)
        library.export_symbol(GAME).export_symbol(RELEASE)
        linked = library.link(_linker(), f"holdfast {next(_numbers)}")
        _linked.append(linked)
        return Program.at(linked[GAME], linked[RELEASE], self.result)


_numbers = itertools.count()
_linked: list[Any] = []  # if one were deleted, its machine code would be too


def _numba_function(name: str) -> int:
    """The address of one of numba's own functions, which it makes known to LLVM when it starts."""
    if not llvm.address_of_symbol(name):
        from holdfast._compiled import numba_private

        numba_private.start()
    place: int = llvm.address_of_symbol(name)
    return place


@functools.cache
def target(kind: str = "") -> Any:
    """Processors of a kind, or this one, for which LLVM makes machine code."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    _, own, features, _ = processor()
    cpu, features = (kind, "") if kind else (own, features)
    found = llvm.Target.from_default_triple()
    return found.create_target_machine(cpu, features, opt=SPEED, reloc="pic", codemodel="default")


@functools.cache
def processor() -> tuple[str, ...]:
    """The kind of processor, and the release of LLVM. Stored code runs on no other kind."""
    llvm.initialize_native_target()
    return (
        llvm.get_default_triple(),
        llvm.get_host_cpu_name(),
        llvm.get_host_cpu_features().flatten(),
        release,
    )


@functools.cache
def _linker() -> Any:
    """JITLink keeps the sections of an object file together.

    LLVM's older linker takes memory for each of them, and ends the process if two are 2 GB apart.
    """
    return llvm.create_lljit_compiler(target(), use_jit_link=True)
