"""Pages: the states of some keys of a fleet as bytes. A page is read and written as a whole."""

import json
import zlib
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc
from safetensors.numpy import save

from holdfast.runs.files import RunError
from holdfast.runs.model import read_tensors
from holdfast.spark.models import another_layout
from holdfast.spark.plan import Plan
from holdfast.spark.playing import COUNTERS

FORMAT = "holdfast page 1"
_SEEN = COUNTERS.index("seen")


class Places(NamedTuple):
    """Where the state of a key is: in one of `pages` pages of one of `groups` groups."""

    groups: int
    pages: int

    def page_of(self, key):
        return zlib.crc32(key.encode()) % (self.groups * self.pages)

    def pages_of(self, keys):
        """The page of each row, from an array of texts."""
        coded = pc.dictionary_encode(keys)
        found = np.array([self.page_of(key) for key in coded.dictionary.to_pylist()], np.int64)
        return found[coded.indices.to_numpy()]

    def group_of(self, page):
        return page % self.groups


class Page(NamedTuple):
    """Keys, and their arrays: the states of their games, counts, counters and sums of errors."""

    keys: list
    tape: np.ndarray
    lengths: np.ndarray
    counts: np.ndarray
    counters: np.ndarray
    sums: np.ndarray

    def to_bytes(self, plan, layout):
        header = {"format": FORMAT, "layout": layout, "plan": plan, "keys": self.keys}
        tensors = {name: np.ascontiguousarray(getattr(self, name)) for name in self._fields[1:]}
        return save(tensors, {"holdfast": json.dumps(header)})

    def without(self, expired, labels):
        """The page without these keys, given as truth values."""
        if not expired.any():
            return self
        games = np.repeat(~expired, labels)
        numbers = np.repeat(games, self.lengths)
        keys = [key for key, gone in zip(self.keys, expired, strict=True) if not gone]
        rest = self.counts[games], self.counters[~expired], self.sums[~expired]
        return Page(keys, self.tape[numbers], self.lengths[games], *rest)


def read_page(data, plan, layout, where):
    """The page in these bytes; raises if it was written with another plan or by another version."""
    header, tensors = read_tensors(where, bytes(data), FORMAT)
    if header.get("layout") != layout:
        raise another_layout(where)
    if header.get("plan") != plan:
        raise RunError(
            f"{where}: the fleet was begun with other settings or another encoding of the columns: use those, "
            "or begin a new checkpoint"
        )
    if set(tensors) != set(Page._fields[1:]) or not isinstance(header.get("keys"), list):
        raise RunError(f"{where} is damaged: its tensors are not those of a page; begin a new checkpoint")
    return Page(header["keys"], **tensors)


def plan_in(data, where):
    """The plan that a page was written with."""
    header, _ = read_tensors(where, bytes(data), FORMAT)
    return Plan.from_json(header.get("plan"))


def joined(pages, labels):
    """The keys of several pages as one."""
    if not pages:
        nothing = np.zeros(0, np.int64)
        whole = np.zeros((0, 3), np.int64)
        return Page([], np.zeros(0), nothing, whole, np.zeros((0, len(COUNTERS)), np.int64), np.zeros((0, 4)))
    if len(pages) == 1:
        return pages[0]
    arrays = (np.concatenate([getattr(page, name) for page in pages]) for name in Page._fields[1:])
    return Page([key for page in pages for key in page.keys], *arrays)


def expired(page, now, ttl):
    """Which keys were last updated more than `ttl` milliseconds ago."""
    if ttl is None:
        return np.zeros(len(page.keys), bool)
    return page.counters[:, _SEEN] + ttl <= now


def load_into(run, page, where):
    """Let a run in this process go on from a page."""
    try:
        states = {"tape": page.tape, "lengths": page.lengths, "counts": page.counts}
        run.load(page.keys, states, page.counters, page.sums, run.games.layout, where)
    except ValueError as problem:
        raise problem if isinstance(problem, RunError) else RunError(f"{where} is damaged: {problem}") from None


def split(run, page_of):
    """The pages of all keys of a run, by number."""
    keys, labels = list(run.games.keys), len(run.games.labels)
    numbers = np.array([page_of(key) for key in keys], np.int64)
    state = run.games.state()
    starts = np.concatenate([[0], np.cumsum(state["lengths"])])
    for page in np.unique(numbers):
        own = np.flatnonzero(numbers == page)
        games = (own[:, None] * labels + np.arange(labels)).ravel()
        tape = np.concatenate([state["tape"][starts[game] : starts[game + 1]] for game in games])
        names = [keys[i] for i in own]
        rest = run.games.counts[games], run.counters[own], run.keys.sums[own]
        yield int(page), Page(names, tape, state["lengths"][games], *rest)
