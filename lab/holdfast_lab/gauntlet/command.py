"""What `holdfast gauntlet` does with its options."""

import argparse
import json
from pathlib import Path
from typing import Any

from holdfast.terminal import ProgressLine, tell
from holdfast_lab.bench.table import put_between_markers, split_at_markers
from holdfast_lab.gauntlet.entry import read_entry
from holdfast_lab.gauntlet.page import write_pages
from holdfast_lab.gauntlet.runner import TRACKS, run, scenarios_of
from holdfast_lab.gauntlet.table import as_page, as_text, excess
from holdfast_lab.gauntlet.track import Setting

MARKERS = ("<!-- holdfast gauntlet: begin -->", "<!-- holdfast gauntlet: end -->")


def run_gauntlet(options: argparse.Namespace) -> None:
    entry = read_entry(options.entry)
    setting = Setting(options.quick or entry is not None, options.seed, options.data, options.entry)
    tracks = options.track or list(TRACKS)
    if entry is not None:
        tracks = [track for track in tracks if track in entry.tracks()]
        if not tracks:
            raise ValueError(f"{options.entry.name} can play {' and '.join(entry.tracks())} only")
    if options.list:
        for track in tracks:
            tell(*(f"{track:8} {each.name}" for each in scenarios_of(track, setting, options.scenarios)))
        return
    if options.write is not None:
        split_at_markers(options.write, MARKERS)  # before minutes of measuring
    folder: Path = options.to / ("quick" if setting.quick else "full")
    line = ProgressLine()

    def show(done: int, total: int) -> None:
        line.show(f"{done} of {total} scenarios", done, total)

    results = run(tracks, setting, folder, options.scenarios, options.jobs, show)
    line.clear()
    if entry is not None:  # the results of all are not overwritten by those of one
        folder = folder / "entries" / options.entry.stem
        folder.mkdir(parents=True, exist_ok=True)
    path = folder / "results.json"
    path.write_text(json.dumps(results, indent=1, allow_nan=False), encoding="utf-8")
    page = write_pages(results, folder)
    if options.write is not None:
        put_between_markers(options.write, "\n".join([*as_page(results, _words(options)), ""]), MARKERS)
    for track in results["tracks"]:
        tell(*as_text(track), "")
    if entry is not None:
        for track in results["tracks"]:
            tell(*_of_entry(track))
    tell(
        "rank: 1 is the best. excess: cost beyond the oracle's, median and worst. lost: good ones left.",
        "learned: bad rounds used. back: scenarios in which the error came back. us: processor time a round.",
        "*: is told what others are not.",
        f"{results['cpu_seconds']:.0f} s of processor time. {path}, and the page: {page}",
    )


def _words(options: argparse.Namespace) -> str:
    """The call, as it is written below the tables."""
    words = ["--track", *options.track] if options.track else []
    words += ["--scenarios", *options.scenarios] if options.scenarios else []
    return " ".join(
        ["holdfast gauntlet", *["--quick"] * options.quick, *words, f"--write {options.write.name}"]
    )


def _of_entry(track: dict[str, Any]) -> list[str]:
    """What an entrant wants to know first."""
    rows = track["table"]
    mine = next((row for row in rows if row["entered"]), None)
    if mine is None:
        return []
    why = [
        f"  {each['scenario']}: {each['note']}"
        for each in track["scores"]
        if each["contestant"] == mine["contestant"] and each["broken"]
    ]
    return [
        f"{mine['contestant']} in {track['track']}: place {rows.index(mine) + 1} of {len(rows)};"
        f" worst scenario: {mine['worst']}, {excess(mine['excess_worst'])}; best: {mine['best']}",
        *why,
    ]
