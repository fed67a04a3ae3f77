"""The example runs, here with fewer rows."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: make test-all installs it")

EXAMPLE = Path(__file__).parents[2] / "examples" / "spark_fleet.py"


def test_batch_and_stream_of_the_example_have_the_same_bits(spark, tmp_path, capsys):
    spec = importlib.util.spec_from_file_location("spark_fleet", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    (tmp_path / "rows").mkdir()
    example.write_rows(tmp_path / "rows", files=2, rows=200, machines=4)
    example.show(spark, tmp_path, tmp_path / "rows")
    lines = capsys.readouterr().out.splitlines()
    assert "stream: 4 models, the same bits as the batch: True" in lines
    assert "late or doubled rows: 0" in lines
    assert lines[-1].startswith("the run folder has certificate.json checkpoint.safetensors config.json")
