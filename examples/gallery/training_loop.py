"""A training loop with a bad batch

A small network learns to read digits. At step 100 one image of the batch has pixels a million times too
bright, and at step 200 one is NaN. Both have a wrong label. The bright image takes the network back to
guessing, and the NaN ends the run. `clip_grad_norm_` survives the first and not the second: NaN cannot be
clipped. `guard` skips both steps.

Result: the test accuracy after 300 steps is 8 % without protection, 8 % with clipping and 95 % with
`guard`.

Data: Optical Recognition of Handwritten Digits, Alpaydin and Kaynak (1998), UCI, CC BY 4.0; comes with
scikit-learn. The bad images are ours. Needs `pip install 'holdfast[torch]'`.
"""

import torch
from common import name_lines, picture
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

from holdfast.pages.palette import BLUE, INK, RED
from holdfast.torch import guard

split = train_test_split(*load_digits(return_X_y=True), random_state=0)
X, X_test, y, y_test = (torch.tensor(part, dtype=torch.get_default_dtype()) for part in split)
y, y_test = y.long(), y_test.long()
BAD = {100: 1e6, 200: float("nan")}  # the brightness of one image in these steps


def train(guarded=False, clipped=False):
    """The accuracy on the test images after each step, and the optimizer."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    if guarded:
        optimizer = guard(optimizer, outliers=0.02)  # the one line
    accuracies = []
    for step in range(300):
        rows = torch.randint(len(y), (64,))
        images, labels = X[rows] / 16.0, y[rows]
        if step in BAD:
            images[0] *= BAD[step]
            labels[0] = (labels[0] + 1) % 10
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images), labels).backward()
        if clipped:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        with torch.no_grad():
            accuracies.append(100.0 * (model(X_test / 16.0).argmax(1) == y_test).float().mean().item())
    return accuracies, optimizer


plain, _ = train()
clipped, _ = train(clipped=True)
guarded, optimizer = train(guarded=True)
for name, accuracies in (("no protection", plain), ("clip_grad_norm_", clipped), ("guard", guarded)):
    steps = "   ".join(f"{accuracies[step]:3.0f} % at {step + 1}" for step in (99, 101, 199, 299))
    print(f"{name:16} {steps}")
audit = optimizer.holdfast.audit()
print(
    "skipped:", ", ".join(f"{step} ({why})" for step, why in zip(audit["step"], audit["reason"], strict=True))
)

with picture() as axes:
    for name, color, accuracies in (
        ("none", RED, plain),
        ("clipping", INK, clipped),
        ("guard", BLUE, guarded),
    ):
        axes.plot(accuracies, color=color, lw=2.5, label=name)
    axes.set(xlim=(0, 300), ylim=(0, 105), xlabel="step", ylabel="%")
    axes.set_title("Accuracy on test images: one huge image at step 100, one NaN at step 200")
    name_lines(axes)
