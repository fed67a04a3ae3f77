"""What cannot be learned from ends in one sentence, before anything runs."""

import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: make test-all installs it")

import fleets
from pyspark.sql.types import DoubleType, LongType, StringType, StructType

from holdfast.spark.plan import plan_from_rows, plan_from_schema, read_plan, settings_of

SCHEMA = (
    StructType().add("k", StringType()).add("t", LongType()).add("a", DoubleType()).add("y", DoubleType())
)


def plan(schema=SCHEMA, key="k", target="y", order="t", features=None, drop=None, labels=None, **others):
    settings = settings_of(key, target, order, features, drop, labels, others)
    return plan_from_schema(schema, settings, order)


def test_numbers_need_no_sample_and_the_plan_is_read_back_from_json():
    found = plan(outliers=0.01)
    assert [column.name for column in found.layout.columns] == ["a"]
    assert found.target.regression and found.settings.outliers == "0.01"
    assert read_plan(found.to_text()) == found


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"target": "z"}, "the DataFrame has no column 'z'; it has k, t, a, y"),
        ({"order": "z"}, "the DataFrame has no column 'z'"),
        ({"key": "a"}, "column 'a': double cannot be a key; cast it to string"),
        ({"order": "a"}, "column 'a': double cannot be an order; whole numbers, dates and timestamps can"),
        ({"key": "t"}, "target, key and order must be three columns"),
        ({"features": ["t"]}, "gives the order, so it cannot be a feature"),
        ({"drop": ["a"]}, "no column is left to predict from"),
        ({"more": ("w", StringType())}, "column 'w': the encoding of string depends on its values"),
        ({"target": "t", "order": "n", "more": ("n", LongType())}, "name all labels with labels="),
        ({"missing": "impute"}, "missing='impute' needs the medians of some rows"),
        ({"outliers": "many"}, 'outliers must be "auto", a share'),
        ({"loss": "hinge"}, "loss='hinge' is for labels"),
    ],
)
def test_each_mistake_has_its_sentence(changes, sentence):
    schema = StructType(list(SCHEMA.fields))
    schema = schema.add(*changes["more"]) if "more" in changes else schema
    with pytest.raises(ValueError, match=sentence):
        plan(schema, **{name: value for name, value in changes.items() if name != "more"})


def test_a_setting_that_does_not_exist_is_named():
    with pytest.raises(TypeError, match="there is no setting 'outlier'; there are delay, learner, "):
        plan(outlier=1)


def test_the_encoding_is_that_of_the_command_line(tmp_path):
    table = fleets.fleet_rows(300, 5).append_column("w", pa.array(["x", "y", "z"] * 100))
    from pyspark.sql.pandas.types import from_arrow_schema

    settings = settings_of("k", "y", "t", None, None, None, {})
    found = plan_from_rows(table, from_arrow_schema(table.schema), settings, "t", lambda text: None)
    run = fleets.one_machine(table, tmp_path)
    assert (found.layout, found.target, found.settings) == (run.layout, run.target, run.settings)


@pytest.mark.parametrize("text", ["{}", "[1", '{"format": "holdfast run 1"}', "null"])
def test_a_damaged_plan_is_refused_with_a_sentence(text):
    with pytest.raises(ValueError, match="the description of these models is damaged"):
        read_plan(text)
