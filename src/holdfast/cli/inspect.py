"""holdfast inspect: what a run has learned."""

import json
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from holdfast.cli.arguments import add_json, add_run, describe
from holdfast.terminal import DONE, folded, listed, print_json, shown, tell, visible

if TYPE_CHECKING:
    from holdfast.runs.config import Settings
    from holdfast.runs.run import Run


def add(parser: ArgumentParser) -> None:
    describe(
        parser,
        run,
        "Show how a run was set up, which rows each source has, how many rounds were skipped, the\n"
        "error, the certificate, the ledger of rows that were taken back or released, and the weights\n"
        "of the model: how far one unit of the scale of a feature moves the prediction, the largest\n"
        "first. --json has all of it, and all weights.",
        [
            "holdfast inspect sensors.run",
            "holdfast inspect sensors.run --weights 3        # the three features that weigh most",
            "holdfast inspect sensors.run --json",
        ],
    )
    add_run(parser)
    weights = "how many features to show (default: %(default)s)"
    parser.add_argument("--weights", type=int, default=15, metavar="N", help=weights)
    add_json(parser)


def run(options: Namespace) -> int:
    from holdfast.cli.learn_summary import errors, learned_and_skipped, model_words
    from holdfast.runs.config import CONFIG
    from holdfast.runs.ledger import read_ledger
    from holdfast.runs.manifest import REPLAY
    from holdfast.runs.run import open_run

    found = open_run(options.run)
    ledger = read_ledger(found)
    config = json.loads(found.folder.read(CONFIG))
    if options.json:
        print_json(
            {
                "config": config,
                "sources": _sources(found),
                "metrics": found.metrics(),
                "certificate": found.certificate(),
                "ledger": [entry.to_json() for entry in ledger.entries],
                "weights": _weights(found),
            }
        )
        return DONE
    metrics = found.metrics()
    _tell("source", visible(config["source"], 80))
    for each in _sources(found) if len(found.sources) > 1 else ():
        _tell("rows", f"{each['first_row']:,} to {each['last_row']:,}: {visible(each['name'], 80)}")
    _tell("predicts", _predicts(found))
    _tell("from", _columns(found))
    _tell("model", model_words(found))
    _tell("settings", _changed(found.settings) or "the defaults")
    _tell("rows", learned_and_skipped(metrics))
    for words in errors(metrics, found.settings.delay):
        _tell("error", words)
    for words in metrics["warnings"]:
        _tell("warning", words)
    _tell("state", "finished" if metrics["finished"] else "not finished: go on with --resume")
    _tell("certificate", found.certificate()["words"])
    for number, when, what, why in ledger.table():
        _tell("ledger", visible(f"{number}  {when}  {what}{f' ({why})' if why else ''}", 400))
    if (found.folder.path / REPLAY).is_dir():
        _tell("ledger", f"a retraction was stopped: holdfast retract {options.run} --resume goes on")
    if found.trace.rounds and found.settings.key is None:
        for label, weights in _weights(found).items():
            tell(
                "",
                f"weights{f' of {visible(label, 40)}' if label else ''}: how far one unit of the scale "
                "of a feature moves",
                "the prediction",
            )
            for name, weight in sorted(weights.items(), key=lambda item: -abs(item[1]))[
                : max(options.weights, 0)
            ]:
                tell(f"  {shown(weight):>11}  {visible(name, 60)}")
    elif found.settings.key is not None:
        _tell("keys", f"{len(found.games.keys):,}")
    return DONE


def _tell(name: str, words: str) -> None:
    """Print a name and what there is to say of it, in lines of at most 80 columns."""
    tell(*folded(f"{name:12} {words}", 80, " " * 13))


def _predicts(found: "Run") -> str:
    target = found.target
    if target.regression:
        return f"{visible(target.name, 80)}, a number"
    return f"{visible(target.name, 80)}: {', '.join(visible(label, 20) for label in target.labels[:12])}"


def _columns(found: "Run") -> str:
    names = [visible(column.name, 40) or '""' for column in found.layout.columns]
    count = found.layout.feature_count()
    return f"{listed(names, 10)} ({count:,} feature{'s' if count != 1 else ''})"


def _sources(found: "Run") -> list[dict[str, Any]]:
    ends = [record.last_row for record in found.sources]
    starts = [1, *(end + 1 for end in ends)]
    return [
        {"name": record.name, "first_row": start, "last_row": record.last_row, "ended": record.ended}
        for record, start in zip(found.sources, starts, strict=False)
    ]


def _weights(found: "Run") -> dict[str, dict[str, float]]:
    """Weights by game and feature: how far one unit of the scale of the feature moves the prediction."""
    if found.settings.key is not None or not found.trace.rounds:
        return {}
    names = found.layout.features()
    effects = found.games.parameters().effects().tolist()
    return {
        label: dict(zip(names, own, strict=True))
        for label, own in zip(found.games.labels, effects, strict=True)
    }


def _changed(settings: "Settings") -> str:
    return ", ".join(
        f"{name.replace('_', ' ')} {','.join(value) if isinstance(value, tuple | list) else value}"
        for name, value in settings.changed().items()
        if name != "target"
    )
