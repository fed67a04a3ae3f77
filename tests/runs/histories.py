"""A run and its history, and the run that it must equal: one that never saw the rows that were taken back."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
from runs.small import called

from holdfast.runs.checkpoint import _tensors
from holdfast.runs.run import open_run

PLAYERS = {
    "default": ("--target", "y"),
    "delayed": ("--target", "y", "--delay", "7"),
    "adagrad": ("--target", "y", "--learner", "adagrad"),
    "certified": ("--target", "y", "--no-scale", "--outliers", "8", "--learner", "ogd:5"),
    "labels": ("--target", "who"),
    "keys": ("--target", "y", "--key", "who"),
    "own keys": ("--target", "y", "--key", "who", "--no-prior"),
    "old keys": ("--target", "y", "--key", "who", "--no-prior", "--evict", "200"),
}
WITH_WHO = ("labels", "keys", "own keys", "old keys")  # players that do not drop this column


def rows_of(count, seed=3, late=False):
    """Lines of a CSV file; some rows are wild. With `late`, every 15 rows other keys begin."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 2)).round(3)
    y = (X @ [1.0, -2.0] + 0.1 * rng.normal(size=count)).round(3)
    X[5::11] *= 1000.0
    y[7::13] += 500.0
    who = np.array(["p", "q", "r"])[rng.integers(0, 3, count)]
    if late:
        who = [f"{name}{i // 15 if i % 2 else ''}" for i, name in enumerate(who)]
    return [f"{a},{b},{w},{t}\n" for a, b, w, t in zip(*X.T, who, y, strict=True)]


HEADER = "a,b,who,y\n"


class History:
    """A run in a folder, whose source grows, with what was done to it."""

    def __init__(self, folder, player, rows, checkpoint="30"):
        self.folder, self.args, self.lines = folder, (*PLAYERS[player], "--checkpoint", checkpoint), rows
        if player not in WITH_WHO:
            self.args += ("--drop", "who")
        folder.mkdir(parents=True, exist_ok=True)
        self.run, self.source, self.count = folder / "run", folder / "rows.csv", 0
        self.steps = []  # ("learn", to), ("release", rows, after)

    def learn(self, count):
        """Learn from the source once it has so many rows."""
        self.count = count
        self.source.write_text(HEADER + "".join(self.lines[:count]))
        self.call("learn", self.source, *self.args, "--to", self.run, "--resume", "--quiet")

    def call(self, *args):
        status, out, said = called(*args)
        assert status == 0, said
        return out

    def retract(self, rows, *more):
        self.call("retract", self.run, "--rows", ",".join(map(str, rows)), "--quiet", *more)

    def restore(self, number):
        self.call("restore", self.run, number, "--quiet")

    def skipped(self):
        """The rows that were skipped, as a table."""
        file = self.folder / "quarantine.csv"
        self.call("audit", self.run, "--skipped", file)
        return pacsv.read_csv(file)

    def release(self, table, rows):
        """Release these rows of a quarantine table; return those that were."""
        file = self.folder / "released.csv"
        chosen = table.filter(pa.array(np.isin(table.column("skipped_row").to_numpy(), rows)))
        pacsv.write_csv(chosen, file)
        return json.loads(self.call("release", self.run, file, "--json"))["released"]


def digest(run, numbers=None):
    """All that a run has learned and recorded. `numbers` are those of its rows in another source."""
    found = open_run(run)
    tensors = {name: array.tobytes() for name, array in _tensors(found).items() if name != "keys.parts"}
    last = np.frombuffer(tensors["skips.last"]).astype(int).tolist()  # rows of the source, 0 for none
    tensors["skips.last"] = [int(numbers[row - 1]) if row and numbers is not None else row for row in last]
    if found.upkeep is not None:
        tensors["states"] = [
            found.games._states.row(slot).tobytes() for slot in range(len(found.games._states))
        ]
    tables = {}
    for name in ("audit", "sizes", "forecasts", "released"):
        parts = list(found.read(name))
        table = pa.concat_tables(parts).to_pydict() if parts else {}
        if numbers is not None and table:
            table["row"] = [int(numbers[row - 1]) for row in table["row"]]
        tables[name] = repr({column: values for column, values in table.items() if column != "file"})
    metrics = (run / "metrics.json").read_text() if (run / "metrics.json").exists() else ""
    model = (run / "model.safetensors").read_bytes()
    return tensors | tables | {"metrics": metrics, "model": model, "counts": found.log.counts}


def assert_same(run, other, numbers=None):
    one, two = digest(run), digest(other, numbers)
    assert {name for name in one if one[name] != two[name]} == set()
