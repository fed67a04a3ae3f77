"""holdfast audit: what a run skipped and why, and what another budget would skip."""

import math
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from holdfast.cli.arguments import add_json, add_moved, add_run, describe
from holdfast.cli.learn_summary import learned_and_skipped
from holdfast.cli.outputs import check_output, check_path, table_writer
from holdfast.terminal import DONE, Refusal, print_json, quoted, shown, tell, visible

REASONS = {
    "features": "the features are too far from those of other rows",
    "target": "the target is too far from those of other rows, or from all predictions",
    "gradient": "the error on it is larger than on other rows",
    "not readable": "a cell or the target is missing, no number, infinite, or too large to compute with",
}


def add(parser: ArgumentParser) -> None:
    describe(
        parser,
        run,
        "Count the skipped rounds of a run by reason and by column, show where rows were skipped one\n"
        "after the other, and the worst rows: those that exceed their threshold by the largest factor.\n"
        "The whole audit is RUN/audit, in Parquet. With --skipped, write the skipped rows of the source\n"
        "to a file, to look at them and to release some (holdfast release). With --replay, show what\n"
        "another budget would skip, from the sizes that the run recorded, without learning again.",
        [
            "holdfast audit sensors.run",
            "holdfast audit sensors.run --worst 50",
            "holdfast audit sensors.run --skipped quarantine.csv   # the rows themselves, with the reasons",
            "holdfast audit sensors.run --replay k=100        # at most 100 outliers",
            "holdfast audit sensors.run --replay share=2%     # at most 2 % of the rounds",
        ],
    )
    add_run(parser)
    worst = "how many rows, groups and columns to show (default: %(default)s)"
    parser.add_argument("--worst", type=int, default=10, metavar="N", help=worst)
    wanted = parser.add_mutually_exclusive_group()
    replay = "k=COUNT, share=SHARE, quantile=P, or what --outliers of learn takes: 50, 1%%, auto, none"
    wanted.add_argument("--replay", metavar="BUDGET", help=replay)
    skipped = "a .csv or .parquet file for the skipped rows, with all columns of the source"
    wanted.add_argument("--skipped", type=Path, metavar="FILE", help=skipped)
    add_moved(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    from holdfast.runs.run import open_run

    found = open_run(options.run)
    if options.replay is not None:
        from holdfast.runs.replay import replayed

        answer = replayed(found, _budget(options.replay))
        lines = _replay_lines(answer)
    elif options.skipped is not None:
        from holdfast.runs.quarantine import write_skipped

        check_path(options.skipped, "--skipped")
        sources = [place.name for place in found.source_records()]
        check_output(options.skipped, "--skipped", [*options.source, *sources], found.folder.path)
        with table_writer(options.skipped) as write:
            answer = {"file": str(options.skipped)} | write_skipped(found, write, options.source)
        lines = _skipped_lines(answer)
    else:
        from holdfast.runs.audit_summary import AuditSummary
        from holdfast.runs.ledger import read_ledger

        out = {"retracted": len(read_ledger(found).retracted())}
        answer = found.metrics() | out | AuditSummary(found, max(options.worst, 0)).update()
        lines = _summary_lines(answer)
    if options.json:
        print_json(answer)
    else:
        tell(*lines)
    return DONE


def _skipped_lines(answer: dict[str, Any]) -> list[str]:
    return [f"{answer['rows']:,} skipped rows: {answer['file']}"] + [
        f"left out: {one['rows']:,} skipped rows between row {one['first']:,} and {one['last']:,}, because "
        f"{visible(one['source'], 80)} has other rows now: name a file that has them with --source"
        for one in answer["left_out"]
    ]


def _budget(text: str) -> str:
    """The value of --outliers for k=50, share=1% or quantile=0.99."""
    name, found, value = text.partition("=")
    if not found:
        return text
    words = {"k": "{}", "share": "{}", "quantile": "quantile:{}"}
    if name not in words:
        raise Refusal(f"--replay must be k=, share= or quantile=: got {quoted(text)}")
    return words[name].format(value)


def _summary_lines(answer: dict[str, Any]) -> list[str]:
    lines = [learned_and_skipped(answer)]
    if answer["released"]:
        lines[0] += f" Released later: {answer['released']:,}."
    if answer["retracted"]:
        lines[0] += f" Taken back, and not among them: {answer['retracted']:,} (see inspect)."
    lines += [f"Warning: {sentence}" for sentence in answer["warnings"]]
    for reason, count in sorted(answer["skipped_by_reason"].items(), key=lambda item: -item[1]):
        lines.append(f"  {count:>9,}  {reason:13} {REASONS.get(reason, '')}")
    if answer["columns"]:
        lines += ["", "by column:"]
        lines += [
            f"  {one['count']:>9,}  {one['reason']:13} {visible(one['column'], 80)}"
            for one in answer["columns"]
        ]
    if any(group["rows"] > 1 for group in answer["groups"]):
        count = answer["group_count"]
        lines += [
            "",
            f"{count:,} groups of skipped rows; the largest:" if count > 1 else "skipped rows in one group:",
        ]
        lines += [_group_line(group) for group in answer["groups"] if group["rows"] > 1]
    return lines + ([""] if answer["worst"] else []) + _row_lines(answer["worst"])


def _group_line(group: dict[str, Any]) -> str:
    period = f" ({when})" if (when := dates(group)) else ""
    found = f"  rows {group['first']:,} to {group['last']:,}{period}: {group['rows']:,} skipped, "
    found += f"most by {group['reason']}"
    if group["column"]:
        found += f", {cell(group['column'], group['low'], group['high'])}"
    return found


def dates(group: dict[str, Any]) -> str:
    """The time of a group of skipped rows, empty if the run knows none; days only if it is a day or more."""
    begin, end = group["begin"], group["end"]
    if begin is None or end is None:
        return ""
    same_day = begin[:10] == end[:10]
    if same_day:
        return begin[:16] if begin == end else f"{begin[:16]} to {end[11:16]}"
    return f"{begin[:10]} to {end[:10]}"


def cell(column: str, low: float | None, high: float | None = None) -> str:
    """A column and its value, or the smallest and the largest of several values."""
    name = visible(column, 80)
    if low is None:
        return name
    first, last = (_number(value) for value in (low, low if high is None else high))
    return f"{name} = {first}" if first == last else f"{name} from {first} to {last}"


def cell_of(row: dict[str, Any]) -> str:
    """The column and the value of a skipped row; nothing if the detail names the column."""
    names_it = row["detail"].startswith(f"column {quoted(row['column'])}")
    return "" if names_it else cell(row["column"], row["value"])


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) < 1e12 and value == math.floor(value) else shown(value)


