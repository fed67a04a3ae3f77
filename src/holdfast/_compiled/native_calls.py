"""Calls of compiled functions on the private path: without reference counts, and with a disk cache."""

import sys

import numba

from holdfast._compiled import numba_private
from holdfast._compiled.disk_cache import Store
from holdfast._compiled.no_refcount import owners_of, uncounted, with_owners


def compile_call(function, kind, graph):
    """Compile `function`. The result is a Python function of the tuple of its arguments, of type `kind`."""
    inner = numba.njit(function, **numba_private.HELPER)

    def entry(args):
        return inner(*uncounted(args))

    run = numba_private.compile_entry(numba.njit(entry, nogil=True), (kind,), _store(function, kind, graph))

    def call(args):
        return with_owners(run(args), owners_of(args))

    return call


def is_stored(function, kind, graph):
    """Whether the compiled function is on disk."""
    return _store(function, kind, graph).exists()


def _store(function, kind, graph):
    store = Store(function.__name__, (kind,), kind, graph.fingerprint)
    # Another process cannot load a function whose module it cannot import.
    store.is_shared &= all(each.__module__ in sys.modules for each in graph.functions)
    return store
