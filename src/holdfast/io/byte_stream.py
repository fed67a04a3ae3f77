"""Bytes of a file, of a compressed file or of a pipe, in blocks of whole lines."""

import hashlib
import os
import select
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from holdfast.io.cells import number
from holdfast.io.following import FOLLOWED, FollowedFile, FollowedPipe
from holdfast.io.quotes import open_row
from holdfast.io.unpacking import DAMAGED, is_archive, is_packed, unpacked
from holdfast.terminal import Refusal, quoted, visible

Fingerprint = dict[str, int]  # bytes and crc32
Mark = dict[str, Any]  # offset, row, the fingerprint of what begins there, and the SHA-256 of what is before
BLOCK = 2 << 20  # bytes; twice as many take 40 MB more memory and as much time
BOM = b"\xef\xbb\xbf"  # the byte order mark of UTF-8
_HEAD = 4096  # bytes
_LONGEST_LINE = 256 << 20  # bytes; with a longer line the file is not a table


class SourceError(Refusal):
    """What is wrong with a whole source, with its name and the remedy."""


class AnotherSourceError(SourceError):
    """A source has another content than the one that it is compared with."""


class LineBlock(NamedTuple):
    """A block of whole lines, and its position."""

    data: bytes
    offset: int  # of the first byte, after unpacking
    row: int  # the number of the first line; the line after the header has number 1
    lines: int  # the number of lines
    before: str  # SHA-256 of all bytes before it, after unpacking

    @property
    def mark(self) -> Mark:
        begins = fingerprint(self.data)
        return {"offset": self.offset, "row": self.row, "begins": begins, "before": self.before}


def fingerprint(data: bytes, most: int | None = None) -> Fingerprint:
    """Length and CRC-32 of the first bytes, to recognise a source or a position in it."""
    head = data[: _HEAD if most is None else most]
    return {"bytes": len(head), "crc32": zlib.crc32(head)}


