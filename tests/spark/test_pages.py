"""Bytes as text, and back."""

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: make test-all installs it")

from holdfast.runs.files import RunError
from holdfast.spark.pages import from_text, to_text

STATE = np.arange(1_000).tobytes()


@pytest.mark.parametrize("data", [b"", b"\x00", STATE], ids=len)
def test_the_bytes_come_back(data):
    text = to_text(data)
    assert text.isascii()
    assert from_text(text, "here") == data


def test_the_text_of_a_state_is_shorter_than_its_bytes():
    assert len(to_text(STATE)) < len(STATE)


@pytest.mark.parametrize("text", [STATE, "no text of ours", "YWJj", to_text(STATE)[:-8]])
def test_anything_else_ends_in_a_sentence(text):
    with pytest.raises(RunError, match="here: these states are damaged, or were written by another version"):
        from_text(text, "here")
