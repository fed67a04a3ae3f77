"""Begin a run or resume one, and learn from its source."""

import contextlib
import queue
import threading
import time
from pathlib import Path

from holdfast.io.byte_stream import another_source
from holdfast.io.guess_columns import Head, feature_columns, first_blocks, guess_layout
from holdfast.io.guess_target import guess_target
from holdfast.io.sources import PACKED, SUFFIXES, SourceError, column_kinds, keys_of, open_source, pieces
from holdfast.runs.checkpoint import CONFIG, CONFIG_FORMAT, read_config
from holdfast.runs.files import RunError
from holdfast.runs.folder import Folder
from holdfast.runs.run import Run, open_run, to_json
from holdfast.runs.settings import loss_for
from holdfast.terminal import OutputLost

_MOST_WAITING = 500_000  # rounds in the log; then there is a checkpoint in any case


def begin(path, settings, to, say):
    """A new run, its source, and the pieces to learn from."""
    settings.check()
    folder, source = Folder(to), open_source(path, settings.format, whole_lines=True)
    with _closed_on_error(folder, source):
        return _begin(path, settings, folder, source, say)


def _begin(path, settings, folder, source, say):
    names = feature_columns(source, settings)
    blocks = source.blocks()
    first, batches = first_blocks(source, blocks)
    head = Head.of(batches)
    target, sentence = guess_target(head, settings.target, settings.task, settings.labels, source.name)
    say(sentence)
    if settings.key is not None:
        keys_of(head.columns[settings.key], settings.key, source.name)  # raises if it cannot be a key
    layout, sentences = guess_layout(head, names, settings.missing)
    notes = [sentence, *sentences]
    for sentence in sentences:
        say(sentence)
    if not layout.columns:
        raise SourceError(f"{source.name}: no column is left to predict from")
    loss = loss_for(settings.loss, target.regression)
    say(f"features: {layout.feature_count():,}, loss: {loss!r}, outliers: {settings.outliers}")
    player = repr(settings.player(target.regression, layout))  # raises if settings do not go together
    folder.create()
    config = {
        "format": CONFIG_FORMAT,
        "source": str(path),
        "source_begins": source.fingerprint(),
        "settings": settings.to_json(),
        "layout": layout.to_json(),
        "target": target.to_json(),
        "loss": repr(loss),
        "player": player,
        "notes": notes,
    }
    folder.write([(CONFIG, to_json(config))])
    run = Run(folder, source.name, settings, layout, target)
    run.notes = notes

    def all_blocks():
        yield from first
        first.clear()
        yield from blocks

    return run, source, pieces(source, all_blocks(), layout, target, settings.key)


def resume(path, settings, to, say):
    """The run in this folder, its source, and the pieces that are left."""
    folder, source = Folder(to), open_source(path, settings.format, whole_lines=True)
    with _closed_on_error(folder, source):
        return _resume(settings, folder, source, say)


def _resume(settings, folder, source, say):
    folder.lock()
    run, config = open_run(folder.path, folder), read_config(folder)
    for name, value in settings.to_json().items():
        known = getattr(config["settings"], name)
        if value != known:
            raise RunError(
                f"{folder.path} was begun with --{name} {known}, so it cannot go on with {value}: leave it "
                "as it was"
            )
    if source.fingerprint(config["source_begins"]["bytes"]) != config["source_begins"]:
        raise another_source(source.name, 1)
    run.check_states()
    run.clean_up()
    parts = (run.layout, run.target, run.settings.key)
    column_kinds(source, *parts)  # raises if a column is gone
    say(f"going on after round {run.trace.rounds:,}")
    run.finished = False
    return run, source, pieces(source, source.blocks(run.mark), *parts, run.done)


@contextlib.contextmanager
def _closed_on_error(*things):
    try:
        yield
    except BaseException:
        for thing in things:
            thing.close()
        raise


def default_folder(source_path):
    """The run folder if none was named: SOURCE.run in the current folder, without the suffix of a format."""
    name = "standard-input" if source_path == "-" else Path(source_path).name
    for suffix in (*PACKED, *SUFFIXES):
        name = name[: -len(suffix)] if name.lower().endswith(suffix) else name
    return Path(f"{name or 'rows'}.run")


def learn(run, source, rows, every, progress, stopped):
    """Learn until there are no more rows or `stopped()`. `every`: rounds and seconds between checkpoints."""
    ahead, last, since = ReadAhead(rows), time.monotonic(), run.trace.rounds
    rounds, seconds = every
    run.start_clock()

    def after():
        nonlocal last, since
        share = (run.done - piece.first) / len(piece.rows)
        read = piece.read and piece.read[0] + share * (piece.read[1] - piece.read[0])
        due = run.trace.rounds - since >= rounds or time.monotonic() - last >= seconds
        if due or run.log.waiting >= _MOST_WAITING:
            run.checkpoint()
            last, since = time.monotonic(), run.trace.rounds
        progress(run, source, read)
        return stopped()

    try:
        while not stopped():
            piece = ahead.next(stopped)
            if piece is None:
                break
            run.expected = max(run.expected, _expected(piece, source))
            run.choose_compiled(piece, progress)
            if run.learn(piece, after):
                break
        run.finished = not stopped()
        if source.unfinished and run.finished:
            progress.note(
                "the last line has no line end, so it may be unfinished: not learned from; --resume learns "
                "from it when its end is there"
            )
    except (SourceError, OutputLost):
        _save(run)  # the rest cannot be read, or the output has no reader: keep what was learned
        raise
    finally:
        ahead.stop()
    _save(run)
    return run


def _expected(piece, source):
    """The number of rows of the source, from those so far and their share of its bytes."""
    return int(piece.rows[-1] * (source.size or 0) / piece.read[1]) if piece.read and piece.read[1] else 0


def _save(run):
    run.checkpoint()
    if run.trace.rounds:
        run.write_results()


class ReadAhead:
    """The items of an iterator. A thread makes the next item while the current one is used."""

    def __init__(self, items):
        self._queue: queue.Queue = queue.Queue(1)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._fill, args=(items,), daemon=True)
        self._thread.start()

    def _fill(self, items):
        try:
            for item in items:
                if not self._put(item):
                    return
            self._put(None)
        except BaseException as problem:
            self._put(problem)

    def _put(self, item):
        while not self._stopped.is_set():
            with contextlib.suppress(queue.Full):
                self._queue.put(item, timeout=0.1)
                return True
        return False

    def next(self, stopped):
        """The next item; None if there is none left, or if `stopped()` while waiting."""
        while True:
            try:
                item = self._queue.get(timeout=0.1)
            except queue.Empty:
                if stopped():
                    return None
                continue
            if isinstance(item, BaseException):
                raise item
            return item

    def stop(self):
        """End the thread. One that waits for a pipe is not waited for; it ends with the process."""
        self._stopped.set()
        self._thread.join(timeout=1.0)
