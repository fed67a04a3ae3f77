"""Models of a fleet as a run folder: it predicts, and it can be resumed with other rows."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: make test-all installs it")

import fleets
from pyspark.sql.pandas.types import from_arrow_schema

from holdfast.cli.main import main
from holdfast.runs.files import RunError
from holdfast.runs.run import open_run
from holdfast.spark.models import from_run
from holdfast.spark.plan import plan_from_rows, settings_of
from holdfast.spark.playing import KeyedRun, keys_in
from holdfast.spark.storage import read_seed, write_run


def learned(table, **settings):
    """The plan, and a table with the models."""
    chosen = settings_of("k", "y", "t", None, None, None, settings)
    plan = plan_from_rows(table, from_arrow_schema(table.schema), chosen, "t", lambda text: None)
    run = KeyedRun(plan, False)
    run.play(table, keys_in(table, plan))
    return plan, pa.Table.from_batches(list(from_run(run)))


@pytest.mark.parametrize("labels", [False, True])
def test_the_folder_predicts_and_goes_on_with_other_rows(labels, tmp_path, capsys):
    table = fleets.labelled(fleets.fleet_rows(200, 5)) if labels else fleets.fleet_rows(200, 5)
    plan, models = learned(table.slice(0, 120))
    write_run(plan, models, tmp_path / "fleet.run")
    pq.write_table(table.slice(120, 80), tmp_path / "more.parquet")
    assert main(["predict", str(tmp_path / "fleet.run"), str(tmp_path / "more.parquet"), "--quiet"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 81
    for command in ("verify", "inspect", "audit"):
        assert main([command, str(tmp_path / "fleet.run")]) == 0
    more = ["learn", str(tmp_path / "more.parquet"), "--into", str(tmp_path / "fleet.run"), "--quiet"]
    assert main(more) == 0
    whole = fleets.one_machine(table, tmp_path)
    assert fleets.states(open_run(tmp_path / "fleet.run")) == fleets.states(whole)
    assert main(["verify", str(tmp_path / "fleet.run")]) == 0


def test_a_run_with_other_settings_cannot_begin_a_fleet(tmp_path):
    table = fleets.fleet_rows(100, 3)
    fleets.one_machine(table, tmp_path)
    with pytest.raises(RunError, match="was learned with target 'y', and the fleet has 'a'"):
        read_seed(tmp_path / "one.run", settings_of("k", "a", "t", None, None, None, {}), "t")
    with pytest.raises(RunError, match="was learned with learner='auto': give the fleet the same"):
        read_seed(
            tmp_path / "one.run", settings_of("k", "y", "t", None, None, None, {"learner": "ogd:1"}), "t"
        )


def test_models_of_no_key_are_not_written(tmp_path):
    plan, models = learned(fleets.fleet_rows(50, 2))
    with pytest.raises(RunError, match="there are no models to write"):
        write_run(plan, models.slice(0, 0), tmp_path / "fleet.run")
