"""The results as HTML: a page with all tables, and one for each contestant. No scripts, no network."""

import re
from pathlib import Path
from typing import Any

from holdfast.pages.render import environment
from holdfast_lab.gauntlet.table import HEAD, TITLES, behind, cells, excess, rank, share

_HERE = Path(__file__).parent
_FEW = 8  # scenarios of a list of best and worst


def write_pages(results: dict[str, Any], folder: Path) -> Path:
    """Write index.html and contestants/NAME.html; return the path of the former."""
    page, others = folder / "index.html", folder / "contestants"
    others.mkdir(exist_ok=True)
    note = (
        f"holdfast {results['holdfast']}, seed {results['seed']}, {'quick' if results['quick'] else 'full'}; "
        f"{results['cpu_seconds']:.0f} s of processor time in the last run."
    )
    tracks = [_section(track) for track in results["tracks"]]
    page.write_text(_filled("gauntlet.html", tracks=tracks, note=note), encoding="utf-8")
    names = dict.fromkeys(row["contestant"] for track in results["tracks"] for row in track["table"])
    for name in names:
        parts = [_part(track, name) for track in results["tracks"]]
        text = _filled("contestant.html", name=name, parts=[p for p in parts if p], note=note)
        (others / f"{file_name(name)}.html").write_text(text, encoding="utf-8")
    return page


def file_name(name: str) -> str:
    """The name of a contestant as that of a file.

    >>> file_name("SGD + holdfast, 1 %")
    'sgd-holdfast-1'
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "contestant"


def _filled(template: str, **values: Any) -> str:
    return environment().from_string((_HERE / template).read_text(encoding="utf-8")).render(values)


def _section(track: dict[str, Any]) -> dict[str, Any]:
    shown = [row["contestant"] for row in track["table"]][:_FEW]
    return {
        "name": track["track"],
        "title": TITLES[track["track"]],
        "head": (*HEAD[:-1], "µs"),
        "rows": [(file_name(row["contestant"]), _row(row)) for row in track["table"]],
        "shown": shown,
        "matrix": list(_matrix(track, shown)),
        "behind": [_behind(each) for each in behind(track)],
        "count": len(track["scenarios"]),
    }


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    name, *rest = cells(row)
    return (name + " (yours)" * row["entered"], *rest)


def _matrix(track: dict[str, Any], shown: list[str]) -> Any:
    """For each scenario its excesses, with the class of the cell: the best, and the broken ones."""
    for scenario in track["scenarios"]:
        found = {row["contestant"]: row for row in track["scores"] if row["scenario"] == scenario["name"]}
        values = [found[name]["excess"] for name in found if found[name]["excess"] is not None]
        least = min(values, default=0.0)
        yield scenario["name"], [_cell(found.get(name), least) for name in shown]


def _cell(row: dict[str, Any] | None, least: float) -> tuple[str, str]:
    if row is None:
        return "", ""
    if row["excess"] is None:
        return "broken", "no"
    near = (1.0 + row["excess"]) <= 1.05 * (1.0 + least)
    return excess(row["excess"]), "yes" if near else ""


def _behind(each: dict[str, Any]) -> tuple[str, ...]:
    best = f"{each['best']}: {excess(each['best_excess'])}"
    came = "broke" if each["broken"] else "did not come back" if each["recovered"] is False else ""
    return each["scenario"], excess(each["excess"]), best, came, "yes" if each["larger"] else ""


def _part(track: dict[str, Any], name: str) -> dict[str, Any] | None:
    """What a page of a contestant says of a track: where it is best, where it breaks, and all scenarios."""
    mine = [row for row in track["scores"] if row["contestant"] == name]
    row = next((each for each in track["table"] if each["contestant"] == name), None)
    if row is None:
        return None
    sound = sorted((each for each in mine if each["excess"] is not None), key=lambda each: each["excess"])
    few = min(_FEW, max(len(sound) // 2, 1))  # so that no scenario is in both lists
    return {
        "title": TITLES[track["track"]],
        "told": row["told"],
        "place": track["table"].index(row) + 1,
        "of": len(track["table"]),
        "rank": rank(row),
        "best": [(each["scenario"], excess(each["excess"])) for each in sound[:few]],
        "worst": [(each["scenario"], excess(each["excess"])) for each in sound[: -few - 1 : -1]],
        "broken": [(each["scenario"], each["note"]) for each in mine if each["broken"]],
        "all": [_line(each) for each in mine],
    }


def _line(row: dict[str, Any]) -> tuple[str, ...]:
    came = {True: f"after {row['recovered_after'] or 0}", False: "no", None: ""}[row["recovered"]]
    return (
        row["scenario"],
        excess(row["excess"]) if row["excess"] is not None else "broken",
        share(row["good_lost"]),
        share(row["bad_learned"]),
        came,
    )
