"""Bytes as text, for Spark's state store: from there binary goes to Python byte by byte, and text at once."""

import base64

import pyarrow as pa

from holdfast.runs.files import RunError

_CODEC = "zstd"


def to_text(data):
    """The bytes, compressed, as text."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, _CODEC) as stream:
        stream.write(data)
    return base64.b64encode(sink.getvalue()).decode()


def from_text(text, where):
    """The bytes that `to_text` was given; raises RunError if the text is anything else."""
    try:
        data = pa.py_buffer(base64.b64decode(text, validate=True))
        with pa.input_stream(data, compression=_CODEC) as stream:
            return stream.read()
    except (ValueError, OSError) as problem:
        raise RunError(
            f"{where}: these states are damaged, or were written by another version of holdfast "
            f"({str(problem)[:80]}); begin a new checkpoint"
        ) from None
