import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-all installs it")

from holdfast_lab.training.record_norms import TRAININGS, Recurrent, Text, Training, noise, record  # noqa: E402


def small(share, spoil=noise):
    sgd = lambda parameters: torch.optim.SGD(parameters, 0.1)  # noqa: E731
    return Training(lambda: Recurrent(8), sgd, 1.0, spoil, share, steps=12, rows=2, length=8)


@pytest.fixture
def text(tmp_path):
    (tmp_path / "a.md").write_bytes(bytes(range(32, 127)) * 4)
    return Text(tmp_path, "cpu")


def test_a_recording_says_which_batches_were_spoilt_and_is_the_same_each_time(text):
    rows = list(record(small(0.5), text, seed=1))
    assert [step for step, *_ in rows] == list(range(12))
    assert {bad for *_, bad in rows} == {0, 1}
    assert rows == list(record(small(0.5), text, seed=1))
    assert all(bad == 0 for *_, bad in record(small(0.0), text, seed=1))


@pytest.mark.parametrize("name", TRAININGS)
def test_spoilt_batches_keep_their_shape(text, name):
    random = torch.Generator().manual_seed(0)
    x, y = text.batch(3, 8, random)
    assert torch.equal(x[:, 1:], y[:, :-1])
    for found, piece in zip(TRAININGS[name].spoil(x, y, random), (x, y), strict=True):
        assert found.shape == piece.shape and found.dtype == piece.dtype
