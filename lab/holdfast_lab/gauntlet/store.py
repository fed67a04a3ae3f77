"""Results on disk: a line for each contestant in each scenario, so that a run that was stopped goes on."""

import contextlib
import functools
import hashlib
import json
from pathlib import Path
from typing import Any

import holdfast
import holdfast_lab.gauntlet
from holdfast_lab.gauntlet.scores import Score


class Store:
    """A file of JSON lines. A result is found again if the scenario and all source code are the same."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self.known: dict[str, Score] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            with contextlib.suppress(json.JSONDecodeError, KeyError, TypeError):  # a line that was cut off
                entry = json.loads(line)
                self.known[entry["key"]] = Score(**entry["score"])

    def find(self, key: str) -> Score | None:
        return self.known.get(key)

    def add(self, key: str, score: Score) -> None:
        self.known[key] = score
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "score": score._asdict()}, allow_nan=False) + "\n")


def key_of(track: str, scenario: Any, contestant: str, more: str = "") -> str:
    """What a result is stored under; `more` is the digest of an entry."""
    parts = [track, repr(scenario), contestant, more, source_digest()]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]


@functools.cache
def source_digest() -> str:
    """A digest of what decides about results: the gauntlet, the trials and the package."""
    lab = Path(holdfast_lab.gauntlet.__path__[0])
    found = hashlib.sha256()
    for folder in (lab, lab.parent / "trials", Path(holdfast.__path__[0])):
        for path in sorted(folder.rglob("*.py")):
            found.update(path.read_bytes())
    return found.hexdigest()


def digest_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
