"""Unpack gzip, bzip2, xz and zstd while reading. The first bytes show how a file is packed, not its name."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

SUFFIXES = (".gz", ".bz2", ".xz", ".zst", ".zstd")
DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError, pa.ArrowInvalid)
_LONGEST = 10  # bytes that show how a file is packed


def _gzip(raw: Any) -> Any:
    return gzip.GzipFile(fileobj=raw)


def _zstd(raw: Any) -> Any:
    return pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd")


_UNPACKERS: tuple[tuple[bytes, Callable[[Any], Any]], ...] = (
    (b"\x1f\x8b", _gzip),
    (b"\xfd7zXZ\x00", lzma.LZMAFile),
    (b"\x28\xb5\x2f\xfd", _zstd),
)
# bzip2: then a digit, then one of these. The second is an empty file.
_BZIP2, _AFTER_DIGIT = b"BZh", (b"1AY&SY", b"\x17rE8P\x90")


def unpacked(raw: Any) -> Any:
    """The unpacked bytes of a buffered file; the file itself if it is not packed."""
    unpack = _unpacker(raw.peek(_LONGEST)[:_LONGEST])
    return raw if unpack is None else unpack(raw)


def is_packed(path: str | Path) -> bool:
    with open(path, "rb") as file:
        return _unpacker(file.read(_LONGEST)) is not None


def _unpacker(head: bytes) -> Callable[[Any], Any] | None:
    for start, unpack in _UNPACKERS:
        if head.startswith(start):
            return unpack
    return bz2.BZ2File if head.startswith(_BZIP2) and head[4:] in _AFTER_DIGIT else None


def is_archive(head: bytes) -> bool:
    """Whether these are the first bytes of a zip archive, which may contain several files."""
    return head.startswith(b"PK\x03\x04")
