"""The callback guards a Lightning module, before its clipping, and goes on from a checkpoint."""

import warnings

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-all installs it")
pl = pytest.importorskip("lightning.pytorch", reason="Lightning is not installed: make test-all installs it")

from holdfast.torch import HoldfastCallback  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
BAD = {6, 13}


class Line(pl.LightningModule):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layer = torch.nn.Linear(3, 1)

    def training_step(self, batch, index):
        x, y = batch
        return torch.nn.functional.mse_loss(self.layer(x), y)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=0.01)


def batches():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(20, 8, 3, generator=generator)
    y = x.sum(2, keepdim=True)
    for i in BAD:
        y[i] *= 1e6
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=None)


def fit(folder, epochs, checkpoint=None, clip=None):
    module, callback = Line(), HoldfastCallback(outliers=2, window=30)
    trainer = pl.Trainer(
        max_epochs=epochs,
        accelerator="cpu",
        callbacks=[callback],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        gradient_clip_val=clip,
        log_every_n_steps=1,
        default_root_dir=folder,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer.fit(module, batches(), ckpt_path=checkpoint, **({"weights_only": True} if checkpoint else {}))
    return module, trainer


def skipped(trainer):
    return trainer.optimizers[0].holdfast.audit()["step"]


@pytest.mark.parametrize("clip", [None, 0.5])
def test_bad_batches_are_skipped_also_if_gradients_are_clipped(tmp_path, clip):
    module, trainer = fit(tmp_path, 1, clip=clip)
    assert set(skipped(trainer)) >= BAD
    assert len(skipped(trainer)) <= 5
    assert trainer.callback_metrics["holdfast/skipped"] >= 3
    assert all(p.abs().max() < 10.0 for p in module.parameters())


def test_it_goes_on_from_a_checkpoint(tmp_path):
    whole, trainer = fit(tmp_path, 2)
    _, first = fit(tmp_path, 1)
    first.save_checkpoint(tmp_path / "half.ckpt")
    rest, second = fit(tmp_path, 2, checkpoint=tmp_path / "half.ckpt")
    assert skipped(second) == skipped(trainer)
    for a, b in zip(whole.parameters(), rest.parameters(), strict=True):
        assert torch.equal(a, b)
