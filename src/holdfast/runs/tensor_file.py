"""A safetensors file as a list of buffers. `safetensors.numpy.save` would copy all numbers twice."""

import json

import numpy as np


def tensor_buffers(tensors, metadata):
    """The content of a file with these arrays of float64, in parts that follow each other."""
    arrays, header, end = [], {"__metadata__": metadata}, 0
    for name, array in sorted(tensors.items()):
        array = np.ascontiguousarray(array, "<f8").reshape(array.shape)
        arrays.append(array.reshape(-1).view(np.uint8).data)
        places = [end, end + array.nbytes]
        header[name] = {"dtype": "F64", "shape": list(array.shape), "data_offsets": places}
        end += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # so that the numbers are aligned
    return [len(text).to_bytes(8, "little") + text, *arrays]
