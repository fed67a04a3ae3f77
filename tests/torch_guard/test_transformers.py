"""The recipe for the Trainer of Hugging Face works."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-all installs it")
transformers = pytest.importorskip(
    "transformers", reason="transformers is not installed: make test-all installs it"
)
pytest.importorskip("accelerate", reason="accelerate is not installed: make test-all installs it")

from holdfast.torch import guard  # noqa: E402

BAD = {6, 13}


class Line(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layer = torch.nn.Linear(3, 1)

    def forward(self, x, labels):
        return {"loss": torch.nn.functional.mse_loss(self.layer(x), labels)}


class GuardedTrainer(transformers.Trainer):
    def create_optimizer(self, *args, **kwargs):
        optimizer = super().create_optimizer(*args, **kwargs)
        return optimizer if hasattr(optimizer, "holdfast") else guard(optimizer, outliers=2, window=30)

    def _get_train_sampler(self, *args):
        return torch.utils.data.SequentialSampler(self.train_dataset)


def rows():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(20, 8, 3, generator=generator)
    scale = [1e6 if i in BAD else 1.0 for i in range(20)]
    return [{"x": a, "labels": s * a.sum(0, keepdim=True)} for b, s in zip(x, scale, strict=True) for a in b]


@pytest.mark.filterwarnings("ignore")
def test_bad_batches_are_skipped(tmp_path):
    settings = transformers.TrainingArguments(
        output_dir=str(tmp_path),
        max_grad_norm=0.0,
        per_device_train_batch_size=8,
        num_train_epochs=1,
        use_cpu=True,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
        remove_unused_columns=False,
    )
    trainer = GuardedTrainer(model=Line(), args=settings, train_dataset=rows())
    trainer.train()
    skipped = getattr(trainer.optimizer, "optimizer", trainer.optimizer).holdfast.audit()["step"]
    assert set(skipped) >= BAD
    assert len(skipped) <= 5
    assert trainer.model.layer.weight.abs().max() < 10.0