def _row_lines(rows: list[dict[str, Any]]) -> list[str]:
    if not rows:
        return []
    cells = [("row", "reason", "size", "threshold", "times", "")]
    for row in rows:
        size, threshold = ("" if row[name] is None else shown(row[name]) for name in ("size", "threshold"))
        names = " ".join(visible(row[name], 80) for name in ("key", "label") if row.get(name))
        little = "learned a little" if row["learned"] == "little" else ""
        note = "  ".join(filter(None, (cell_of(row), names, row["detail"], little)))
        cells.append((f"{row['row']:,}", row["reason"], size, threshold, _times(row["times"]), note))
    a, b, c, d, e = (max(len(line[i]) for line in cells) for i in range(5))
    return [
        f"{row:>{a}}  {reason:{b}}  {size:>{c}}  {threshold:>{d}}  {times:>{e}}  {note}".rstrip()
        for row, reason, size, threshold, times, note in cells
    ]


def _times(value: float | None) -> str:
    """How many times the threshold a size is, in whole numbers if that is many."""
    if value is None:
        return ""
    return shown(float(round(value)) if abs(value) >= 100.0 and math.isfinite(value) else round(value, 1))


def _replay_lines(answer: dict[str, Any]) -> list[str]:
    lines = [
        f"outliers {answer['outliers']}: {answer['skipped']:,} of {answer['rounds']:,} rounds would be "
        f"skipped; the run skipped {answer['skipped_in_the_run']:,}"
    ]
    for name, words in (("no_longer_skipped", "no longer skipped"), ("newly_skipped", "skipped as well")):
        if answer[name]:
            rows = ", ".join(f"{row:,}" for row in answer[name])
            lines.append(f"  {words}: rows {rows}{' ...' if len(answer[name]) == 10 else ''}")
    return lines + answer["notes"]
