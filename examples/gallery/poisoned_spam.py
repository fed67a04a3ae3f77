"""A poisoned spam filter

A mail filter learns from mails as users label them. One mail in fifty comes from an attacker: every count
in it is 1,000 times too large, and its label is wrong. The usual pipeline, a running scaler and SGD, does
not survive this. The scaler takes the huge counts for normal ones, and SGD learns the wrong labels.

Result: SGD has 12 % of the honest mails wrong without the attack, and 52 % with it: as bad as a coin.
`RobustClassifier` has 8 % wrong, with and without it.

Data: Spambase, Hopkins and others (1999), UCI Machine Learning Repository, CC BY 4.0. The attack is ours.
"""

import numpy as np
from common import ScaledSGD, name_lines, picture, predictions, running_mean, table
from sklearn.linear_model import SGDClassifier

from holdfast.pages.palette import BLUE, GREEN, INK, RED
from holdfast.sklearn import RobustClassifier

mails = table("spambase")
X, y = mails[:, :-1], mails[:, -1]
attack = np.random.default_rng(0).random(len(y)) < 0.02
attack[:50] = False  # the first batch is honest
poisoned = np.where(attack[:, None], 1000.0 * X, X), np.where(attack, -y, y)


def mistakes(model, X, y):
    """Whether each honest mail was predicted wrongly; mails come in batches of 50."""
    wrong = predictions(model, X, y, batch=50, classes=[-1, 1]) != y[50:]
    return wrong[~attack[50:]]


def sgd():
    return ScaledSGD(SGDClassifier(random_state=0))


def robust():
    return RobustClassifier(learner="adagrad")  # faster than the default learner


runs = {
    "SGD": (RED, "-", mistakes(sgd(), *poisoned)),
    "SGD, no attack": (INK, "--", mistakes(sgd(), X, y)),
    "robust": (BLUE, "-", mistakes(robust(), *poisoned)),
    "robust, no attack": (GREEN, "--", mistakes(robust(), X, y)),
}
for name, (_, _, wrong) in runs.items():
    print(f"{name:18} {100 * wrong.mean():3.0f} % of {len(wrong):,} honest mails wrong")

with picture() as axes:
    for name, (color, style, wrong) in runs.items():
        axes.plot(*running_mean(100.0 * wrong, first=200), style, color=color, label=name, lw=2.5)
    axes.set(ylim=(0, 60), xlim=(0, len(wrong)), xlabel="honest mails", ylabel="%")
    axes.set_title("Mistakes so far on honest mails, while 2 % of the mails are an attack")
    name_lines(axes)
