"""A progress bar for long work: that of tqdm, or a line of text if tqdm is not installed."""

import contextlib
import sys

from holdfast.terminal import is_live, overwrite, percent


@contextlib.contextmanager
def progress_bar(total, unit):
    """Show a bar on a terminal or in a notebook, nothing elsewhere.

    Yields a function, to be called with the number of units that were done since its last call.
    """
    if not is_live(sys.stderr):
        yield lambda count: None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        with contextlib.closing(_Line(total, unit)) as line:
            yield line.add
    else:
        with tqdm(total=total, unit=f" {unit}", unit_scale=True) as bar:
            yield bar.update


class _Line:
    """How much is done, in percent, on the last line of the terminal or cell."""

    def __init__(self, total, unit):
        self._done, self._total, self._unit = 0, total, unit

    def add(self, count):
        self._done += count
        overwrite(f"{percent(self._done / max(self._total, 1))} of {self._total:,} {self._unit}")

    def close(self):
        overwrite("")
