"""Bytes of a file, of a compressed file or of a pipe, in blocks of whole lines."""

import gzip
import os
import select
import sys
import zlib
from pathlib import Path
from typing import NamedTuple

from holdfast.io.batch import SourceError

BLOCK = 8 << 20  # bytes
_LOOK = 4096  # bytes
_CARRIED = 1 << 16  # bytes of a row with line ends that may wait for the next block
_LONGEST = 256 << 20  # bytes of one line: what is longer is no table


class Lines(NamedTuple):
    """A block of whole lines, and where it is."""

    data: bytes
    offset: int  # of the first byte, unpacked
    row: int  # the number of the first line after the header, from 1
    lines: int  # how many

    @property
    def mark(self):
        """Where to begin for this block to come first again, and what to expect there."""
        return {"offset": self.offset, "row": self.row, "begins": begins(self.data)}


def begins(data, most=None):
    """By what one knows again what begins so."""
    head = data[: _LOOK if most is None else most]
    return {"bytes": len(head), "crc32": zlib.crc32(head)}


def another(name, row):
    """What to say where a source is not the one it was."""
    return SourceError(
        f"{name}, row {row:,}: not what the run has learned from before: go on with the same source, or "
        "learn from this one into another folder with --to"
    )


class Stream:
    """The bytes of a source from the beginning; `-` is standard input. gzip is unpacked on the way."""

    def __init__(self, path):
        self.path = str(path)
        self.name = "standard input" if self.path == "-" else self.path
        self.size = None  # bytes as they are stored, where that is known
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
        self._ahead = b""
        self._offset = 0  # of the next byte that `read` gives
        try:
            self.head = self.peek(_LOOK)
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
        """The first bytes, which stay to be read."""
        while len(self._ahead) < count:
            more = self._read(count - len(self._ahead))
            if not more:
                break
            self._ahead += more
        return self._ahead[:count]

    def progress(self):
        """How many bytes of the file, as it is stored, were read."""
        return self._raw.tell() if self.path != "-" else None

    def read(self, count):
        if self._ahead:
            data, self._ahead = self._ahead[:count], self._ahead[count:]
        else:
            data = self._read(count)
        self._offset += len(data)
        return data

    def go_on(self, mark):
        """Go on at this mark; raise if there is something else than there was."""
        self._skip_to(mark["offset"])
        length = mark["begins"]["bytes"]
        if begins(self.peek(length), length) != mark["begins"]:
            raise another(self.name, mark["row"])

    def _skip_to(self, offset):
        if self.seekable and offset <= (self.size or 0):
            self._raw.seek(offset)
            self._ahead, self._offset = b"", offset
        while self._offset < offset:
            if not self.read(min(BLOCK, offset - self._offset)):
                raise SourceError(
                    f"{self.name} ends before byte {offset:,}, where the run stopped: go on with the same "
                    "source, or learn from this one into another folder with --to"
                )

    def line(self):
        """One line, without its end; None if there is none."""
        parts = []
        while True:
            data = self.read(4096)
            end = data.find(b"\n")
            if end >= 0:
                self._ahead = data[end + 1 :] + self._ahead
                self._offset -= len(data) - end - 1
                return b"".join([*parts, data[:end]]).rstrip(b"\r")
            parts.append(data)
            if not data:
                return b"".join(parts).rstrip(b"\r") if any(parts) else None
            if sum(map(len, parts)) > _LONGEST:
                raise SourceError(f"{self.name}: its first line does not end")

    def blocks(self, row=1, quoted=False):
        """All lines from here on, in blocks; if they may be `quoted`, not cut where a quote is open."""
        parts, start = [], self._offset
        while True:
            data = self.read(BLOCK)
            end = data.rfind(b"\n") + 1
            if end or not data:
                block = b"".join([*parts, data[:end]])
                tail = _open(block) if quoted and data else 0
                if tail:
                    block, data, end = block[:-tail], block[-tail:] + data[end:], 0
                if block:
                    count = block.count(b"\n") + (not block.endswith(b"\n"))
                    yield Lines(block, start, row, count)
                    row += count
                start += len(block)
                parts = []
            if not data:
                return
            parts.append(data[end:])
            if sum(map(len, parts)) > _LONGEST:
                raise SourceError(f"{self.name}, row {row:,}: a line of more than {_LONGEST >> 20} MB")

    def _read(self, count):
        """At most so many bytes; of a pipe those that are there, and at least one, unless it has ended."""
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


def _open(block):
    """How many bytes at the end belong to lines in which a quote is open: 0 if it was opened long ago."""
    tail = 0
    while block.count(b'"', 0, len(block) - tail) % 2:
        last = block.rfind(b'"', 0, len(block) - tail)
        tail = len(block) - block.rfind(b"\n", 0, last) - 1
        if tail > _CARRIED or tail == len(block):
            return 0
    return tail


def _has_more(pipe):
    """Whether reading would not have to wait."""
    try:
        return bool(select.select([pipe], [], [], 0.0)[0])
    except (OSError, ValueError):  # no pipe, on some systems
        return False
