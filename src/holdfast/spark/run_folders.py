"""Models of a fleet as a run folder, and a run folder as the beginning of a fleet."""

import numpy as np

from holdfast.runs.checkpoint import CONFIG, CONFIG_FORMAT
from holdfast.runs.files import RunError, to_json
from holdfast.runs.folder import Folder
from holdfast.runs.run import Run, open_run
from holdfast.spark.models import page_of, plan_of
from holdfast.spark.orders import FIRST
from holdfast.spark.pages import Page
from holdfast.spark.plan import Plan
from holdfast.spark.playing import KeyedRun, load_games

_OF_LEARNER = ("loss", "outliers", "learner", "scale", "memory", "patience")


def to_run(models, folder):
    """Write a run folder with the models of a fleet, for `holdfast predict`, `inspect` and `learn --into`.

    The models are collected to the driver. The folder has no audit, and its metrics count the rows that were
    learned from. `keys.parquet` has all rows and the error of each key.

    Parameters
    ----------
    models : DataFrame
        From `learn` or `Fleet.models`.
    folder : path
        A new folder.
    """
    write_run(plan_of(models), models.toArrow(), folder)


def write_run(plan, table, folder):
    """Write a run folder with the models in a table of Arrow."""
    if not table.num_rows:
        raise RunError("there are no models to write")
    page = page_of(KeyedRun(plan), table)
    place = Folder(folder)
    place.create()
    try:
        run = Run(place, "spark", plan.settings, plan.layout, plan.target)
        load_games(run, page, folder)
        run.games.check()
        run.trace.rounds, run.finished = int(page.sums[:, 1].sum()), True  # kept: there is no audit
        place.write([(CONFIG, to_json(_config(run)))])
        run.save()
    finally:
        place.close()


def _config(run):
    parts = {name: getattr(run, name).to_json() for name in ("settings", "layout", "target")}
    begins = {"bytes": 0, "crc32": 0}  # of no source: any source can follow
    words = {"loss": repr(run.loss), "player": repr(run.player), "notes": []}
    return {"format": CONFIG_FORMAT, "source": "spark", "source_begins": begins} | parts | words


def read_seed(folder, settings, order):
    """The plan and the page of a run folder; raises if the run has other settings than the fleet."""
    run = open_run(folder)
    for name in ("key", "target"):
        if getattr(run.settings, name) != getattr(settings, name):
            raise RunError(
                f"{folder} was learned with {name} {getattr(run.settings, name)!r}, and the fleet has "
                f"{getattr(settings, name)!r}"
            )
    for name in _OF_LEARNER:
        if getattr(run.settings, name) != getattr(settings, name):
            raise RunError(
                f"{folder} was learned with {name}={getattr(run.settings, name)!r}: give the fleet the same"
            )
    if order in [column.name for column in run.layout.columns]:
        raise RunError(
            f"{folder} has learned from the column {order!r}: the order of a fleet is another column"
        )
    plan = Plan(settings, run.layout, run.target, order)
    run.games.check()
    counters = np.tile(np.array([[FIRST, 0, 0]]), (len(run.games.keys), 1))
    states = run.games.packed(np.arange(len(run.games.keys)))
    return plan, Page(list(run.games.keys), **states, counters=counters, sums=run.keys.sums)
