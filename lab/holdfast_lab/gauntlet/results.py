"""The results of a run as one dictionary: what results.json holds, and tables and pages are made of."""

import math
import statistics
from collections.abc import Iterable, Mapping
from importlib import metadata
from typing import Any

from holdfast import __version__
from holdfast_lab.gauntlet.ranks import places
from holdfast_lab.gauntlet.scores import Score
from holdfast_lab.gauntlet.track import Contestant

SCHEMA = 1
_PACKAGES = ("numpy", "scikit-learn", "river", "vowpalwabbit")


def summarise(
    track: str,
    contestants: Mapping[str, Contestant],
    scenarios: Iterable[Any],
    scores: Mapping[str, Mapping[str, Score]],
) -> dict[str, Any]:
    """One track: its scenarios, its contestants by their mean rank, and every score."""
    placed = places(scores)
    table = [_row(name, contestants[name], placed[name], scores) for name in placed]
    return {
        "track": track,
        "scenarios": [
            {"name": each.name, "larger": bool(getattr(each, "larger", False))} for each in scenarios
        ],
        "table": sorted(table, key=lambda row: (row["rank"], row["contestant"])),
        "scores": [
            {"scenario": scenario, "contestant": name, **score._asdict()}
            for scenario, row in scores.items()
            for name, score in row.items()
        ],
    }


def _row(
    name: str, about: Contestant, place: Any, scores: Mapping[str, Mapping[str, Score]]
) -> dict[str, Any]:
    mine = {scenario: row[name] for scenario, row in scores.items() if name in row}
    figures = {scenario: _worth(score) for scenario, score in mine.items()}
    worst = max(figures, key=lambda each: figures[each])
    best = min(figures, key=lambda each: figures[each])
    middle = statistics.median(figures.values())
    came_back = [score.recovered for score in mine.values() if score.recovered is not None]
    after = [score.recovered_after for score in mine.values() if score.recovered_after is not None]
    times = [score.microseconds for score in mine.values() if score.microseconds is not None]
    return {
        "contestant": name,
        "told": about.told,
        "ours": about.ours,
        "entered": about.entered,
        "rank": round(place.rank, 2),
        "rank_low": round(place.low, 2),
        "rank_high": round(place.high, 2),
        "played": len(mine),
        "excess_median": None if math.isinf(middle) else middle,
        "excess_worst": None if math.isinf(figures[worst]) else figures[worst],
        "worst": worst,
        "best": best,
        "broken": sum(score.broken for score in mine.values()),
        "good_lost": _mean(score.good_lost for score in mine.values()),
        "bad_learned": _mean(score.bad_learned for score in mine.values()),
        "recovered": sum(came_back) if came_back else None,
        "recovered_of": len(came_back),
        "recovered_after": statistics.median(after) if after else None,
        "microseconds": statistics.median(times) if times else None,
    }


def _worth(score: Score) -> float:
    return math.inf if score.excess is None else score.excess


def _mean(values: Iterable[float | None]) -> float | None:
    said = [value for value in values if value is not None]
    return statistics.fmean(said) if said else None


def report(tracks: list[dict[str, Any]], quick: bool, seed: int, cpu_seconds: float) -> dict[str, Any]:
    """The whole, with versions."""
    return {
        "schema": SCHEMA,
        "holdfast": __version__,
        "packages": {name: _version(name) for name in _PACKAGES},
        "quick": quick,
        "seed": seed,
        "cpu_seconds": round(cpu_seconds, 1),
        "tracks": tracks,
    }


def without_times(report: dict[str, Any]) -> dict[str, Any]:
    """What is the same for the same seed, on any machine with the same versions."""
    tracks = [
        {
            **track,
            "table": [{k: v for k, v in row.items() if k != "microseconds"} for row in track["table"]],
            "scores": [{k: v for k, v in row.items() if k != "microseconds"} for row in track["scores"]],
        }
        for track in report["tracks"]
    ]
    return {**report, "cpu_seconds": None, "tracks": tracks}


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
