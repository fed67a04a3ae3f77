"""The training loop of docs/start.md runs, and skips the step that the page names."""

import re
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
PAGE = (Path(__file__).parents[2] / "docs" / "start.md").read_text(encoding="utf-8")


def test_the_training_loop_skips_the_bad_step(capsys):
    (loop,) = [
        block for block in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL) if "torch" in block
    ]
    torch.manual_seed(0)
    exec(loop, {})
    assert capsys.readouterr().out == "[0, 1, 2, 3, 4, 5, 50]\n"
