"""The folder of a run: it owns the files that its manifest lists, and touches no others."""

import contextlib
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from holdfast.runs import manifest as manifests
from holdfast.runs.files import (
    REMEDY,
    RunError,
    damaged,
    is_link,
    locked,
    new_file,
    open_plain,
    read_plain,
    read_table,
    reading,
    sync,
)
from holdfast.runs.manifest import FILES, PARTS, TABLES, Digest, Manifest, part_number, read_manifest

_TEMPORARY = re.compile(r"\.holdfast-[0-9a-f]{16}-[0-9a-f]{16}")
Content = str | bytes | list[Any] | Any  # text, or buffers that follow each other
_TRIES = 10  # to read a file that another process may be replacing


class Folder:
    """A folder in which a file is replaced in one step, and tables grow by numbered parts.

    `manifest.json` lists every file with its SHA-256, before the file gets its name. Files with other names
    are never touched. A file that has the name of a run's file but is not listed is refused, and so is a
    symbolic link. A part is valid once a checkpoint counts it; a run that resumes removes later parts and
    writes them again.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.manifest: Manifest | None = None
        self.replaced: tuple[tuple[int, int], ...] = ()  # parts of tables from a to below b, by other parts
        self._lock: IO[bytes] | None = None

    # -- begin and lock

    def create(self) -> None:
        """Make and lock the folder; raises if it has a run, or a file with the name of one of its files."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise RunError(f"{self.path} is or is in a file: choose a folder with --to") from None
        self.lock()
        if self.is_begun():
            raise RunError(
                f"{self.path} holds a run already: go on with --resume, or choose another folder with --to"
            )
        if self._exists(manifests.FILE):
            self.clean_up(0)  # a process stopped before its first checkpoint
        else:
            self._begin()

    def _begin(self) -> None:
        """Write the first manifest, in a folder without one; raises if another file has a name of a run."""
        for name in (*FILES, *(part for table in PARTS for part in self._parts_found(table))):
            if self._exists(name):
                raise self._foreign(name)
        for path in self._plain_files(".", _TEMPORARY.fullmatch):
            os.unlink(path)  # of a process that was killed before it wrote the manifest
        self.manifest = Manifest.new()
        self.write_manifest()

    def is_begun(self, by: str = manifests.CHECKPOINT) -> bool:
        """Whether a run has written this file here. Without a checkpoint, another run may begin here."""
        if not self._exists(manifests.FILE):
            return False
        self.load()
        return self.has(by)

    def lock(self) -> None:
        """Let no other process learn into this folder, until this one closes it or ends.

        Not with filelock: it empties a file that has this name, changes its mode, and deletes it at release.
        The file may be the user's. Here it is not changed, and links and FIFOs are refused.
        """
        path = self.path / "lock"
        handle = open_plain(path, os.O_RDWR | os.O_CREAT)
        self._lock = os.fdopen(handle, "rb")
        if locked(self._lock) is False:
            self.close()
            raise RunError(f"{self.path}: another process is learning into this folder")

    def close(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    # -- reading

    def load(self) -> Manifest:
        path = self.path / manifests.FILE
        try:
            self.manifest = read_manifest(read_plain(path))
        except FileNotFoundError:
            if self._exists("config.json"):
                raise RunError(f"{self.path} has no {manifests.FILE}: it was removed; {REMEDY}") from None
            raise RunError(f"{self.path} is no run of holdfast: there is no {manifests.FILE} in it") from None
        except NotADirectoryError:
            raise RunError(f"{self.path} is or is in a file, and a run is a folder") from None
        except RunError:
            raise
        except ValueError as problem:
            raise damaged(path, problem) from None
        return self.manifest

    def lists(self, name: str) -> bool:
        return name in self._listed().files

    def has(self, name: str) -> bool:
        """Whether a file is listed, and is there or must be."""
        return self.lists(name) and (self._exists(name) or None not in self._listed().files[name])

    def _is_listed_now(self, name: str) -> bool:
        """Whether a file is listed, if need be in a manifest that another process has just written."""
        return self.lists(name) or (self._lock is None and name in self.load().files)

    def read(self, name: str) -> bytes:
        """The content of a file; raises if it is not what the run wrote."""
        for _ in range(_TRIES):
            known = self._listed()
            if not self.has(name):
                if self._exists(name):
                    raise self._foreign(name)
                raise RunError(
                    f"{self.path} is no run of holdfast, or has learned nothing yet: no {name} in it"
                )
            problem = damaged(self.path / name, "its checksum is not the one in the manifest")
            try:
                data = read_plain(self._place(name))
                digest = Digest.of(data)
                if digest in known.files[name]:
                    self.manifest = known.settled({name: digest})
                    return data
            except (FileNotFoundError, NotADirectoryError):
                problem = self._missing(name)
            if self._lock is not None or self.load() == known:
                break
        raise problem

    def parts(self, table: str, count: int, since: int = 0) -> list[str]:
        """The names of the parts numbered from `since` on and below `count`, in order.

        Without those that a retraction has replaced (`holdfast.runs.retraction`).
        """
        return [
            name
            for number, name in self._listed().parts(table).items()
            if since <= number < count and not self._is_replaced(table, number)
        ]

    def _is_replaced(self, table: str, number: int) -> bool:
        return table in TABLES and any(first <= number < end for first, end in self.replaced)

    def read_parts(
        self, table: str, count: int, schema: pa.Schema, columns: Sequence[str] | None = None, since: int = 0
    ) -> Iterator[pa.Table]:
        """The tables of these parts, one by one, because all may not fit into memory.

        Raises if one has other columns or a null.
        """
        for name in self.parts(table, count, since):
            with reading(self.path / name):
                found = read_table(self.read(name), schema)
            yield found if columns is None else found.select(columns)

    def check_parts(self, count: int) -> None:
        """Raise if a part of a table is missing, has another length, or is not of this run."""
        files = self._listed().files
        for table in PARTS:
            for name in self.parts(table, count) if table in TABLES else ():
                try:
                    found = os.lstat(self._place(name))
                except FileNotFoundError:
                    raise self._missing(name) from None
                if stat.S_ISLNK(found.st_mode):
                    raise is_link(self.path / name)
                if found.st_size not in [digest.bytes for digest in files[name] if digest]:
                    raise damaged(
                        self.path / name, f"a length of {found.st_size:,} bytes is not in the manifest"
                    )
            for name in self._parts_found(table):
                if not self._is_listed_now(name):
                    raise self._foreign(name)

    def is_own_name(self, path: Path) -> bool:
        """Whether a file of a run in this folder has this path, or may have it."""
        home, place = self.path.resolve(), path.parent.resolve() / path.name
        if not place.is_relative_to(home):
            return False
        name = place.relative_to(home).as_posix()
        inside = name.split("/", 1)[0] == manifests.REPLAY
        return inside or name in (manifests.FILE, "lock") or manifests.is_run_file(name)

    # -- writing

    def write(self, files: Iterable[tuple[str, Content]], gone: Iterable[str] = ()) -> None:
        """Replace files, given as pairs of name and content, in this order; then remove those in `gone`.

        The content is text, bytes, or a list of buffers that follow each other.
        If the process is killed, each file has its old or its new content. The manifest lists both.
        """
        before = self._listed()
        staged: dict[str, Path] = {}
        digests: dict[str, Digest] = {}
        try:
            for name, data in files:
                data = data.encode() if isinstance(data, str) else data
                buffers = data if isinstance(data, list) else [data]
                self._check_owner(name)
                staged[name] = self._stage(name, buffers)
                digests[name] = Digest.of(*buffers)
            self.manifest = before.including(digests).allowing_absence(gone)
            self.write_manifest()
            for name, temporary in staged.items():
                os.replace(temporary, self.path / name)
        except BaseException:
            self.manifest = before if self.manifest is before else before.including(digests)
            for temporary in staged.values():
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
            raise
        for parent in {(self.path / name).parent for name in staged}:
            sync(parent)
        self._remove(gone)
        self.manifest = before.settled(digests).without(gone)

    def write_alone(self, name: str, data: Content) -> None:
        self.lock()
        try:
            self.load()
            self.write([(name, data)])
            self.write_manifest()
        finally:
            self.close()

    def clean_up(self, count: int, needed: Mapping[str, Iterable[int]] = {}) -> None:
        """Remove what a killed process left: parts that no checkpoint needs, and temporary files.

        A checkpoint needs the parts of tables below `count`, unless they are replaced, and of `states` and
        `tree` those with the numbers in `needed`.
        """
        late = [
            name
            for table in PARTS
            for number, name in self._listed().parts(table).items()
            if (
                number >= count or self._is_replaced(table, number)
                if table in TABLES
                else number not in needed.get(table, ())
            )
        ]
        self._remove(late)
        self.manifest = self._listed().without(late)
        for path in self.temporary_files():
            os.unlink(path)

    def remove(self) -> None:
        """Remove all files of this run, and the folder if nothing else is in it. It must be locked.

        If the process is killed meanwhile, no run is begun here any more, and it can be called again.
        """
        names = sorted(self._listed().files, key=lambda name: name != manifests.CHECKPOINT)  # that one first
        self.manifest = self._listed().allowing_absence(names)
        self.write_manifest()
        self._remove(names)
        for path in (*self.temporary_files(), self.path / "lock", self.path / manifests.FILE):
            os.unlink(path)
        self.close()
        self.remove_if_empty()

    def remove_if_empty(self) -> None:
        """Remove the folder if there is nothing but empty folders of a run in it."""
        for place in (*(self.path / table for table in PARTS), self.path):
            with contextlib.suppress(OSError):  # not there, or not empty
                place.rmdir()

    def _remove(self, names: Iterable[str]) -> None:
        for name in names:
            self._check_owner(name)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._place(name))

    def temporary_files(self) -> list[Path]:
        """The temporary files of this run: left by a killed process, or of one that is writing now."""
        start = self._temporary("")
        return [
            path
            for folder in (".", *PARTS)
            for path in self._plain_files(folder, lambda n: n.startswith(start))
        ]

    def _plain_files(self, folder: str, fits: Callable[[str], Any]) -> list[Path]:
        paths = (self.path / folder / name for name in self._names_in(folder) if fits(name))
        return [path for path in paths if stat.S_ISREG(os.lstat(path).st_mode)]

    def write_manifest(self) -> None:
        """Write the manifest. After `write`, this removes the digests of the old contents."""
        place = self.path / manifests.FILE
        if os.path.islink(place):
            raise is_link(place)
        temporary = self._stage(manifests.FILE, [self._listed().to_bytes()])
        try:
            os.replace(temporary, place)
        except BaseException:
            os.unlink(temporary)
            raise
        sync(self.path)

    def _stage(self, name: str, buffers: Iterable[Any]) -> Path:
        """Write the content under a random name in the same folder; return the path."""
        place = self._place(name)
        place.parent.mkdir(exist_ok=True)
        temporary = place.with_name(self._temporary(secrets.token_hex(8)))
        try:
            with new_file(temporary) as file:
                file.writelines(buffers)
        except OSError as problem:
            problem.filename = str(place)  # not the temporary name
            raise
        return temporary

    def _temporary(self, end: str) -> str:
        return f".holdfast-{self._listed().token}-{end}"

    def _check_owner(self, name: str) -> None:
        """Raise if anything but a plain file that the manifest lists has this name."""
        place = self._place(name)
        try:
            mode = os.lstat(place).st_mode
        except FileNotFoundError:
            return
        if stat.S_ISLNK(mode):
            raise is_link(place)
        if not stat.S_ISREG(mode) or not self.lists(name):
            raise self._foreign(name)

    def _listed(self) -> Manifest:
        return self.manifest if self.manifest is not None else self.load()

    def _place(self, name: str) -> Path:
        """The path of a file; raises if its folder is a symbolic link."""
        place = self.path / name
        if place.parent != self.path and place.parent.is_symlink():
            raise is_link(place.parent)
        return place

    def _exists(self, name: str) -> bool:
        return os.path.lexists(self.path / name)

    def _names_in(self, folder: str) -> list[str]:
        """The names in the run folder (".") or in the folder of a table; none if it is not there."""
        place = self.path / folder
        if folder != "." and place.is_symlink():
            raise is_link(place)
        if folder != "." and self._exists(folder) and not place.is_dir():
            raise self._foreign(folder)
        return sorted(os.listdir(place)) if place.is_dir() else []

    def _parts_found(self, table: str) -> list[str]:
        """The names of files that look like parts of this table."""
        names = (f"{table}/{name}" for name in self._names_in(table))
        return [name for name in names if part_number(table, name) is not None]

    def _missing(self, name: str) -> RunError:
        return RunError(f"{self.path / name} is missing, and the run wrote it: {REMEDY}")

    def _foreign(self, name: str) -> RunError:
        return RunError(
            f"{self.path / name} was not written by this run: move it away, or choose another folder "
            "with --to"
        )