def file_sha256(path: str | Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def another_source(name: str | Path, row: int) -> AnotherSourceError:
    """The error if a source differs from the one that the run began with."""
    return AnotherSourceError(
        f"{name}, row {row:,}: not what the run has learned from before: go on with the same source, or "
        "learn from this one into another folder with --to"
    )


NOT_UTF8 = "not UTF-8"
TO_UTF8 = "save the table as UTF-8, or convert it, such as with iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW"


def no_column(source: Any, name: str, why: str = "") -> SourceError:
    """The error if a source does not have a column. Names with a comma are shown as options need them."""
    names = [visible(each, 40) for each in source.names[:20]]
    shown = ", ".join([f'"{each}"' if "," in each else each for each in names])
    shown += ", ..." if len(source.names) > 20 else ""
    others = f"; it has {shown}" if names else ", nor any other"
    return SourceError(f"{source.name} has no column {quoted(name)}{why}{others}{_about_header(source)}")


def _about_header(source: Any) -> str:
    """What to do if the first line of a text is not one of names."""
    if not getattr(source, "quoted", False) or source.without_header:  # only CSV and TSV have such a line
        return ""
    if all(number(name) is not None for name in source.names):
        return ". If its first line is a row, use --no-header: columns are then called 1, 2, ..."
    if len(source.names) == 1:
        return ". Its first line must be that of the names: remove lines above it"
    return ""


class ByteStream:
    """The bytes of a file, of a pipe, or of standard input if the path is `-`. Packed bytes are unpacked.

    With `whole_lines`, a last line without a line end is left out: it may be unfinished. If `eager`, of
    standard input no more than the first line is waited for. With `follow`, both hold, and the end of a file
    is not the end of the stream, unless the file is rotated.
    """

    def __init__(
        self, path: str | Path, whole_lines: bool = False, eager: bool = False, follow: bool = False
    ) -> None:
        self.path, self.follow = str(path), follow
        self._whole_lines, self._eager = whole_lines or follow, follow or (eager and self.path == "-")
        self.unfinished = 0  # bytes of a last line that was left out
        self.name = "standard input" if self.path == "-" else self.path
        self.size: int | None = None  # bytes of the file as stored; None if unknown
        self.is_file = False  # whether it can be read again
        try:
            self._raw: Any = self._open()
        except OSError as problem:
            raise SourceError(f"{self.path}: {problem.strerror}") from None
        self._peeked = b""
        self._offset = 0  # of the next byte that `read` returns
        self._sha256 = hashlib.sha256()  # of the lines before `_hashed`
        self._hashed = 0
        self._row = 1  # the number of the next line
        try:
            self._unpacked = self._raw if isinstance(self._raw, FOLLOWED) else unpacked(self._raw)
            self.head = self.peek(_HEAD)
            if is_archive(self.head):
                raise SourceError(f"{self.name} is a zip archive: unpack it first, such as with unzip")
        except SourceError:
            self.close()
            raise
        except OSError as problem:
            self._raw.close()
            raise SourceError(f"{self.name}: {problem.strerror or problem}") from None

    def _open(self) -> Any:
        if self.path == "-":
            return sys.stdin.buffer
        found = os.stat(self.path)
        if stat.S_ISDIR(found.st_mode):
            raise SourceError(f"{self.path} is a folder: name a file in it")
        self.is_file = stat.S_ISREG(found.st_mode)
        self.size = found.st_size or None if self.is_file and not self.follow else None
        if self.is_file and self.follow:
            if is_packed(self.path):
                raise SourceError(f"{self.name} is packed, so it cannot be followed: leave out --follow")
            return FollowedFile(self.path)
        if self.follow and stat.S_ISFIFO(found.st_mode):
            return FollowedPipe(self.path)
        return open(self.path, "rb")

    @property
    def seekable(self) -> bool:
        return self.is_file and self._unpacked is self._raw and not self.follow

    def stop(self) -> None:
        """Let a thread that waits for a followed file return."""
        if isinstance(self._raw, FOLLOWED):
            self._raw.stop()

    def close(self) -> None:
        if self.path != "-":
            self._unpacked.close()
            self._raw.close()

    def rotation(self) -> int | None:
        """When a followed file was last written to before it was rotated; None if it was not followed."""
        return self._raw.changed if isinstance(self._raw, FOLLOWED) else None

    def has_more(self) -> bool:
        """Whether more lines may be read without waiting."""
        return bool(self._peeked) or not self._waits()

    def peek(self, count: int) -> bytes:
        """The next bytes, without reading on. If `eager`: at least a line, and what is there by now."""
        while len(self._peeked) < count:
            if self._eager and b"\n" in self._peeked and self._waits():
                break
            more = self._read(count - len(self._peeked))
            if not more:
                break
            self._peeked += more
        return self._peeked[:count]

    def _waits(self) -> bool:
        return not (self._raw.has_more() if isinstance(self._raw, FOLLOWED) else _has_more(self._raw))

    def first_lines(self) -> list[bytes]:
        """The whole lines of the first megabyte; none if the source is empty."""
        *lines, last = self.peek(1 << 20).split(b"\n")
        return lines or [last] * bool(last)

    def progress(self) -> int | None:
        return self._raw.tell() if self.is_file else None

    def read(self, count: int) -> bytes:
        if self._peeked:
            data, self._peeked = self._peeked[:count], self._peeked[count:]
        else:
            data = self._read(count)
        self._offset += len(data)
        return data

    def _hash(self, data: bytes) -> None:
        """Add lines to the SHA-256 of all bytes so far."""
        self._sha256.update(data)
        if self._hashed < _HEAD:
            self.head = max(self.head, self.head[: self._hashed] + data[:_HEAD], key=len)[:_HEAD]
        self._hashed += len(data)

    def continue_at(self, mark: Mark) -> None:
        """Move to this mark; raises if other bytes are there, or before it, than when it was made."""
        while self._offset < mark["offset"]:
            data = self.read(min(BLOCK, mark["offset"] - self._offset))
            self._hash(data)
            if not data:
                raise SourceError(
                    f"{self.name} ends before byte {mark['offset']:,}, where the run stopped: go on with the "
                    "same source, or learn from this one into another folder with --to"
                )
        length = mark["begins"]["bytes"]
        begins = fingerprint(self.peek(length), length) if length else mark["begins"]
        if begins != mark["begins"] or self._sha256.hexdigest() != mark["before"]:
            raise another_source(self.name, mark["row"])

    def end(self) -> Mark:
        """The mark of the end, after the last block."""
        before = self._sha256.hexdigest()
        return {"offset": self._hashed, "row": self._row, "begins": fingerprint(b""), "before": before}

    def line(self) -> bytes | None:
        """The next line, without its end; None at the end of the source."""
        count, data = 4096, b""
        while True:
            data = self.peek(count)
            end = data.find(b"\n") + 1
            if end or len(data) < count:
                break
            if count > _LONGEST_LINE:
                raise SourceError(f"{self.name}: its first line does not end")
            count *= 2
        line = self.read(end or len(data))
        self._hash(line)
        return line.rstrip(b"\r\n") if line else None

    def blocks(self, row: int = 1, is_row: Callable[[bytes], bool] | None = None) -> Iterator[LineBlock]:
        """The remaining lines, in blocks.

        With `is_row`, cells may be quoted, and no block ends inside a quote. It says whether a line looks
        like a whole row. That counts at the end of what is there: a stray quote shall not hold back rows.
        """
        parts: list[bytes] = []
        start, self._row = self._offset, row
        while True:
            data = self.read(BLOCK)
            end = data.rfind(b"\n") + 1
            if end or not data:
                block = b"".join([*parts, data[:end]])
                if self._whole_lines and not data:
                    kept = block.rfind(b"\n") + 1
                    if kept < len(block) and is_row is not None:
                        closes = block.count(b'"', kept) % 2  # then the quote is no stray one
                        kept -= open_row(block[:kept], None if closes else is_row)  # a row of several lines
                    self.unfinished, block = len(block) - kept, block[:kept]
                tail = open_row(block, is_row if self._eager else None) if is_row and data else 0
                if tail:
                    block, data, end = block[:-tail], block[-tail:] + data[end:], 0
                if block:
                    count = _line_ends(block) + (not block.endswith(b"\n"))
                    before = self._sha256.hexdigest()
                    self._hash(block)
                    self._row += count
                    yield LineBlock(block, start, self._row - count, count, before)
                start += len(block)
                parts = []
            if not data:
                return
            parts.append(data[end:])
            if sum(map(len, parts)) > _LONGEST_LINE:
                raise SourceError(
                    f"{self.name}, row {self._row:,}: a line of more than {_LONGEST_LINE >> 20} MB"
                )

    def _read(self, count: int) -> bytes:
        """At most `count` bytes. From a pipe: what is there now, at least one byte until it ends."""
        try:
            if self.is_file or not hasattr(self._unpacked, "read1"):
                return self._unpacked.read(count)
            parts = [self._unpacked.read1(count)]
            while parts[-1] and sum(map(len, parts)) < count and _has_more(self._raw):
                parts.append(self._unpacked.read1(count - sum(map(len, parts))))
            return b"".join(parts)
        except DAMAGED as problem:
            raise SourceError(f"{self.name}: its compression is damaged ({problem}): get it again") from None
        except OSError as problem:
            if self._unpacked is not self._raw and problem.errno is None:
                raise SourceError(
                    f"{self.name}: its compression is damaged ({str(problem)[:80]}): get it again"
                ) from None
            raise SourceError(f"{self.name}: {problem.strerror or problem}") from None


def _line_ends(block: bytes) -> int:
    """How many lines end in a block. `bytes.count` takes three times as long for so many."""
    return int(np.count_nonzero(np.frombuffer(block, np.uint8) == ord("\n")))


def _has_more(pipe: Any) -> bool:
    try:
        return bool(select.select([pipe], [], [], 0.0)[0])
    except (OSError, ValueError):  # some systems can wait for sockets only
        return False
