"""The certificate of a run

A spam filter has learned from 4,601 mails, and 50 of them were an attack: 100 times too long, with a wrong
label. After any run, holdfast can bound its regret for every set of at most k bad mails at once, without
knowing which they are: the other mails cost at most so much more than with the best fixed weights. This is
a fact about the run.

Result: for k = 50 the certificate says at most 0.072 a mail. As the attack is ours, the true figure can be
computed: 0.026. For k = 30 the certificate says 1.194: then at least 20 of the attacks would have to be
honest mails.

Data: Spambase, Hopkins and others (1999), UCI Machine Learning Repository, CC BY 4.0. The attack is ours.
"""

import textwrap

import numpy as np
from common import picture, table

import holdfast as hf
from holdfast.pages.palette import BLUE, INK

mails = table("spambase")
X, y = np.log1p(mails[:, :-1]), mails[:, -1]
X /= np.linalg.norm(X, axis=1, keepdims=True)
attack = np.random.default_rng(0).choice(len(y), 50, replace=False)
X[attack] *= 100.0
y[attack] *= -1.0

player = hf.Certified(hf.Filtered(hf.OGD(hf.Ball(radius=5.0)), hf.TopK(50)), k=100)
record = hf.play(player, hf.Replay(X, y, hf.Logistic()), compiled=False)
budgets = (0, 10, 20, 30, 40, 45, 50, 60, 70, 80, 90, 100)
bounds = [record.certificate(k).bound / len(y) for k in budgets]

honest = np.ones(len(y), bool)
honest[attack] = False
regret = hf.robust_regret(record, honest) / len(y)  # against the best weights, which cvxpy finds
print(f"{record.rounds:,} mails, {record.skipped_count} skipped; the attack is in {len(attack)}")
for k, bound in zip(budgets, bounds, strict=True):
    print(f"k = {k:3}: at most {bound:.3f} a mail more than the best fixed weights")
print(f"the true figure on the {honest.sum():,} honest mails: {regret:.3f}")
print(textwrap.fill(str(record.certificate(50)), 100))

with picture() as axes:
    axes.plot(budgets, bounds, "o-", color=BLUE, lw=2.5, label="certificate: at most")
    axes.axhline(regret, color=INK, ls="--", lw=2, label="the truth, with the 50 bad mails known")
    axes.set(yscale="log", xlabel="k: how many mails may be bad", xlim=(0, 100), ylim=(0.01, 10))
    axes.set_yticks(ticks := [0.01, 0.1, 1, 10], ticks)
    axes.minorticks_off()
    axes.set_title("Cost of a mail, beyond that of the best fixed weights")
    axes.legend(loc="upper right")
