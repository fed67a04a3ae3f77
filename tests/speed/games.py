"""The games whose instructions are counted: a program for `test_instructions.py` to run under callgrind.

Without callgrind it plays them as well, and counts nothing: they are then compiled and on disk.
"""

import ctypes
import gc
import mmap
from unittest import mock

import numpy as np
from llvmlite import binding as llvm

import holdfast as hf
from holdfast._compiled import programs
from holdfast.adversaries import SparseReplay
from holdfast.defaults import recommended
from holdfast.options import LEARNER

T = 5_000
NONZEROS = 30

# What valgrind's header file has a C program execute to talk to it; to a processor it means nothing.
# rdi, the address of the request, goes to rax, and what is answered comes back in rdx.
_REQUEST = bytes.fromhex("4889f8 31d2 48c1c703 48c1c70d 48c1c73d 48c1c733 4887db 4889d0 c3")
_CALLGRIND = (ord("C") << 24) + (ord("T") << 16)
_ZERO, _DUMP, _START = _CALLGRIND + 1, _CALLGRIND + 3, _CALLGRIND + 4


class Counter:
    """Callgrind, from within: `zero` begins to count, `dump` writes what was counted to a file."""

    def __init__(self):
        self.page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        self.page.write(_REQUEST)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self.page))
        self.call = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)(address)

    def ask(self, request, text=b""):
        name = ctypes.create_string_buffer(text)
        block = (ctypes.c_uint64 * 6)(request, ctypes.addressof(name))  # and four that no request here reads
        self.call(ctypes.addressof(block))

    def start(self):
        self.ask(_START)

    def zero(self):
        self.ask(_ZERO)

    def dump(self, text):
        self.ask(_DUMP, text.encode())


def dense(loss):
    rng = np.random.default_rng(0)
    X, truth = rng.standard_normal((2 * T, 100)), rng.standard_normal(100)
    margins = 0.3 * (X * truth).sum(axis=1) + rng.logistic(size=2 * T)
    return hf.Replay(X, np.where(margins > 0, 1.0, -1.0), loss)


def sparse(loss, dim):
    """The same numbers whatever the dimension, which only spreads them: one in each of as many ranges."""
    rng = np.random.default_rng(0)
    apart = dim // NONZEROS
    places = apart * np.arange(NONZEROS) + (apart * rng.random((2 * T, NONZEROS))).astype(np.int64)
    values = rng.standard_normal((2 * T, NONZEROS))
    margins = values.sum(axis=1) + rng.logistic(size=2 * T)
    y, starts = np.where(margins > 0, 1.0, -1.0), NONZEROS * np.arange(2 * T + 1)
    return SparseReplay(values.ravel(), places.astype(np.int32).ravel(), starts, dim, y, loss)


def numbers(X):
    rng = np.random.default_rng(1)
    y = X @ np.linspace(-1.0, 1.0, X.shape[1]) + rng.standard_normal(len(X))
    return hf.Replay(X, y, hf.Absolute())


def games():
    """Names, players and adversaries."""
    filters = {
        "Everything": hf.Everything(),
        "TopK": hf.TopK(200),
        "TopShare": hf.TopShare(0.01),
        "Quantile": hf.Quantile(0.99, horizon=2 * T),
    }
    ogd = hf.OGD(hf.Ball(5.0))
    short = hf.OGD(
        hf.Ball(1.0), hf.learners.Adaptive(0.1)
    )  # steps that the ball binds and that no scale ends
    for loss in (hf.Hinge(), hf.Logistic()):
        adversary = dense(loss)
        for name, filter in filters.items():
            yield f"{type(loss).__name__} {name}", hf.Filtered(ogd, filter), adversary
    few = hf.Replay(adversary.X[:, :20], adversary.y, hf.Logistic())
    yield "default for numbers", recommended(regression=True), numbers(few.X)
    yield "default for labels", recommended(regression=False), few
    yield "guarded", recommended(regression=False, learner=LEARNER), few
    yield "unguarded", hf.Filtered(hf.Scaled(LEARNER), hf.Everything()), few
    for name in ("Everything", "TopShare"):
        for bits in (16, 20):
            yield f"sparse 2^{bits} {name}", hf.Filtered(short, filters[name]), sparse(hf.Hinge(), 1 << bits)


def counted(counter, name):
    """Have machine code counted whenever it is called, and nothing around it."""
    run = programs.run

    def run_counted(*args):
        counter.zero()
        run(*args)
        counter.dump(name)

    return mock.patch.object(programs, "run", run_counted)


def for_one_processor():
    """Have games compiled for x86-64-v3, whatever this processor is: valgrind knows no newer one."""
    empty = llvm.FeatureMap()
    return mock.patch.multiple(
        llvm, get_host_cpu_name=lambda: "x86-64-v3", get_host_cpu_features=lambda: empty
    )


def main():
    gc.disable()
    counter, ready = Counter(), list(games())
    for _, player, adversary in ready:  # uncounted: loading compiled code takes long enough without
        hf.play(player, adversary, rounds=10, keep=(), compiled=True)
    counter.start()
    for name, player, adversary in ready:
        for rounds in (T, 2 * T):
            with counted(counter, f"{name} {rounds}"):
                hf.play(player, adversary, rounds=rounds, keep=(), compiled=True)


if __name__ == "__main__":
    with for_one_processor():
        main()
