"""holdfast audit: what a run skipped, and why; and what another budget would have."""

from holdfast.cli.exits import mistakes_said
from holdfast.cli.options import add_json, add_run, describe
from holdfast.terminal import DONE, quoted, show, tell, visible

REASONS = {
    "features": "the features are too far from those of other rows",
    "target": "the target is too far from those of other rows",
    "gradient": "the mistake on it is larger than a credible row makes",
    "not finite": "something in it is infinite",
    "missing cell": "a cell is missing",
    "no target": "the target is missing",
    "unreadable": "the row cannot be read",
}


def add(parser):
    describe(
        parser,
        run,
        (
            "Count the skipped rounds of a run by reason, and show the worst rows: those that are the most\n"
            "times above their threshold. With --replay, ask what another budget would have skipped of the\n"
            "sizes that the run wrote down, without learning again. The whole audit is RUN/audit, in Parquet."
        ),
        [
            "holdfast audit sensors.run",
            "holdfast audit sensors.run --worst 50",
            "holdfast audit sensors.run --replay k=100        # at most 100 outliers",
            "holdfast audit sensors.run --replay share=2%     # at most 2 % of the rounds",
        ],
    )
    add_run(parser)
    parser.add_argument(
        "--worst", type=int, default=10, metavar="N", help="how many rows to show (default: %(default)s)"
    )
    parser.add_argument(
        "--replay",
        metavar="BUDGET",
        help="k=COUNT, share=SHARE, quantile=P, or what --outliers of learn takes: 50, 1%%, auto, none",
    )
    add_json(parser)


def run(options):
    with mistakes_said():
        from holdfast.runs.run import open_run

        found = open_run(options.run)
        if options.replay is not None:
            from holdfast.runs.replay import replayed

            answer = replayed(found, _budget(options.replay))
            if options.json:
                show(answer)
            else:
                tell(*_of_replay(answer))
            return DONE
        rows = worst_rows(found, options.worst)
        if options.json:
            show(found.metrics() | {"worst": rows})
        else:
            tell(*_of_counts(found), "", *_of_rows(rows))
    return DONE


def worst_rows(found, count):
    """The skipped rounds that are the most times above their threshold, as dictionaries."""
    import numpy as np

    from holdfast.runs.audit import MEASURES, excess

    rows: list[dict] = []
    for table in found.read("audit"):
        far, measures = excess(table)
        worst = np.argsort(-far, kind="stable")[: max(count, 0)]
        for place, row in zip(worst, table.take(worst).to_pylist(), strict=True):
            measure = MEASURES[measures[place]]
            entry = {name: row[name] for name in ("round", "row", "reason", "detail")} | {"measure": measure}
            entry |= {
                "size": row[f"{measure}_size"],
                "threshold": row[f"{measure}_threshold"],
                "times": float(far[place]),
            }
            rows.append(entry | {name: row[name] for name in ("key", "label") if name in row})
        rows = sorted(rows, key=lambda entry: -entry["times"])[: max(count, 0)]
    return rows


def _budget(text):
    """What --outliers would be, of k=50, share=1%, quantile=0.99 or the like."""
    name, found, value = text.partition("=")
    if not found:
        return text
    words = {"k": "{}", "share": "{}", "quantile": "quantile:{}"}
    if name not in words:
        from holdfast.runs.files import RunError

        raise RunError(f"--replay knows k=, share= and quantile=: got {quoted(text)}")
    return words[name].format(value)


def _of_counts(found):
    metrics = found.metrics()
    lines = [f"{metrics['rounds']:,} rounds, {metrics['skipped']:,} skipped"]
    for reason, count in sorted(metrics["skipped_by_reason"].items(), key=lambda item: -item[1]):
        lines.append(f"  {count:>9,}  {reason:13} {REASONS[reason]}")
    return lines


def _of_rows(rows):
    if not rows:
        return []
    lines = [f"{'row':>10} {'reason':13} {'size of':9} {'size':>10} {'threshold':>10} {'times':>9}"]
    for row in rows:
        times = f"{row['times']:9.3g}" if row["times"] else " " * 9
        whose = " ".join(visible(row[name], 80) for name in ("key", "label") if row.get(name))
        note = "  ".join(filter(None, (whose, row["detail"])))
        lines.append(
            f"{row['row']:>10,} {row['reason']:13} {row['measure']:9} {row['size']:10.4g} "
            f"{row['threshold']:10.4g} {times}  {note}".rstrip()
        )
    return lines


def _of_replay(answer):
    lines = [
        f"outliers {answer['outliers']}: {answer['skipped']:,} of {answer['rounds']:,} rounds would be "
        f"skipped; the run skipped {answer['skipped_in_the_run']:,}"
    ]
    for name, words in (("no_longer_skipped", "no longer skipped"), ("newly_skipped", "skipped as well")):
        if answer[name]:
            rows = ", ".join(f"{row:,}" for row in answer[name])
            lines.append(f"  {words}: rows {rows}{' ...' if len(answer[name]) == 10 else ''}")
    lines.append(
        "By the sizes the run measured: had it learned from other rounds, later ones would differ a little."
    )
    return lines
