"""Two processes take one decision, and the same as a single process does."""

import pathlib
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-all installs it")

from torch_guard import two_processes as both  # noqa: E402


@pytest.mark.parametrize("kind", both.KINDS)
def test_both_processes_decide_as_one_does(kind, tmp_path):
    """Also after both have ended in the middle and gone on from a checkpoint."""
    script = pathlib.Path(both.__file__)
    running = [
        subprocess.Popen(
            [sys.executable, script, str(rank), tmp_path, kind], stderr=subprocess.PIPE, text=True
        )
        for rank in (0, 1)
    ]
    errors = [one.communicate()[1] for one in running]
    assert [one.returncode for one in running] == [0, 0], errors
    first, second = (torch.load(tmp_path / str(rank)) for rank in (0, 1))
    for case, mine, other in zip(both.KINDS[kind], first, second, strict=True):
        net = both.model()
        optimizer = both.optimizer_for(net, case)
        both.train(net, optimizer, range(both.STEPS))
        weights, skipped = both.result(net, optimizer)
        assert mine[1] == other[1] == skipped
        assert {9, 14, 17} <= set(skipped)
        assert len(skipped) < 9
        for a, b, c in zip(mine[0], other[0], weights, strict=True):
            assert torch.equal(a, b)
            torch.testing.assert_close(a, c, rtol=1e-5, atol=1e-6)
