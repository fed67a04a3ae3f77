"""States as named arrays, and back: what a checkpoint holds."""

import numpy as np

_LARGE = 4096  # entries: an array of counts with as many is mostly zeros, and only the others are written


def flattened(state, path=""):
    """The arrays and numbers of a nested tuple by their path; of many counts, those that are not 0."""
    if isinstance(state, tuple):
        names = getattr(state, "_fields", range(len(state)))
        parts = [
            flattened(item, f"{path}.{name}" if path else str(name))
            for name, item in zip(names, state, strict=True)
        ]
        return {name: array for part in parts for name, array in part.items()}
    array = np.asarray(state)
    if _is_sparse(array):
        used = np.flatnonzero(array)
        return {f"{path}@places": used.astype(np.int64), f"{path}@values": array[used]}
    return {path: np.array(array)}


def restored(template, tensors, path=""):
    """A state like the template, with the arrays and numbers of `tensors`."""
    if isinstance(template, tuple):
        names = getattr(template, "_fields", range(len(template)))
        parts = [
            restored(item, tensors, f"{path}.{name}" if path else str(name))
            for name, item in zip(names, template, strict=True)
        ]
        return tuple.__new__(type(template), parts)
    if isinstance(template, np.ndarray):
        if not _is_sparse(template):
            return tensors[path].astype(template.dtype).reshape(template.shape)
        array = np.zeros(template.shape, template.dtype)
        array[tensors[f"{path}@places"]] = tensors[f"{path}@values"]
        return array
    return type(template)(tensors[path].item())


def _is_sparse(array):
    return array.ndim == 1 and array.dtype == np.int64 and len(array) >= _LARGE
