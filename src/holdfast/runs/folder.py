"""The folder of a run: it owns the files that its manifest lists, and touches no others."""

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from holdfast.runs import manifest as manifests
from holdfast.runs.manifest import FILES, TABLES, Digest, Manifest, part_number, read_manifest

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # of a FIFO that stands where a file should be
_BINARY = getattr(os, "O_BINARY", 0)
_TRIES = 10  # while another process replaces the files that are read
_REMEDY = "restore it from a copy, or learn again into another folder with --to"


class RunError(ValueError):
    """What is wrong with a run, with the remedy."""


def damaged(path, why):
    """What to say of a file that is not what a run wrote."""
    return RunError(f"{path} is damaged: {why}; {_REMEDY}")


def of_another_layout(path, what, still=""):
    """What to say of a file whose numbers mean something else than in this version."""
    return RunError(
        f"{path}: {what} have another layout than in this version of holdfast: another version wrote them, "
        f"or one with other settings; learn again into another folder with --to{still}"
    )


class Folder:
    """A folder in which a file is replaced in one step, and tables grow by numbered parts.

    `manifest.json` lists every file with its SHA-256, before the file gets its name. A file of another name
    is never touched, and a file that has a name of ours but is not listed is refused, as are symbolic links.
    A part counts from the moment a checkpoint names its number: what a killed process wrote beyond that is
    written again.
    """

    def __init__(self, path):
        self.path = Path(path)
        self.manifest: Manifest | None = None
        self._lock = None

    # -- who may write

    def create(self):
        """Make the folder, take the lock, and refuse whatever stands in the way of a new run."""
        self.path.mkdir(parents=True, exist_ok=True)
        self.lock()
        if self.is_begun():
            raise RunError(
                f"{self.path} holds a run already: go on with --resume, or choose another folder with --to"
            )
        if self._is_there(manifests.FILE):
            self.load()  # a process was killed before it wrote anything else
            self._sweep()
            return
        for name in FILES:
            if self._is_there(name):
                raise self._foreign(name)
        for table in TABLES:
            for name in self._names_in(table):
                if part_number(table, f"{table}/{name}") is not None:
                    raise self._foreign(f"{table}/{name}")
        self.manifest = Manifest.new()
        self._write_manifest()

    def is_begun(self):
        """Whether a run began here, and was not killed before it had written its configuration."""
        if not self._is_there(manifests.FILE):
            return False
        self.load()
        return self.has("config.json")

    def lock(self):
        """Let no other process learn into this folder, until this one closes it or ends.

        Not with filelock: it empties a file that has this name, changes its mode, and deletes it at release.
        The file may be the user's. Here it is not changed, and links and FIFOs are refused.
        """
        try:
            import fcntl
        except ImportError:  # not on this system
            return
        path = self.path / "lock"
        handle = _opened(path, os.O_RDWR | os.O_CREAT)
        self._lock = os.fdopen(handle, "rb")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise RunError(f"{self.path}: another process is learning into this folder") from None

    def close(self):
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    # -- reading

    def load(self):
        """Read the manifest."""
        path = self.path / manifests.FILE
        try:
            self.manifest = read_manifest(_content(path))
        except FileNotFoundError:
            if self._is_there("config.json"):
                raise RunError(
                    f"{self.path} has no {manifests.FILE}: the run was written by an earlier version of "
                    "holdfast, or the file was removed; learn again into another folder with --to"
                ) from None
            raise RunError(f"{self.path} is no run of holdfast: there is no {manifests.FILE} in it") from None
        except RunError:
            raise
        except ValueError as problem:
            raise damaged(path, problem) from None
        return self.manifest

    def lists(self, name):
        return name in self._listed().files

    def has(self, name):
        """Whether a file is listed, and there, or has to be."""
        return self.lists(name) and (self._is_there(name) or None not in self._listed().files[name])

    def _is_listed_now(self, name):
        """Whether a file is listed, maybe since another process wrote it a moment ago."""
        return self.lists(name) or (self._lock is None and name in self.load().files)

    def read(self, name):
        """The content of a file, which is what the run wrote."""
        for _ in range(_TRIES):
            known = self._listed()
            if not self.has(name):
                if self._is_there(name):
                    raise self._foreign(name)
                raise RunError(
                    f"{self.path} is no run of holdfast, or has learned nothing yet: no {name} in it"
                )
            try:
                data, problem = _content(self._place(name)), "its checksum is not the one in the manifest"
            except FileNotFoundError:
                data, problem = None, None
            digest = None if data is None else Digest.of(data)
            if digest in known.files[name]:
                self.manifest = known.settled({name: digest})
                return data
            if self._lock is not None or self.load() == known:
                break
        if problem is None:
            raise RunError(f"{self.path / name} is missing, and the run wrote it: {_REMEDY}")
        raise damaged(self.path / name, problem)

    def parts(self, table, count):
        """The names of the parts numbered below `count`, in order."""
        return [name for number, name in self._listed().parts(table).items() if number < count]

    def read_part(self, name, schema, columns=None):
        """The table of one part, which has these columns and none of them null."""
        data = self.read(name)
        try:
            # Without threads, which Arrow may still be ending when the process exits; a part is small.
            table = pq.read_table(pa.BufferReader(data), use_threads=False, pre_buffer=False)
            table.validate(full=True)
        except (pa.ArrowException, OSError, ValueError) as problem:
            raise damaged(self.path / name, str(problem).splitlines()[0][:160]) from None
        if table.schema.remove_metadata() != schema or any(column.null_count for column in table.columns):
            raise damaged(self.path / name, "its columns are not those that a run writes")
        return table if columns is None else table.select(columns)

    def read_parts(self, table, count, schema, columns=None):
        """The tables of the parts numbered below `count`, one by one: all may not fit into memory."""
        for name in self.parts(table, count):
            yield self.read_part(name, schema, columns)

    def check_parts(self, count):
        """Raise if a part is missing, has another length, or is none of this run."""
        files = self._listed().files
        for table in TABLES:
            for name in self.parts(table, count):
                try:
                    found = os.lstat(self._place(name))
                except FileNotFoundError:
                    raise RunError(
                        f"{self.path / name} is missing, and the run wrote it: {_REMEDY}"
                    ) from None
                if stat.S_ISLNK(found.st_mode):
                    raise _is_link(self.path / name)
                if found.st_size not in [digest.bytes for digest in files[name] if digest]:
                    raise damaged(
                        self.path / name, f"a length of {found.st_size:,} bytes is not in the manifest"
                    )
            for name in self._names_in(table):
                name = f"{table}/{name}"
                if part_number(table, name) is not None and not self._is_listed_now(name):
                    raise self._foreign(name)

    # -- writing

    def write(self, files):
        """Replace files by pairs of name and content, in this order.

        A process that is killed leaves each of them as it was or as it is now, and the manifest fits both.
        """
        before, staged, digests = self._listed(), {}, {}
        try:
            for name, data in files:
                data = data.encode() if isinstance(data, str) else data
                self._check_owner(name)
                staged[name] = self._stage(name, data)
                digests[name] = Digest.of(data)
            self.manifest = before.including(digests)
            self._write_manifest()
            for name, temporary in staged.items():
                os.replace(temporary, self.path / name)
        except BaseException:
            self.manifest = before if self.manifest is before else before.including(digests)
            for temporary in staged.values():
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
            raise
        for parent in {(self.path / name).parent for name in staged}:
            _sync(parent)
        self.manifest = before.settled(digests)

    def settle(self):
        """Write the manifest once more, without the digests of files that were replaced."""
        self._write_manifest()

    def write_alone(self, name, data):
        """Replace one file of a run that nobody is learning into."""
        self.lock()
        try:
            self.load()
            self.write([(name, data)])
            self.settle()
        finally:
            self.close()

    def clean_up(self, count):
        """Remove what a killed process left: parts that no checkpoint counts, and files half written."""
        late = [
            name
            for table in TABLES
            for number, name in self._listed().parts(table).items()
            if number >= count
        ]
        for name in late:
            self._check_owner(name)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._place(name))
        self.manifest = self._listed().without(late)
        self._sweep()

    def _sweep(self):
        """Remove temporary files of this run."""
        start = self._temporary("")
        for folder in (".", *TABLES):
            for name in self._names_in(folder):
                path = self.path / folder / name
                if name.startswith(start) and stat.S_ISREG(os.lstat(path).st_mode):
                    os.unlink(path)

    def _write_manifest(self):
        place = self.path / manifests.FILE
        if os.path.islink(place):
            raise _is_link(place)
        temporary = self._stage(manifests.FILE, self._listed().to_bytes())
        try:
            os.replace(temporary, place)
        except BaseException:
            os.unlink(temporary)
            raise
        _sync(self.path)

    def _stage(self, name, data):
        """Write the content under a random name in the same folder; return the path."""
        place = self._place(name)
        place.parent.mkdir(exist_ok=True)
        temporary = place.with_name(self._temporary(secrets.token_hex(8)))
        try:
            write_new(temporary, data)
        except OSError as problem:
            problem.filename = str(place)  # the name that people know
            raise
        return temporary

    def _temporary(self, end):
        return f".holdfast-{self._listed().token}-{end}"

    def _check_owner(self, name):
        """Raise unless the place is free, or holds a plain file that the manifest lists."""
        place = self._place(name)
        try:
            mode = os.lstat(place).st_mode
        except FileNotFoundError:
            return
        if stat.S_ISLNK(mode):
            raise _is_link(place)
        if not stat.S_ISREG(mode) or not self.lists(name):
            raise self._foreign(name)

    def _listed(self):
        return self.manifest if self.manifest is not None else self.load()

    def _place(self, name):
        """The path of a file of ours; raises if its folder is a symbolic link."""
        place = self.path / name
        if place.parent != self.path and place.parent.is_symlink():
            raise _is_link(place.parent)
        return place

    def _is_there(self, name):
        return os.path.lexists(self.path / name)

    def _names_in(self, folder):
        """The names in a folder of ours, if there is one."""
        place = self.path / folder
        if folder != "." and place.is_symlink():
            raise _is_link(place)
        if folder != "." and self._is_there(folder) and not place.is_dir():
            raise self._foreign(folder)
        return sorted(os.listdir(place)) if place.is_dir() else []

    def _foreign(self, name):
        return RunError(
            f"{self.path / name} was not written by this run: move it away, or choose another folder "
            "with --to"
        )


