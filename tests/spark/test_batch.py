"""A batch DataFrame: the models and the audit of one machine, for any number of partitions."""

import numpy as np
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: make test-all installs it")

import fleets

from holdfast.io.sources import open_source, pieces
from holdfast.runs.config import Settings
from holdfast.runs.files import RunError
from holdfast.runs.model import read_model
from holdfast.spark import learn, predict
from holdfast.vectors import values_of


def learned(spark, path, partitions, **settings):
    """The states of all models, and the audit, of the rows in a file."""
    df = spark.read.parquet(str(path)).repartition(3)
    found = learn(df, **fleets.COLUMNS, partitions=partitions, verbose=False, **settings)
    audit = found.audit.toArrow().to_pylist()
    models = found.models.toArrow()
    found.unpersist()
    return models, sorted((row["at"], *(str(row[name]) for name in fleets.AUDIT)) for row in audit)


@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_models_and_audit_are_those_of_one_machine(spark, tmp_path, partitions):
    run = fleets.one_machine(fleets.fleet_rows(), tmp_path)
    models, audit = learned(spark, tmp_path / "rows.parquet", partitions)
    assert fleets.states_of(models) == fleets.states(run)
    assert audit == fleets.audit_of(run)
    weights = dict(zip(models["key"].to_pylist(), models["weights"].to_pylist(), strict=True))
    for i, key in enumerate(run.games.keys):
        known = values_of(run.player.current_weights(run.games._state((i, 0))))[:3]
        assert np.allclose(weights[key], known, rtol=1e-12, atol=0.0)


@pytest.mark.parametrize("settings", [{"delay": 7}, {"learner": "adagrad"}], ids=str)
def test_settings_mean_what_they_mean_on_one_machine(spark, tmp_path, settings):
    run = fleets.one_machine(fleets.fleet_rows(), tmp_path, **settings)
    assert run.player == Settings(target="y", key="k", **settings).player(True)
    models, audit = learned(spark, tmp_path / "rows.parquet", 3, **settings)
    assert fleets.states_of(models) == fleets.states(run)
    assert audit == fleets.audit_of(run)


@pytest.mark.exhaustive
def test_models_and_audit_of_many_rows_are_those_of_one_machine(spark, tmp_path):
    run = fleets.one_machine(fleets.fleet_rows(200_000, 1_000), tmp_path)
    expected = fleets.states(run), fleets.audit_of(run)
    for partitions in (1, 2, 7):
        models, audit = learned(spark, tmp_path / "rows.parquet", partitions)
        assert (fleets.states_of(models), audit) == expected


def test_a_doubled_row_is_learned_from_once(spark, tmp_path):
    table = fleets.fleet_rows(100, 4)
    pq.write_table(table, tmp_path / "rows.parquet")
    once = spark.read.parquet(str(tmp_path / "rows.parquet"))
    options = fleets.COLUMNS | {"verbose": False, "sample": once}
    found = learn(once.union(once.limit(30)), **options)
    assert fleets.states_of(found.models.toArrow()) == fleets.states_of(
        learn(once, **options).models.toArrow()
    )
    assert found.audit.where("reason = 'late'").count() == 30
    found.unpersist()


def test_rows_are_taken_back_by_learning_their_keys_again(spark, tmp_path):
    """The recipe of docs/spark.md."""
    pq.write_table(fleets.fleet_rows(200, 5), tmp_path / "rows.parquet")
    df = spark.read.parquet(str(tmp_path / "rows.parquet"))
    options = fleets.COLUMNS | {"verbose": False, "sample": df}
    wrong = df.where("t % 10 = 3 and t > 50").orderBy("t").limit(2).select("k", "t")
    keys = wrong.select("k").distinct()
    rest = df.join(keys, "k", "left_semi").join(wrong, ["k", "t"], "left_anti")
    learned, again = learn(df, **options), learn(rest, **options)
    others = learned.models.join(keys, learned.models.key == keys.k, "left_anti")
    path = str(tmp_path / "models")
    others.unionByName(again.models).write.parquet(path)
    clean = learn(df.join(wrong, ["k", "t"], "left_anti"), **options)
    found = spark.read.parquet(path)
    assert fleets.states_of(found.toArrow()) == fleets.states_of(clean.models.toArrow())
    assert fleets.states_of(found.toArrow()) != fleets.states_of(learned.models.toArrow())
    answers = [predict(models, df).orderBy("t").toArrow().to_pydict() for models in (found, clean.models)]
    assert repr(answers[0]) == repr(answers[1])  # some cells are NaN, which equals nothing
    for each in (learned, again, clean):
        each.unpersist()


def test_predictions_are_those_of_the_command_line_also_after_a_round_trip(spark, tmp_path):
    run = fleets.one_machine(fleets.fleet_rows(), tmp_path)
    model = read_model(run.folder)
    source = open_source(str(tmp_path / "rows.parquet"))
    expected = {}
    for piece in pieces(source, source.blocks(), model.layout, None, model.key):
        places = [model.keys.index(key) for key in piece.keys.to_pylist()]
        answers = model.answers(model.outcomes(piece.features, np.array(places)))
        expected |= dict(zip((piece.rows - 1).tolist(), answers.tolist(), strict=True))
    df = spark.read.parquet(str(tmp_path / "rows.parquet"))
    learn(df, **fleets.COLUMNS, verbose=False).models.write.parquet(str(tmp_path / "models"))
    new = spark.createDataFrame(
        [("new", -1, 1.0, 1.0, 1.0)], "k string, t long, a double, b double, c double"
    )
    found = predict(spark.read.parquet(str(tmp_path / "models")), df.drop("y").union(new)).toArrow()
    expected[-1] = None  # no model
    assert dict(zip(found["t"].to_pylist(), found["prediction"].to_pylist(), strict=True)) == expected


def test_what_is_no_table_of_models_is_refused(spark):
    with pytest.raises(RunError, match=r"these are no models of .* there is no column 'key'"):
        predict(spark.range(3), spark.range(3))
