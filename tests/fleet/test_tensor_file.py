"""Files of tensors that are made without copies are safetensors files."""

import numpy as np
import pytest
from safetensors.numpy import load, save

from holdfast.fleet.tensor_file import tensor_buffers


@pytest.mark.parametrize("text", ["", "é" * 5, "x" * 300])
def test_safetensors_reads_what_it_would_have_written(text):
    tensors = {"b": np.arange(6.0).reshape(2, 3), "a": np.zeros((0, 4)), "c": np.array([np.nan, -np.inf])}
    tensors["d"] = np.arange(8.0).reshape(2, 4)[:, ::2]  # not contiguous
    data = b"".join(tensor_buffers(tensors, {"about": text}))
    found = load(data)
    assert found.keys() == tensors.keys()
    for name, array in found.items():
        assert array.dtype == np.float64
        np.testing.assert_array_equal(array, tensors[name])
    length = int.from_bytes(data[:8], "little")
    assert length % 8 == 0
    contiguous = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    assert len(data) - length == len(plain := save(contiguous)) - int.from_bytes(plain[:8], "little")
