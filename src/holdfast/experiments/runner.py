"""Measure the cases of an experiment on all cores, and remember what is done."""

import hashlib
import importlib
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
    """What an experiment measured: one dictionary a case, in the order of the cases."""

    name: str
    rows: list
    seconds: float


def experiment(name):
    """The module of an experiment: TITLE, RESULT, STATEMENT, cases, measure, draw and judge."""
    if name not in NAMES:
        raise ValueError(f"there is no experiment {name!r}: try one of {', '.join(NAMES)}")
    return importlib.import_module(f"holdfast.experiments.{name}")


def run(name, folder, quick=False, seed=0, jobs=-1, progress=lambda done, total: None):
    """Measure what is not yet on file in `folder`, in parallel, and return all of it.

    Each result is written as soon as it is there, so a run that was stopped goes on where it was. A case is
    known by its parameters and its seed: what is measured depends on nothing else. joblib spreads the cases
    over the cores, or over a cluster with `joblib.parallel_config(backend=...)`.
    """
    import joblib

    module, start = experiment(name), time.perf_counter()
    cases = [{**case, "seed": seed + case["seed"]} for case in module.cases(quick)]
    path = Path(folder) / f"{name}.jsonl"
    known = _known(path)
    todo = [case for case in cases if _key(case) not in known]
    progress(len(cases) - len(todo), len(cases))
    parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")
    with path.open("a") as file:
        for case, row in parallel(joblib.delayed(_measured)(name, case) for case in todo):
            known[_key(case)] = row
            file.write(json.dumps({"case": case, "row": row}) + "\n")
            file.flush()
            progress(len(known), len(cases))
    rows = [{**case, **known[_key(case)]} for case in cases]
    return Results(name, rows, time.perf_counter() - start)


def _measured(name, case):
    return case, {key: float(value) for key, value in experiment(name).measure(**case).items()}


def _known(path):
    """Results on file; a line that was cut off when a run was killed is measured again."""
    known = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            entry = json.loads(line)
            known[_key(entry["case"])] = entry["row"]
        except (json.JSONDecodeError, KeyError):
            continue
    return known


def _key(case):
    return hashlib.sha256(json.dumps(case, sort_keys=True).encode()).hexdigest()
