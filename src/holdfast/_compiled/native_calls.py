"""Calls of compiled functions on the private path: without reference counts, and kept on disk."""

import sys

import numba

from holdfast._compiled import numba_private
from holdfast._compiled.disk_cache import Store
from holdfast._compiled.no_refcount import uncounted, with_owners


def compile_call(function, kind, graph):
    """Compile `function` for arguments whose tuple is of this type; a Python function of that tuple."""
    inner = numba.njit(function, **numba_private.HELPER)

    def entry(args):
        return inner(*uncounted(args))

    run = numba_private.compile_entry(numba.njit(entry, nogil=True), (kind,), _store(function, kind, graph))

    def call(args):
        return with_owners(run(args), args)

    return call


def is_stored(function, kind, graph):
    """Whether another process has left this on disk."""
    return _store(function, kind, graph).exists()


def _store(function, kind, graph):
    store = Store(function.__name__, (kind,), kind, graph.fingerprint())
    # Another process cannot load a function whose module it cannot import.
    store.is_shared &= all(each.__module__ in sys.modules for each in graph.functions)
    return store
