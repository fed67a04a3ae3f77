"""Measure scenarios on some cores, store each result, and put them together."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from holdfast_lab.gauntlet import store
from holdfast_lab.gauntlet.entry import read_entry
from holdfast_lab.gauntlet.games_track import GAMES
from holdfast_lab.gauntlet.results import report, summarise
from holdfast_lab.gauntlet.scores import Score
from holdfast_lab.gauntlet.steps_track import STEPS
from holdfast_lab.gauntlet.streams_track import STREAMS
from holdfast_lab.gauntlet.track import Setting, Track

TRACKS: dict[str, Track] = {"streams": STREAMS, "steps": STEPS, "games": GAMES}
Progress = Callable[[int, int], None]


def scenarios_of(track: str, setting: Setting, only: Sequence[str] = ()) -> list[Any]:
    """The scenarios of a track whose names contain one of these words, or all of them."""
    every = TRACKS[track].scenarios(setting)
    return [each for each in every if not only or any(word in each.name for word in only)]


def run(
    tracks: Sequence[str],
    setting: Setting,
    folder: Path,
    only: Sequence[str] = (),
    jobs: int = -1,
    progress: Progress = lambda done, total: None,
) -> dict[str, Any]:
    """Measure what is not stored yet, and return all results. A run that was stopped goes on where it was."""
    import joblib

    kept, wanted, todo = store.Store(folder / "scores.jsonl"), {}, []
    for track in tracks:
        names = list(TRACKS[track].contestants(setting))
        for scenario in scenarios_of(track, setting, only):
            keys = {name: _key(track, scenario, name, setting) for name in names}
            wanted[track, scenario] = keys
            missing = [name for name in names if kept.find(keys[name]) is None]
            if missing:
                todo.append((track, scenario, missing))
    if not wanted:
        raise ValueError(
            f"no scenario of {', '.join(tracks)} has a name with {' or '.join(only)}: try --list"
        )
    done, spent = len(wanted) - len(todo), 0.0
    progress(done, len(wanted))
    parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")
    tasks = (joblib.delayed(_measured)(track, setting, each, names) for track, each, names in todo)
    for track, scenario, found, seconds in parallel(tasks):
        for name, score in found.items():
            kept.add(wanted[track, scenario][name], score)
        done, spent = done + 1, spent + seconds
        progress(done, len(wanted))
    return report(
        [_summary(track, setting, wanted, kept) for track in tracks if any(t == track for t, _ in wanted)],
        setting.quick,
        setting.seed,
        spent,
    )


_ABSENT = Score(None, None, note="does not play")


def _measured(
    track: str, setting: Setting, scenario: Any, names: list[str]
) -> tuple[str, Any, dict[str, Score], float]:
    from threadpoolctl import threadpool_limits

    start = time.process_time()
    with threadpool_limits(1):  # several threads add in another order: the last bits would depend on `jobs`
        found = TRACKS[track].measure(setting, scenario, names)
    scores = {name: _ABSENT if score is None else score for name, score in found.items()}
    return track, scenario, scores, time.process_time() - start


def _key(track: str, scenario: Any, name: str, setting: Setting) -> str:
    entry = read_entry(setting.entry)
    entered = entry is not None and name == entry.name and setting.entry is not None
    return store.key_of(track, scenario, name, store.digest_of(setting.entry) if entered else "")  # type: ignore[arg-type]


def _summary(track: str, setting: Setting, wanted: dict[Any, Any], kept: store.Store) -> dict[str, Any]:
    mine = {scenario: keys for (of, scenario), keys in wanted.items() if of == track}
    scores = {
        scenario.name: {
            name: score
            for name, key in keys.items()
            if (score := kept.find(key)) is not None and score != _ABSENT
        }
        for scenario, keys in mine.items()
    }
    return summarise(track, TRACKS[track].contestants(setting), mine, scores)
