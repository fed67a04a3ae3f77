"""`python -m holdfast_lab.training`: every rule in every scenario, as a table in Markdown."""

import torch

from holdfast.terminal import tell
from holdfast_lab.training.rules import RULES, Nothing
from holdfast_lab.training.run import train
from holdfast_lab.training.scenarios import SCENARIOS


def cell(outcome):
    words = f" ({outcome.words()})" if outcome.words() else ""
    text = f"{outcome.loss:.2g}{words}"
    return f"**{text}**" if outcome.failed() else text


def row(title, cells):
    tell(f"| {title} | " + " | ".join(cells) + " |")


def main():
    torch.set_num_threads(1)
    for letter, scenario in SCENARIOS.items():
        tell(f"- {letter}: {' '.join((scenario.__doc__ or '').split())}")
    tell("")
    row("", SCENARIOS)
    tell("|---|" + "---|" * len(SCENARIOS))
    clean = {squared: train(Nothing, squared=squared) for squared in (False, True)}
    row("no bad batches", [cell(clean[letter == "H"]) for letter in SCENARIOS])
    for rule in RULES:
        row(
            rule.title, [cell(train(rule, scenario, letter == "H")) for letter, scenario in SCENARIOS.items()]
        )


if __name__ == "__main__":
    main()
