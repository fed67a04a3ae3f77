"""Tables, wherever they are: files and pipes as batches of rows, in memory that does not grow."""

import re
from pathlib import Path

from holdfast.io.batch import LABEL, NUMBER, TEXT, Batch, SourceError
from holdfast.io.byte_stream import Stream
from holdfast.io.columnar import Arrow, Columnar, Parquet
from holdfast.io.delimited import Delimited
from holdfast.io.jsonlines import JsonLines
from holdfast.io.svmlight import SvmLight
from holdfast.terminal import quoted

FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow", "svmlight")
_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
}

__all__ = ["FORMATS", "LABEL", "NUMBER", "TEXT", "Batch", "Columnar", "SourceError", "open_source"]


def open_source(path, form=None):
    """The rows of a file, or of standard input if `path` is "-": `names`, `blocks`, `sample` and `decode`.

    The format is told by the first bytes, then by the name of the file, then by the first line.
    """
    stream = Stream(path)
    try:
        return _checked(_opened(stream, form or _format(stream)), stream.name)
    except BaseException:
        stream.close()
        raise


def _opened(stream, form):
    if form == "parquet":
        if not stream.seekable:
            raise SourceError(f"{stream.name}: Parquet cannot be read from a pipe: name the file")
        stream.close()
        return Parquet(stream.path)
    if form == "arrow":
        return Arrow(stream)
    if stream.peek(2) in (b"\xff\xfe", b"\xfe\xff"):
        raise SourceError(f"{stream.name} is UTF-16: convert it first, such as with iconv -f UTF-16 -t UTF-8")
    if form == "jsonl":
        return JsonLines(stream)
    if form == "svmlight":
        return SvmLight(stream)
    return Delimited(stream, "\t" if form == "tsv" else _delimiter(stream, form))


def _format(stream):
    head = stream.peek(4096)
    if head[:4] == b"PAR1":
        return "parquet"
    if head[:6] == b"ARROW1" or head[:4] == b"\xff\xff\xff\xff":
        return "arrow"
    names = [suffix for suffix in Path(stream.path).suffixes if suffix.lower() != ".gz"]
    if names and names[-1].lower() in _SUFFIXES:
        return _SUFFIXES[names[-1].lower()]
    line = head.lstrip().partition(b"\n")[0]
    if line.startswith(b"{"):
        return "jsonl"
    if re.match(rb"[-+.\deE]+(\s+\d+:[-+.\deE]+)+\s*(#.*)?$", line):
        return "svmlight"
    return None


def _delimiter(stream, form):
    """Commas, unless the name of the file says nothing and the first line has more of something else."""
    line = stream.peek(4096).partition(b"\n")[0]
    if form == "csv" and b"," in line:
        return ","
    return max((",", "\t", ";", "|"), key=lambda mark: line.count(mark.encode()))


def _checked(source, name):
    twice = [column for column in dict.fromkeys(source.names) if source.names.count(column) > 1]
    if twice:
        places = [str(i + 1) for i, column in enumerate(source.names) if column == twice[0]]
        raise SourceError(
            f"{name}: column {quoted(twice[0])} is there more than once (columns {' and '.join(places)}): "
            "give each a name of its own"
        )
    return source
