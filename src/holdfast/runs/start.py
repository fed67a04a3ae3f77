"""Begin a run, go on with one, or open what it left behind."""

import contextlib
import json
from pathlib import Path

from holdfast.io.byte_stream import another
from holdfast.io.guess_columns import ROWS
from holdfast.io.sources import SourceError, open_source
from holdfast.io.tables import Head, guess_layout, guess_target, read_layout, read_target
from holdfast.runs.folder import Folder, RunError, damaged
from holdfast.runs.learning import CHECKPOINT, CONFIG, Run, is_start, to_json
from holdfast.runs.read_ahead import keys_of, pieces, readings
from holdfast.runs.settings import Settings, loss_for
from holdfast.terminal import quoted, visible

FORMAT = "holdfast run 1"


def begin(path, settings, to, say):
    """A new run, and the pieces to learn from."""
    settings.check()
    folder, source = Folder(to), open_source(path, settings.format)
    with _closed_if_in_vain(folder, source):
        return _begun(path, settings, folder, source, say)


def _begun(path, settings, folder, source, say):
    names = _chosen(source, settings)
    blocks = source.blocks()
    raw, samples = [], []
    while sum(len(sample.rows) for sample in samples) < ROWS:
        block = next(blocks, None)
        if block is None:
            break
        raw.append(block)
        samples.append(source.sample(block))
    if not sum(len(sample.rows) for sample in samples):
        raise SourceError(f"{source.name} has the names of columns, but no rows")
    head = Head.of(samples)
    target, sentence = guess_target(head, settings.target, settings.task, settings.labels, source.name)
    say(sentence)
    if settings.key is not None:
        keys_of(head.columns[settings.key], settings.key, source.name)  # raises, if it cannot be a key
    layout, said = guess_layout(head, names, settings.missing)
    for words in said:
        say(words)
    if not layout.columns:
        raise SourceError(f"{source.name}: no column is left to predict from")
    loss = loss_for(settings.loss, target.regression)
    say(f"features: {layout.breadth():,}, loss: {loss!r}, outliers: {settings.outliers}")
    folder.create()
    config = {
        "format": FORMAT,
        "source": str(path),
        "source_begins": source.begins(),
        "settings": settings.to_json(),
        "layout": layout.to_json(),
        "target": target.to_json(),
        "loss": repr(loss),
        "player": repr(settings.player(target.regression)),
    }
    folder.write([(CONFIG, to_json(config))])
    run = Run(folder, source.name, settings, layout, target)

    def all_blocks():
        yield from raw
        raw.clear()
        yield from blocks

    run.expected = _expected(source, samples)
    return run, source, pieces(source, all_blocks(), layout, target, settings.key)


def go_on(path, settings, to, say):
    """The run in this folder, and the pieces that are left."""
    folder, source = Folder(to), open_source(path, settings.format)
    with _closed_if_in_vain(folder, source):
        return _gone_on(settings, folder, source, say)


def _gone_on(settings, folder, source, say):
    to = folder.path
    folder.lock()
    run = open_run(to, folder)
    config = read_config(folder)
    for name, value in settings.to_json().items():
        known = getattr(config["settings"], name)
        if value != known:
            raise RunError(
                f"{to} was begun with --{name} {known}, so it cannot go on with {value}: leave it as it was"
            )
    if source.begins(config["source_begins"]["bytes"]) != config["source_begins"]:
        raise another(source.name, 1)
    run.games.check()
    folder.clean_up(run.parts)
    readings(source, run.layout, run.target, run.settings.key)  # raises, if a column is gone
    say(f"going on after round {run.trace.rounds:,}")
    run.finished = False
    blocks = source.blocks(run.mark)
    return run, source, pieces(source, blocks, run.layout, run.target, run.settings.key, run.done)


@contextlib.contextmanager
def _closed_if_in_vain(*things):
    try:
        yield
    except BaseException:
        for thing in things:
            thing.close()
        raise


def open_run(to, folder=None):
    """The run in a folder as its last checkpoint has it, or as it was told if there is none."""
    folder = folder or Folder(to)
    config = read_config(folder)
    run = Run(folder, config["source"], config["settings"], config["layout"], config["target"])
    return run.restore() if folder.has(CHECKPOINT) else run


def read_config(folder):
    """What a run was told, with the settings, the layout and the target as they are used."""
    path = folder.path / CONFIG
    try:
        config = json.loads(folder.read(CONFIG))
        if not isinstance(config, dict) or config.get("format") != FORMAT:
            raise ValueError(f"it is not {FORMAT!r}")
        if not all(isinstance(config.get(name), str) for name in ("source", "loss", "player")):
            raise ValueError("source, loss and player are texts")
        if not is_start(config.get("source_begins")):
            raise ValueError("source_begins has bytes and crc32")
        config["settings"] = Settings.from_json(config.get("settings"))
        config["layout"], config["target"] = (
            read_layout(config.get("layout")),
            read_target(config.get("target")),
        )
        config["settings"].player(config["target"].regression)
    except (ValueError, TypeError, OverflowError, RecursionError) as problem:
        raise problem if isinstance(problem, RunError) else damaged(path, problem) from None
    return config


def _expected(source, samples):
    """How many rounds there will be, as far as the first rows tell."""
    rows = sum(len(sample.rows) for sample in samples)
    return rows * (source.size or 0) // max(source.progress() or source.size or 1, 1)


def _chosen(source, settings):
    """The columns to predict from."""
    asked = [settings.target, *settings.features, *settings.drop, *([settings.key] if settings.key else [])]
    for name in asked:
        if name not in source.names:
            near = [visible(each, 40) for each in source.names[:20]]
            near += ["..."] if len(source.names) > 20 else []
            raise SourceError(f"{source.name} has no column {quoted(name)}; it has {', '.join(near)}")
    names = list(settings.features) or [name for name in source.names if name not in settings.drop]
    return [name for name in names if name not in (settings.target, settings.key)]


def where(source_path):
    """A folder for a run, if none was named: beside where one stands."""
    stem = "standard-input" if source_path == "-" else Path(source_path).name.split(".")[0]
    return Path(f"{stem}.run")
