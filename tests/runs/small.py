"""Small runs to damage: a source, commands in this process, and files with changed content."""

import contextlib
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from holdfast.cli.main import main
from holdfast.runs.folder import Folder
from holdfast.runs.manifest import FILE, Digest

ROWS = 60


def write_source(path, rows=ROWS):
    """Two features, a target that depends on them, a key, labels, and some wild rows."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(rows, 2)).round(3)
    y = (X @ [1.0, -2.0] + 0.1 * rng.normal(size=rows)).round(3)
    X[::11] *= 1000.0
    who = np.array(["p", "q", "r"])[np.arange(rows) % 3]
    pacsv.write_csv(pa.table({"a": X[:, 0], "b": X[:, 1], "who": who, "y": y}), path)
    return path


def called(*args):
    """Exit status, standard output and standard error of a command in this process."""
    out, err = io.TextIOWrapper(io.BytesIO(), write_through=True), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(list(map(str, args)))
    return status, out.buffer.getvalue().decode(), err.getvalue()


def learned(source, to, *args):
    status, _, said = called("learn", source, "--target", "y", "--drop", "who", "--to", to, "--quiet", *args)
    assert status == 0, said
    return to


def refused(answer):
    """Whether a command ended with a one-sentence error; fails if it ended in another way."""
    status, _, said = answer
    assert "Traceback" not in said
    assert status in (0, 2), said
    if status == 2:
        assert said.startswith("holdfast: ") and said.count("\n") == 1, said
    return status == 2


def rewrite(run, name, data):
    """Replace a file of a run, and its checksum in the manifest."""
    folder = Folder(run)
    folder.load()
    (run / name).write_bytes(data)
    folder.manifest = folder.manifest.settled({name: Digest.of(data)})
    (run / FILE).write_bytes(folder.manifest.to_bytes())


def rewrite_tensors(run, name, change):
    """Change the tensors or the header of a file."""
    from safetensors.numpy import load, save

    data = (run / name).read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    about, tensors = json.loads(header["__metadata__"]["holdfast"]), load(data)
    change(about, tensors)
    rewrite(run, name, save(tensors, metadata={"holdfast": json.dumps(about)}))
