"""Measure the cases of an experiment on all cores, and store each result."""

import contextlib
import hashlib
import importlib
import inspect
import json
import time
from pathlib import Path
from typing import NamedTuple

NAMES = (
    "outlier_size",
    "outlier_count",
    "convex_rate",
    "strongly_convex_rate",
    "lower_bounds",
    "huber",
    "quantile",
    "features",
    "online_to_batch",
    "certificates",
)


class Results(NamedTuple):
    """The measurements of an experiment: one dictionary for each case, in the order of the cases."""

    name: str
    rows: list
    seconds: float


def experiment(name):
    """The module of an experiment: TITLE, RESULT, STATEMENT, cases, measure, draw and judge."""
    if name not in NAMES:
        raise ValueError(f"there is no experiment {name!r}: try one of {', '.join(NAMES)}")
    return importlib.import_module(f"holdfast_lab.reproduce.{name}")


def run(name, folder, quick=False, seed=0, jobs=-1, progress=lambda done, total: None):
    """Measure in parallel the cases that are not yet stored in `folder`, and return all results.

    Each result is stored at once, so that a run that was stopped can continue. Parameters, seed and the
    source code of the experiment identify a case. joblib distributes the cases over the cores, or over a
    cluster with `joblib.parallel_config(backend=...)`.
    """
    import joblib

    module, start = experiment(name), time.perf_counter()
    cases = [{**case, "seed": seed + case["seed"]} for case in module.cases(quick)]
    path, source = Path(folder) / f"{name}.jsonl", _digest(inspect.getsource(module))
    known = {_digest(entry["case"]): entry["row"] for entry in _entries(path) if entry["source"] == source}
    todo = [case for case in cases if _digest(case) not in known]
    progress(len(cases) - len(todo), len(cases))
    parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")
    with path.open("a") as file:
        file.write("\n" if path.stat().st_size else "")  # ends a line that was cut off, if there is one
        for case, row in parallel(joblib.delayed(_measured)(name, case) for case in todo):
            known[_digest(case)] = row
            file.write(json.dumps({"case": case, "row": row, "source": source}) + "\n")
            file.flush()
            progress(sum(_digest(case) in known for case in cases), len(cases))
    rows = [{**case, **known[_digest(case)]} for case in cases]
    return Results(name, rows, time.perf_counter() - start)


def _measured(name, case):
    return case, {key: float(value) for key, value in experiment(name).measure(**case).items()}


def _entries(path):
    """The stored results, without a line that was cut off when a run was killed."""
    for line in path.read_text().splitlines() if path.exists() else ():
        with contextlib.suppress(json.JSONDecodeError):
            yield json.loads(line)


def _digest(thing):
    return hashlib.sha256(json.dumps(thing, sort_keys=True).encode()).hexdigest()
