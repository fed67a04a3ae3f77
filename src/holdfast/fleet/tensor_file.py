"""Safetensors files with a header in JSON: written without copies, and read without executing anything."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

_NAMES = {"float64": "F64", "int64": "I64", "uint8": "U8"}
Buffer = bytes | memoryview


def tensor_buffers(tensors: Mapping[str, np.ndarray], header: Mapping[str, Any]) -> list[Buffer]:
    """The content of a file with these arrays of float64, int64 and uint8, in parts that follow each other.

    `safetensors.numpy.save` would copy all numbers twice.
    """
    arrays: list[Buffer] = []
    found: dict[str, Any] = {"__metadata__": {"holdfast": json.dumps(header, sort_keys=True)}}
    end = 0
    for name, array in sorted(tensors.items()):
        kind = array.dtype.name
        array = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(array.shape)
        arrays.append(array.reshape(-1).view(np.uint8).data)
        places = [end, end + array.nbytes]
        found[name] = {"dtype": _NAMES[kind], "shape": list(array.shape), "data_offsets": places}
        end += array.nbytes
    text = json.dumps(found, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # so that the numbers are aligned
    return [len(text).to_bytes(8, "little") + text, *arrays]


def read_tensors(data: Any, form: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header and the tensors of a file whose header has this format; raises ValueError if it has not."""
    from safetensors import SafetensorError  # here: games are compiled where it is not installed
    from safetensors.numpy import load

    try:
        outer = json.loads(bytes(data[8 : 8 + int.from_bytes(data[:8], "little")]))
        header = json.loads(outer["__metadata__"]["holdfast"])
        tensors = load(data)
    except (ValueError, KeyError, TypeError, RecursionError, SafetensorError) as problem:
        raise ValueError(f"no safetensors file ({str(problem)[:80]})") from None
    found = header.get("format") if isinstance(header, dict) else header
    if found != form:
        raise ValueError(f"it is {str(found)[:40]!r}, and this version of holdfast reads {form!r}")
    return header, tensors


def count_in(tensor: np.ndarray, least: int = 0) -> int:
    """The count in a tensor; raises ValueError if there is none, or it is less than `least`."""
    if tensor.dtype != np.int64 or tensor.ndim or not least <= int(tensor) <= 1 << 53:
        raise ValueError(f"a count cannot be {tensor.dtype} of shape {tensor.shape}, or below {least}")
    return int(tensor)


def numbers(tensor: np.ndarray, shape: tuple[int | None, ...]) -> np.ndarray:
    """A tensor of float64; raises ValueError if it has another shape. None in `shape` is any length."""
    fits = tensor.dtype == np.float64 and tensor.ndim == len(shape)
    if not fits or any(want not in (None, size) for size, want in zip(tensor.shape, shape, strict=True)):
        raise ValueError(f"numbers of shape {shape} cannot be {tensor.dtype} of shape {tensor.shape}")
    return tensor
