"""Pages: the states of some keys as text. A page is read and written as a whole."""

import json
import zlib
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc
from safetensors.numpy import save

from holdfast.runs.files import RunError
from holdfast.runs.model import read_tensors
from holdfast.runs.state_parts import words_of
from holdfast.runs.trace import KEY_COLUMNS
from holdfast.spark.orders import COUNTERS, too_old
from holdfast.spark.state_text import from_text, to_text

FORMAT = "holdfast page 1"


class Places(NamedTuple):
    """Where the state of a key is: in one of `pages` pages of one of `groups` groups."""

    groups: int
    pages: int

    def pages_of(self, keys):
        """The page of each row, from an array of texts."""
        coded = pc.dictionary_encode(keys)
        return self.pages_of_names(coded.dictionary.to_pylist())[coded.indices.to_numpy()]

    def pages_of_names(self, names):
        """The page of each of these keys."""
        hashes = np.fromiter(map(zlib.crc32, map(str.encode, names)), np.int64, len(names))
        return hashes % (self.groups * self.pages)

    def group_of(self, page):
        return page % self.groups


class Page(NamedTuple):
    """Keys, and their arrays: the packed states of their games, counts, counters and sums of errors."""

    keys: list
    words: np.ndarray
    sizes: np.ndarray
    counts: np.ndarray
    counters: np.ndarray
    sums: np.ndarray

    @staticmethod
    def empty():
        nothing, counters = np.zeros(0, np.int64), np.zeros((0, len(COUNTERS)), np.int64)
        sums = np.zeros((0, len(KEY_COLUMNS)))
        return Page([], nothing, nothing, np.zeros((0, 3), np.int64), counters, sums)

    def to_text(self, plan, layout, places):
        header = {"format": FORMAT, "layout": layout, "plan": plan, "places": places, "keys": self.keys}
        tensors = {name: np.ascontiguousarray(getattr(self, name)) for name in self._fields[1:]}
        return to_text(save(tensors, {"holdfast": json.dumps(header)}))

    def of(self, keys, labels):
        """The page of these keys only, given as indices."""
        games = (keys[:, None] * labels + np.arange(labels)).ravel()
        states, names = words_of(self.words, self.sizes, games), [self.keys[i] for i in keys]
        return Page(names, *states, self.counts[games], self.counters[keys], self.sums[keys])

    def without_old(self, now, ttl, labels):
        """The page without the keys that had no row for `ttl` milliseconds."""
        old = too_old(self.counters, now, ttl)
        return self.of(np.flatnonzero(~old), labels) if old.any() else self

    def split(self, places, labels):
        """The keys by page: pairs of number and page."""
        numbers = places.pages_of_names(self.keys)
        for number in np.unique(numbers):
            yield int(number), self.of(np.flatnonzero(numbers == number), labels)


def read_page(text, plan, layout, where, places=None):
    """The page in this text; raises if it was written with another plan or by another version."""
    header, tensors = read_tensors(where, from_text(text, where), FORMAT)
    if places is not None and header.get("places") != list(places):
        raise RunError(f"{where} was begun with groups and pages {header.get('places')}: use the same again")
    if header.get("layout") != layout:
        raise another_layout(where)
    if header.get("plan") != plan:
        raise RunError(
            f"{where}: the fleet was begun with other settings or another encoding of the columns: use "
            "those, or begin a new checkpoint"
        )
    if set(tensors) != set(Page._fields[1:]) or not isinstance(header.get("keys"), list):
        raise RunError(f"{where} is damaged: its tensors are not those of a page; begin a new checkpoint")
    return Page(header["keys"], **tensors)


def plan_in(text, where):
    """The plan that a page was written with, as JSON."""
    header, _ = read_tensors(where, from_text(text, where), FORMAT)
    return header.get("plan")


def joined(pages):
    """The keys of several pages as one page."""
    pages = pages or [Page.empty()]
    if len(pages) == 1:
        return pages[0]
    arrays = (np.concatenate([getattr(page, name) for page in pages]) for name in Page._fields[1:])
    return Page([key for page in pages for key in page.keys], *arrays)


def another_layout(where):
    return RunError(
        f"{where}: the states have another layout than in this version of holdfast with these settings; use "
        "the version and the settings that wrote them, or begin a new checkpoint"
    )
