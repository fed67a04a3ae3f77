"""holdfast audit: what a run skipped and why, and what another budget would skip."""

from holdfast.cli.exits import report_errors
from holdfast.cli.options import add_json, add_run, describe
from holdfast.terminal import DONE, print_json, quoted, tell, visible

REASONS = {
    "features": "the features are too far from those of other rows",
    "target": "the target is too far from those of other rows",
    "gradient": "the error on it is larger than on other rows",
    "not finite": "a number in it is infinite",
    "missing cell": "a cell is missing",
    "no target": "the target is missing",
    "unreadable": "the row cannot be read",
}


def add(parser):
    describe(
        parser,
        run,
        (
            "Count the skipped rounds of a run by reason, and show the worst rows: those that exceed their\n"
            "threshold by the largest factor. With --replay, show what another budget would skip, from the\n"
            "sizes that the run recorded, without learning again. The whole audit is RUN/audit, in Parquet."
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
    with report_errors():
        from holdfast.runs.run import open_run

        found = open_run(options.run, older=True)
        if options.replay is not None:
            from holdfast.runs.replay import replayed

            answer = replayed(found, _budget(options.replay))
            if options.json:
                print_json(answer)
            else:
                tell(*_replay_lines(answer))
            return DONE
        rows = worst_rows(found, options.worst)
        if options.json:
            print_json(found.metrics() | {"worst": rows})
        else:
            tell(*_count_lines(found), "", *_row_lines(rows))
    return DONE


def worst_rows(found, count):
    """The skipped rounds that exceed their threshold by the largest factor, as dictionaries."""
    import numpy as np

    from holdfast.runs.audit import MEASURES, excess

    rows: list[dict] = []
    for table in found.read("audit"):
        times, measures = excess(table)
        worst = np.argsort(-times, kind="stable")[: max(count, 0)]
        for place, row in zip(worst, table.take(worst).to_pylist(), strict=True):
            measure = MEASURES[measures[place]]
            entry = {name: row[name] for name in ("round", "row", "reason", "detail")} | {"measure": measure}
            entry |= {
                "size": row[f"{measure}_size"],
                "threshold": row[f"{measure}_threshold"],
                "times": float(times[place]),
            }
            rows.append(entry | {name: row[name] for name in ("key", "label") if name in row})
        rows = sorted(rows, key=lambda entry: -entry["times"])[: max(count, 0)]
    return rows


def _budget(text):
    """The value of --outliers for k=50, share=1% or quantile=0.99."""
    name, found, value = text.partition("=")
    if not found:
        return text
    words = {"k": "{}", "share": "{}", "quantile": "quantile:{}"}
    if name not in words:
        from holdfast.runs.files import RunError

        raise RunError(f"--replay must be k=, share= or quantile=: got {quoted(text)}")
    return words[name].format(value)


def _count_lines(found):
    metrics = found.metrics()
    lines = [f"{metrics['rounds']:,} rounds, {metrics['skipped']:,} skipped"]
    for reason, count in sorted(metrics["skipped_by_reason"].items(), key=lambda item: -item[1]):
        lines.append(f"  {count:>9,}  {reason:13} {REASONS[reason]}")
    return lines


def _row_lines(rows):
    if not rows:
        return []
    lines = [f"{'row':>10} {'reason':13} {'size of':9} {'size':>10} {'threshold':>10} {'times':>9}"]
    for row in rows:
        times = f"{row['times']:9.3g}" if row["times"] else " " * 9
        names = " ".join(visible(row[name], 80) for name in ("key", "label") if row.get(name))
        note = "  ".join(filter(None, (names, row["detail"])))
        lines.append(
            f"{row['row']:>10,} {row['reason']:13} {row['measure']:9} {row['size']:10.4g} "
            f"{row['threshold']:10.4g} {times}  {note}".rstrip()
        )
    return lines


def _replay_lines(answer):
    lines = [
        f"outliers {answer['outliers']}: {answer['skipped']:,} of {answer['rounds']:,} rounds would be "
        f"skipped; the run skipped {answer['skipped_in_the_run']:,}"
    ]
    for name, words in (("no_longer_skipped", "no longer skipped"), ("newly_skipped", "skipped as well")):
        if answer[name]:
            rows = ", ".join(f"{row:,}" for row in answer[name])
            lines.append(f"  {words}: rows {rows}{' ...' if len(answer[name]) == 10 else ''}")
    lines.append(
        "The sizes are those of the run. With this budget it would learn from other rounds, and later sizes "
        "would differ a little."
    )
    return lines
