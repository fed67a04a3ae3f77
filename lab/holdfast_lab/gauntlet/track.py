"""What a track is: scenarios, contestants, and how to measure some of these in one of those."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from holdfast_lab.gauntlet.scores import Score


class Contestant(NamedTuple):
    """What the tables say about a contestant beside its scores."""

    told: str = ""
    ours: bool = False
    entered: bool = False


class Setting(NamedTuple):
    """What a run is asked for."""

    quick: bool = False
    seed: int = 0
    data: Path | None = None  # a folder with more tables
    entry: Path | None = None  # a file that enters


class Track(NamedTuple):
    """`measure` has the score of each named contestant that can play the scenario."""

    scenarios: Callable[[Setting], Sequence[Any]]
    contestants: Callable[[Setting], dict[str, Contestant]]
    measure: Callable[[Setting, Any, Sequence[str]], dict[str, Score | None]]
