"""Bytes of a file, of a compressed file or of a pipe, in blocks of whole lines."""

import gzip
import os
import select
import sys
import zlib
from pathlib import Path
from typing import NamedTuple

from holdfast.terminal import Refusal

BLOCK = 8 << 20  # bytes
_HEAD = 4096  # bytes
_MOST_CARRIED = 1 << 16  # bytes of a row with line ends that may be moved to the next block
_LONGEST_LINE = 256 << 20  # bytes; with a longer line the file is not a table


class SourceError(Refusal):
    """What is wrong with a whole source, with its name and the remedy."""


class LineBlock(NamedTuple):
    """A block of whole lines, and its position."""

    data: bytes
    offset: int  # of the first byte, after unpacking
    row: int  # the number of the first line; the line after the header has number 1
    lines: int  # the number of lines

    @property
    def mark(self):
        """The position of this block, and the fingerprint of what begins there."""
        return {"offset": self.offset, "row": self.row, "begins": fingerprint(self.data)}


def fingerprint(data, most=None):
    """Length and CRC-32 of the first bytes, to recognise a source or a position in it."""
    head = data[: _HEAD if most is None else most]
    return {"bytes": len(head), "crc32": zlib.crc32(head)}


def another_source(name, row):
    """The error if a source differs from the one that the run began with."""
    return SourceError(
        f"{name}, row {row:,}: not what the run has learned from before: go on with the same source, or "
        "learn from this one into another folder with --to"
    )


class ByteStream:
    """The bytes of a file, or of standard input if the path is `-`. gzip is unpacked.

    If `eager`, of standard input no more than the first line is waited for. With `whole_lines`, a last line
    without a line end is left out: it may be unfinished.
    """

    def __init__(self, path, eager=False, whole_lines=False):
        self.path, self._eager = str(path), eager and str(path) == "-"
        self._whole_lines, self.unfinished = whole_lines, 0  # bytes of a last line that was left out
        self.name = "standard input" if self.path == "-" else self.path
        self.size = None  # bytes of the file as stored; None if unknown
        try:
            if self.path == "-":
                self._raw = sys.stdin.buffer
            else:
                if Path(self.path).is_dir():
                    raise SourceError(f"{self.path} is a folder: name a file in it")
                self._raw = open(self.path, "rb")  # noqa: SIM115
                self.size = os.fstat(self._raw.fileno()).st_size or None
        except OSError as problem:
            raise SourceError(f"{self.path}: {problem.strerror}") from None
        self._unpacked = self._raw
        if self._raw.peek(2)[:2] == b"\x1f\x8b":
            self._unpacked = gzip.GzipFile(fileobj=self._raw)
        self._peeked = b""
        self._offset = 0  # of the next byte that `read` returns
        try:
            self.head = self.peek(_HEAD)
        except SourceError:
            self.close()
            raise

    @property
    def seekable(self):
        return self.path != "-" and self._unpacked is self._raw

    def close(self):
        if self.path != "-":
            self._unpacked.close()
            self._raw.close()

    def peek(self, count):
        """The next bytes, without reading on."""
        while len(self._peeked) < count:
            if self._eager and b"\n" in self._peeked and not _has_more(self._raw):
                break
            more = self._read(count - len(self._peeked))
            if not more:
                break
            self._peeked += more
        return self._peeked[:count]

    def first_lines(self):
        """The whole lines of the first megabyte; none if the source is empty."""
        *lines, last = self.peek(1 << 20).split(b"\n")
        return lines or [last] * bool(last)

    def progress(self):
        """How many bytes of the file as stored were read."""
        return self._raw.tell() if self.path != "-" else None

    def read(self, count):
        if self._peeked:
            data, self._peeked = self._peeked[:count], self._peeked[count:]
        else:
            data = self._read(count)
        self._offset += len(data)
        return data

    def continue_at(self, mark):
        """Move to this mark; raises if other bytes are there than before."""
        self._skip_to(mark["offset"])
        length = mark["begins"]["bytes"]
        if fingerprint(self.peek(length), length) != mark["begins"]:
            raise another_source(self.name, mark["row"])

    def _skip_to(self, offset):
        if self.seekable and offset <= (self.size or 0):
            self._raw.seek(offset)
            self._peeked, self._offset = b"", offset
        while self._offset < offset:
            if not self.read(min(BLOCK, offset - self._offset)):
                raise SourceError(
                    f"{self.name} ends before byte {offset:,}, where the run stopped: go on with the same "
                    "source, or learn from this one into another folder with --to"
                )

    def line(self):
        """The next line, without its end; None at the end of the source."""
        parts = []
        while True:
            data = self.read(4096)
            end = data.find(b"\n")
            if end >= 0:
                self._peeked = data[end + 1 :] + self._peeked
                self._offset -= len(data) - end - 1
                return b"".join([*parts, data[:end]]).rstrip(b"\r")
            parts.append(data)
            if not data:
                return b"".join(parts).rstrip(b"\r") if any(parts) else None
            if sum(map(len, parts)) > _LONGEST_LINE:
                raise SourceError(f"{self.name}: its first line does not end")

    def blocks(self, row=1, quoted=False):
        """The remaining lines, in blocks. If cells may be `quoted`, no block ends inside a quote."""
        parts, start = [], self._offset
        while True:
            data = self.read(BLOCK)
            end = data.rfind(b"\n") + 1
            if end or not data:
                block = b"".join([*parts, data[:end]])
                if self._whole_lines and not data:
                    kept = block.rfind(b"\n") + 1
                    if kept < len(block) and quoted and block.count(b'"', 0, kept) % 2:
                        kept = 0  # the last row has several lines
                    self.unfinished, block = len(block) - kept, block[:kept]
                tail = _open_quote(block) if quoted and data else 0
                if tail:
                    block, data, end = block[:-tail], block[-tail:] + data[end:], 0
                if block:
                    count = block.count(b"\n") + (not block.endswith(b"\n"))
                    yield LineBlock(block, start, row, count)
                    row += count
                start += len(block)
                parts = []
            if not data:
                return
            parts.append(data[end:])
            if sum(map(len, parts)) > _LONGEST_LINE:
                raise SourceError(f"{self.name}, row {row:,}: a line of more than {_LONGEST_LINE >> 20} MB")

    def _read(self, count):
        """At most `count` bytes. From a pipe: what is there now, at least one byte until it ends."""
        try:
            if self.path != "-":
                return self._unpacked.read(count)
            parts = [self._unpacked.read1(count)]
            while parts[-1] and sum(map(len, parts)) < count and _has_more(self._raw):
                parts.append(self._unpacked.read1(count - sum(map(len, parts))))
            return b"".join(parts)
        except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
            raise SourceError(f"{self.name}: its compression is damaged ({problem}): get it again") from None
        except OSError as problem:
            raise SourceError(f"{self.name}: {problem.strerror or problem}") from None


def _open_quote(block):
    """The length of the last lines if a quote is open in them; 0 if none is, or if it begins too far back."""
    tail = 0
    while block.count(b'"', 0, len(block) - tail) % 2:
        last = block.rfind(b'"', 0, len(block) - tail)
        tail = len(block) - block.rfind(b"\n", 0, last) - 1
        if tail > _MOST_CARRIED or tail == len(block):
            return 0
    return tail


def _has_more(pipe):
    """Whether bytes can be read without waiting."""
    try:
        return bool(select.select([pipe], [], [], 0.0)[0])
    except (OSError, ValueError):  # some systems can wait for sockets only
        return False
