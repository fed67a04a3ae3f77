"""The results as text, for the terminal and for a page of the documentation."""

import math
from collections.abc import Iterator
from typing import Any

from holdfast_lab.trials.about import written_by

TITLES = {
    "streams": "streams: tables with bad rows",
    "steps": "steps: gradient norms and small trainings",
    "games": "games: against adversaries that look for the weak place",
}


HEAD = ("contestant", "rank (95 %)", "excess", "worst", "broken", "lost", "learned", "back", "us")
_WIDTHS = (27, 20, 10, 10, 8, 7, 9, 8, 7)


def cells(row: dict[str, Any]) -> tuple[str, ...]:
    """What a row of a table says, below `HEAD`."""
    return (
        row["contestant"] + " *" * bool(row["told"]),
        rank(row),
        excess(row["excess_median"]),
        excess(row["excess_worst"]),
        str(row["broken"] or ""),
        share(row["good_lost"]),
        share(row["bad_learned"]),
        "" if row["recovered"] is None else f"{row['recovered']}/{row['recovered_of']}",
        "" if row["microseconds"] is None else f"{row['microseconds']:,.0f}",
    )


def as_text(track: dict[str, Any]) -> Iterator[str]:
    """A line for each contestant, at most 110 characters wide."""
    yield TITLES[track["track"]]
    yield _line(HEAD)
    for row in track["table"]:
        name = row["contestant"][:25] + " *" * bool(row["told"])
        yield _line((name, *cells(row)[1:]))


def _line(texts: tuple[str, ...]) -> str:
    numbers = [f"{text:>{width}}" for text, width in zip(texts[1:], _WIDTHS[1:], strict=True)]
    return f"{texts[0]:{_WIDTHS[0]}}{''.join(numbers)}"


def rank(row: dict[str, Any]) -> str:
    """The mean rank, and its confidence."""
    return f"{row['rank']:.1f} ({row['rank_low']:.1f} to {row['rank_high']:.1f})"


def excess(value: float | None) -> str:
    """What a contestant costs beyond the oracle, in percent or as a factor.

    >>> [excess(x) for x in (0.0312, -0.004, 4.2, 1e9, None)]
    ['+3.1 %', '-0.4 %', 'x 5.2', 'x 1e+09', 'broken']
    """
    if value is None or not math.isfinite(value):
        return "broken"
    if value < 1.0:
        return f"{100.0 * value:+.1f} %"
    return f"x {1.0 + value:.2g}"


def share(value: float | None) -> str:
    return "" if value is None else f"{100.0 * value:.1f}%"


def markdown(track: dict[str, Any]) -> Iterator[str]:
    """A table for a page. Times are not in it: they differ from run to run."""
    yield f"| {' | '.join(HEAD[:-1])} |"
    yield "|---|" + "--:|" * (len(HEAD) - 2)
    for row in track["table"]:
        yield f"| {' | '.join(cells(row)[:-1])} |"


def as_page(results: dict[str, Any], command: str) -> Iterator[str]:
    """The tables of all tracks, and where holdfast loses, for a page of the documentation."""
    for track in results["tracks"]:
        yield from (f"### {track['track']}, {len(track['scenarios'])} scenarios", "", *markdown(track), "")
        lost = behind(track)
        yield f"holdfast is more than 5 % behind the best, broke or did not come back in {len(lost)}:"
        yield from ("", "| scenario | holdfast | best | came back | meant for |", "|---|--:|---|---|---|")
        for each in lost:
            back = {True: "yes", False: "no", None: ""}[each["recovered"]]
            best = f"{each['best']}: {excess(each['best_excess'])}"
            meant = "yes" if each["larger"] else ""
            yield f"| {each['scenario']} | {excess(each['excess'])} | {best} | {back} | {meant} |"
        yield ""
    yield (
        "* is told how many rounds are bad. Meant for: at most 10 % of bad rounds, larger than good ones, "
        "which is what the default is for."
    )
    yield ""
    yield written_by(command)


def behind(track: dict[str, Any], name: str = "holdfast", within: float = 0.05) -> list[dict[str, Any]]:
    """Where a contestant is more than 5 % behind the best that was told nothing, or did not come back.

    Of each such scenario: the best, both excesses, and whether its bad rows are at most 10 % and larger than
    the good ones, which is what the default is for.
    """
    told = {row["contestant"] for row in track["table"] if row["told"]}
    larger = {each["name"]: each["larger"] for each in track["scenarios"]}
    found = []
    for scenario, is_larger in larger.items():
        rows = {row["contestant"]: row for row in track["scores"] if row["scenario"] == scenario}
        mine = rows.get(name)
        if mine is None:
            continue
        others = {n: r["excess"] for n, r in rows.items() if r["excess"] is not None and n not in told}
        if not others:
            continue
        best = min(others, key=lambda each: others[each])
        most = (1.0 + within) * (1.0 + others[best])
        late = mine["excess"] is None or 1.0 + mine["excess"] > most
        if late or mine["recovered"] is False:
            found.append(
                {
                    "scenario": scenario,
                    "larger": is_larger,
                    "excess": mine["excess"],
                    "best": best,
                    "best_excess": others[best],
                    "recovered": mine["recovered"],
                    "broken": mine["broken"],
                }
            )
    return found
