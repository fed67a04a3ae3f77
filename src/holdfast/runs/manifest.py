"""The manifest of a run: which files are its own, and the checksum of each."""

import hashlib
import json
import re
import secrets
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from holdfast.io.typed import is_count

FORMAT = "holdfast manifest 1"
FILE = "manifest.json"
# Folders of numbered parts, of which a checkpoint has the first ones:
TABLES = ("audit", "sizes", "forecasts", "released", "released_rows", "ledger")
STATES, TREE = "states", "tree"  # of these it names the parts that it needs
PARTS = dict.fromkeys(TABLES, "parquet") | {STATES: "safetensors", TREE: "safetensors"}  # all folders
REPLAY = "replay"  # a folder of its own, while rows are taken back (`holdfast.runs.retraction`)
CHECKPOINT = "checkpoint.safetensors"
FILES = (
    "config.json",
    CHECKPOINT,
    "model.safetensors",
    "keys.parquet",
    "metrics.json",
    "times.json",
    "certificate.json",
    "report.html",
)
_PART = re.compile(r"part-([0-9]{6,12})\.(?:parquet|safetensors)")
_TOKEN = re.compile(r"[0-9a-f]{16}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class Digest(NamedTuple):
    """Length and SHA-256 of the content of a file."""

    bytes: int
    sha256: str

    @staticmethod
    def of(*buffers: Any) -> "Digest":
        sha256 = hashlib.sha256()
        for buffer in buffers:
            sha256.update(buffer)
        return Digest(sum(memoryview(buffer).nbytes for buffer in buffers), sha256.hexdigest())


class Manifest(NamedTuple):
    """The files of a run, each with the digests that its content may have; None if it may be absent.

    A file that is about to be replaced has two entries, for its old and its new content. So the manifest is
    true before and after the replacement, whenever the process is killed.
    """

    token: str  # random; part of the names of temporary files
    files: dict[str, tuple[Digest | None, ...]]

    @staticmethod
    def new() -> "Manifest":
        return Manifest(secrets.token_hex(8), {})

    def including(self, digests: Mapping[str, Digest]) -> "Manifest":
        """The manifest that allows these contents, too."""
        files = dict(self.files)
        for name, digest in digests.items():
            files[name] = tuple(dict.fromkeys((*files.get(name, (None,)), digest)))
        return self._replace(files=files)

    def settled(self, digests: Mapping[str, Digest]) -> "Manifest":
        """The manifest that allows only these contents."""
        return self._replace(files=self.files | {name: (digest,) for name, digest in digests.items()})

    def allowing_absence(self, names: Iterable[str]) -> "Manifest":
        """The manifest that allows these files to be absent, because they are about to be removed."""
        return self._replace(files=self.files | {n: (*self.files[n], None) for n in names if n in self.files})

    def without(self, names: Iterable[str]) -> "Manifest":
        return self._replace(files={name: d for name, d in self.files.items() if name not in names})

    def parts(self, table: str) -> dict[int, str]:
        """The listed parts of a table: names by number, in order."""
        found = {part_number(table, name): name for name in self.files}
        return {number: found[number] for number in sorted(n for n in found if n is not None)}

    def to_bytes(self) -> bytes:
        body = {
            "format": FORMAT,
            "token": self.token,
            "files": {name: [d and list(d) for d in found] for name, found in self.files.items()},
        }
        return (json.dumps(body | {"sha256": _digest(body)}, indent=1) + "\n").encode()


def read_manifest(data: bytes) -> Manifest:
    """The manifest that `to_bytes` wrote; raises ValueError if it is anything else."""
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON") from None
    if not isinstance(body, dict) or set(body) != {"format", "token", "files", "sha256"}:
        raise ValueError("its entries are not those of a manifest")
    if body["format"] != FORMAT:
        raise ValueError(f"it is {str(body['format'])[:40]!r}, and this version of holdfast reads {FORMAT!r}")
    if body.pop("sha256") != _digest(body):
        raise ValueError("its content does not match its own checksum")
    token, files = body["token"], body["files"]
    if not (isinstance(token, str) and _TOKEN.fullmatch(token) and isinstance(files, dict)):
        raise ValueError("its entries are not those of a manifest")
    if not all(is_run_file(name) and _are_digests(found) for name, found in files.items()):
        raise ValueError("it lists files that no run writes")
    return Manifest(token, {name: tuple(d and Digest(*d) for d in found) for name, found in files.items()})


def part_name(table: str, number: int) -> str:
    return f"{table}/part-{number:06d}.{PARTS[table]}"


def part_number(table: str, name: str) -> int | None:
    """The number of a part of this table; None for any other name."""
    folder, _, file = name.rpartition("/")
    match = _PART.fullmatch(file)
    number = int(match[1]) if match and folder == table else None
    return number if number is not None and part_name(table, number) == name else None


def is_run_file(name: str) -> bool:
    return name in FILES or any(part_number(table, name) is not None for table in PARTS)


def _are_digests(found: Any) -> bool:
    return isinstance(found, list) and bool(found) and all(d is None or _is_digest(d) for d in found)


def _is_digest(found: Any) -> bool:
    fits = isinstance(found, list) and len(found) == 2 and is_count(found[0]) and isinstance(found[1], str)
    return fits and _SHA256.fullmatch(found[1]) is not None


def _digest(body: Any) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
