"""holdfast inspect: what a run has learned."""

import json
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from holdfast.cli.arguments import add_json, add_run, describe
from holdfast.cli.exits import report_errors
from holdfast.terminal import DONE, print_json, tell, visible

if TYPE_CHECKING:
    from holdfast.runs.run import Run
    from holdfast.runs.settings import Settings


def add(parser: ArgumentParser) -> None:
    describe(
        parser,
        run,
        (
            "Show how a run was set up, which rows each source has, how many rounds were skipped, the\n"
            "error, the certificate, and the weights of the model: how far one unit of the scale of a\n"
            "feature moves the prediction, the largest first. --json has all of it, and all weights."
        ),
        [
            "holdfast inspect sensors.run",
            "holdfast inspect sensors.run --weights 3        # the three features that weigh most",
            "holdfast inspect sensors.run --json",
        ],
    )
    add_run(parser)
    parser.add_argument(
        "--weights",
        type=int,
        default=15,
        metavar="N",
        help="how many features to show (default: %(default)s)",
    )
    add_json(parser)


def run(options: Namespace) -> int:
    with report_errors():
        from holdfast.runs.config import CONFIG
        from holdfast.runs.run import open_run

        found = open_run(options.run)
        config = json.loads(found.folder.read(CONFIG))
        if options.json:
            print_json(
                {
                    "config": config,
                    "sources": _sources(found),
                    "metrics": found.metrics(),
                    "certificate": certificate(found),
                    "weights": _weights(found),
                }
            )
            return DONE
        for name in ("source", "player", "loss"):
            tell(f"{name:12} {config[name]}")
        tell(f"{'settings':12} {_changed(found.settings)}")
        for each in _sources(found) if len(found.sources) > 1 else ():
            tell(f"{'rows':12} {each['first_row']:,} to {each['last_row']:,}: {visible(each['name'], 80)}")
        metrics = found.metrics()
        state = "finished" if metrics["finished"] else "not finished: go on with --resume"
        warm = f", {metrics['warm_up']:,} in the warm-up" if metrics["warm_up"] else ""
        tell(f"{'rounds':12} {metrics['rounds']:,}, {metrics['skipped']:,} skipped{warm}; {state}")
        if metrics["error"] is not None:
            tell(f"{'error':12} {metrics['error']:.4g}, the {metrics['error_is']} on the rounds learned from")
        tell(f"{'certificate':12} {certificate(found)['words']}")
        if found.trace.rounds and found.settings.key is None:
            for label, weights in _weights(found).items():
                tell(
                    "",
                    f"weights{f' of {visible(label, 80)}' if label else ''}: how far one unit of the scale "
                    "of the feature moves the prediction",
                )
                for name, weight in sorted(weights.items(), key=lambda item: -abs(item[1]))[
                    : max(options.weights, 0)
                ]:
                    tell(f"  {weight:>11.4g}  {visible(name, 80)}")
        elif found.settings.key is not None:
            tell(f"{'keys':12} {len(found.games.keys):,}")
    return DONE


def certificate(found: "Run") -> dict[str, Any]:
    return (
        found.certificate()
        if found.trace.rounds
        else {"proves": None, "words": "There is no certificate: no rounds yet."}
    )


def _sources(found: "Run") -> list[dict[str, Any]]:
    """The sources in order, each with the numbers of its rows."""
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
    effects = found.parameters().effects().tolist()
    return {
        label: dict(zip(names, own, strict=True))
        for label, own in zip(found.games.labels, effects, strict=True)
    }


def _changed(settings: "Settings") -> str:
    default = type(settings)(settings.target)
    changed = [
        f"{name} {value}"
        for name, value in settings.to_json().items()
        if value != getattr(default, name) or name == "target"
    ]
    return ", ".join(changed)
