"""One training run: digits of scikit-learn, a network of 2,410 weights, AdamW."""

import functools
from typing import NamedTuple

import torch

from holdfast_lab.training.scenarios import TrainingBatch

STEPS, SIZE = 400, 64


class Outcome(NamedTuple):
    """What became of a run."""

    loss: float  # on the digits for testing, at the end
    bad_taken: int  # bad steps that moved the weights
    bad: int
    largest_taken: float  # the largest gradient of these, over the largest good one before it
    good_lost: int  # good steps after the first 100 that did not move the weights
    good: int

    def words(self):
        """What went wrong, in a few words; empty if nothing did."""
        if not self.loss < 1e6:
            return "destroyed"
        if self.good_lost > self.good / 2:
            return "locked out"
        return f"took {self.bad_taken}, {self.largest_taken:.1g} ×" if self.bad_taken else ""

    def failed(self):
        """Whether the run was lost, or a bad gradient of more than twice the largest good one was used."""
        return not self.loss < 1e6 or self.good_lost > self.good / 2 or self.largest_taken > 2.0


@functools.cache
def digits():
    """Features and one row of ten numbers for each digit: for training, and for testing."""
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    x = torch.tensor(x / 16.0, dtype=torch.float32)
    y = torch.nn.functional.one_hot(torch.tensor(y), 10).to(torch.float32)
    return (x[:1400], y[:1400]), (x[1400:], y[1400:])


def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))


def train(make_rule, scenario=None, squared=False, steps=STEPS, scale=lambda step: 1.0):
    """Train with a rule through a scenario. `scale(step)` is a factor of all losses."""
    net = network()
    rule = make_rule(net)
    (x, y), test = digits()
    of = torch.nn.functional.mse_loss if squared else torch.nn.functional.cross_entropy
    generator = torch.Generator().manual_seed(0)
    bad = bad_taken = good = good_lost = 0
    largest_good = largest_taken = 0.0
    for step in range(steps):
        rows = torch.randint(len(x), (SIZE,), generator=generator)
        batch = TrainingBatch(x[rows], y[rows])
        if scenario is not None:
            batch = scenario(step, batch)
        net.zero_grad()
        (scale(step) * batch.factor * of(net(batch.x), batch.y)).backward()
        if batch.attack:
            _attack(net, rule)
        if not batch.bad:
            largest_good = max(largest_good, rule.norm())
        before = [p.detach().clone() for p in net.parameters()]
        rule.step()
        moved = any(not torch.equal(a, p) for a, p in zip(before, net.parameters(), strict=True))
        if batch.bad:
            bad, bad_taken = bad + 1, bad_taken + moved
            if moved:
                largest_taken = max(largest_taken, rule.norm() / largest_good)  # after the rule has clipped
        elif step >= 100:
            good, good_lost = good + 1, good_lost + (not moved)
    with torch.no_grad():
        loss = float(of(net(test[0]), test[1]))
    return Outcome(loss, bad_taken, bad, largest_taken, good_lost, good)


def _attack(net, rule):
    gradients = [p.grad for p in net.parameters()]
    norm = torch.nn.utils.get_total_norm(gradients)
    for g in gradients:
        g.mul_(-0.99 * rule.limit() / norm)