def table_bytes(table):
    """A table as a Parquet file."""
    texts = [column for column in ("key", "label") if column in table.column_names]
    encodings = {"row": "DELTA_BINARY_PACKED"} if "row" in table.column_names else None
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, use_dictionary=texts, compression="none", column_encoding=encodings)
    return sink.getvalue()


@contextlib.contextmanager
def appearing(path):
    """A new file to write to, which replaces `path` in one step when all went well."""
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(_created(temporary), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as problem:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(problem, OSError) and problem.filename is not None:
            problem.filename = str(path)  # the name that people know
        raise
    _sync(path.parent)


def write_new(path, data):
    """Write a file that must not exist yet, and flush it to the disk."""
    handle = _created(path)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(path)
        raise


def _created(path):
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK | _BINARY, 0o666)


def _opened(path, flags):
    """A handle of a plain file; raises if it is anything else, such as a link."""
    try:
        handle = os.open(path, flags | _NO_LINK | _NO_WAIT | _BINARY, 0o666)
    except OSError as problem:
        if problem.errno == errno.ELOOP or os.path.islink(path):
            raise _is_link(path) from None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise RunError(f"{path} is not a file: move it away, or choose another folder with --to")
    return handle


def _content(path):
    try:
        with os.fdopen(_opened(path, os.O_RDONLY), "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise
    except OSError as problem:
        raise RunError(f"{path} cannot be read: {problem.strerror or problem}") from None


def _is_link(path):
    return RunError(
        f"{path} is a symbolic link, and a run neither reads nor writes through links: put the file itself "
        "there, or choose another folder with --to"
    )


def _sync(folder):
    with contextlib.suppress(OSError):  # some systems cannot
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
