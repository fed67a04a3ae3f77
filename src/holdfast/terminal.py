"""All printing: no data can control the terminal, and lost output is an error."""

import contextlib
import errno
import json
import math
import os
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TextIO

# Exit statuses. The last four are 128 + SIGHUP, SIGINT, SIGPIPE and SIGTERM, as a shell reports them.
DONE, FAILED, WRONG, TOO_MANY_SKIPPED = 0, 1, 2, 3
HUNG_UP, STOPPED, BROKEN_PIPE, TERMINATED = 129, 130, 141, 143
_LONGEST = 4_000  # characters of a line
_LAST = 1_000  # characters of the end of a line that is cut


class Refusal(ValueError):  # noqa: N818  (a sentence for the user)
    """What is wrong with an option, a file or a folder, and the remedy, in one sentence."""


class OutputLost(Exception):  # noqa: N818  (it ends a command, and need not be an error)
    """Standard output cannot be written to.

    `words` is the message, empty if the reader of the pipe ended, and `status` the exit status that fits.
    """

    def __init__(self, problem: OSError) -> None:
        super().__init__(problem)
        broken = isinstance(problem, BrokenPipeError)
        self.status = BROKEN_PIPE if broken else FAILED
        self.words = "" if broken else _reason(problem)

    def report(self) -> int:
        """Print the message, if there is one; return the exit status."""
        if self.words:
            print_error(self.words)
        return self.status


def _reason(problem: OSError) -> str:
    if problem.errno == errno.EBADF:
        return "standard output is closed, and there is something to print: redirect it, as with >/dev/null"
    return f"standard output: {problem.strerror or problem}"


def visible(value: object, most: int | None = None) -> str:
    r"""The text of a value in one line of printable characters, at most `most` of them.

    Control characters, line ends, invisible characters, those that change the direction of text, and bytes
    of a file name that are not UTF-8 are replaced by escapes.

    >>> print(visible("\x1b[31mred\n"), visible("x" * 100, 10))
    \x1b[31mred\n xxxxxxxxx…
    """
    text = str(value)
    found = text if most is None else text[:most]
    if not found.isprintable():
        found = "".join(each if each.isprintable() else _escaped(each) for each in found)
    if most is not None and max(len(text), len(found)) > most:
        found = f"{found[: most - 1]}…"
    return found


def _escaped(character: str) -> str:
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:  # a byte of a file name that is not UTF-8 (surrogateescape)
        return f"\\x{number - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


def quoted(value: object, most: int = 80) -> str:
    """The result of `visible` in quotes: for a name or a cell in a sentence."""
    return f"'{visible(value, most)}'"


def listed(names: Sequence[object], most: int, width: int = 80) -> str:
    """Names in a sentence.

    >>> listed(["a", "b", "c", "d"], 2), listed(["a", "b"], 2)
    ('a, b and 2 more', 'a, b')
    """
    shown = ", ".join(visible(name, width) for name in names[:most])
    return f"{shown} and {len(names) - most:,} more" if len(names) > most else shown


def percent(share: float) -> str:
    """A share in percent, with two digits.

    >>> percent(0.0767), percent(1.0)
    ('7.7 %', '100 %')
    """
    return f"{100.0 * share:.{2 if share < 0.995 else 3}g} %"


def shown(value: float) -> str:
    """A number as people write it: 236,900 and 0.5, not 2.369e+05.

    >>> shown(236900.3), shown(0.123456), shown(1234.5), shown(-3.0), shown(2e-7)
    ('236,900', '0.1235', '1,234.5', '-3', '2e-07')
    """
    if not math.isfinite(value):
        return str(value)
    if (value == round(value) or abs(value) >= 1e4) and abs(value) < 1e15:
        return f"{value:,.0f}"
    if 1e-4 <= abs(value) < 1e15:
        digits = max(4 - len(f"{abs(value):.0f}") + (abs(value) < 0.5), 1)
        digits += max(-math.floor(math.log10(abs(value))) - 1, 0)
        return f"{value:,.{digits}f}".rstrip("0").rstrip(".")
    return f"{value:.3g}"


def as_lines_below(head: Sequence[str], rows: Sequence[tuple[Sequence[str], str]]) -> list[str]:
    """A table of 80 columns. Below a row is its note, if it has one, as a line of its own.

    A cell that is too long is cut, so that the columns stay in line.

    >>> print(*as_lines_below(("column", "read as"), [(("price", "number"), "in dollars")]), sep="\\n")
    column  read as
    price   number
        in dollars
    """
    most = [max(len(row[i]) for row in [head, *(cells for cells, _ in rows)]) for i in range(len(head))]
    last = len(head) - 1
    widths = [min(width, 24 if i == 0 else 36) for i, width in enumerate(most)]
    while sum(widths) + 2 * last > 80 and max(widths) > 8:
        widths[widths.index(max(widths))] -= 1
    lines = []
    for cells, note in [(head, ""), *rows]:
        line = "  ".join(visible(cell, width).ljust(width) for cell, width in zip(cells, widths, strict=True))
        lines.append(line.rstrip())
        lines += folded(note, 80, "    ", "    ")
    return lines


def folded(text: str, width: int, indent: str, first: str = "") -> list[str]:
    """A text as lines of this width. Words are not cut, such as paths."""
    how: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=indent, **how)


def tell(*lines: object) -> None:
    """Print results on standard output, a line each."""
    _write(sys.stdout, "".join(f"{_wrapped(_line(text), sys.stdout)}\n" for text in lines))


def print_json(found: Any) -> None:
    """Print one line of JSON on standard output, in ASCII. Values are not cut."""
    _write(sys.stdout, as_json(found) + "\n")


def as_json(found: Any, indent: int | None = None) -> str:
    """JSON of printable ASCII. A number that is not finite is null, because JSON has no such numbers.

    >>> as_json({"size": math.inf, "rows": (1.5, math.nan)})
    '{"size": null, "rows": [1.5, null]}'
    """
    try:
        text = json.dumps(found, indent=indent, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(found), indent=indent)
    return text.replace("\x7f", "\\u007f")


def _finite(found: Any) -> Any:
    """The same dictionaries and lists, with None for numbers that are not finite."""
    if isinstance(found, dict):
        return {key: _finite(value) for key, value in found.items()}
    if isinstance(found, list | tuple):
        return [_finite(value) for value in found]
    return None if isinstance(found, float) and not math.isfinite(found) else found


def write_bytes(data: bytes) -> None:
    """Write bytes to standard output."""
    with _detect_lost_output(sys.stdout):
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def print_note(text: object) -> None:
    """Print a sentence on standard error. If that fails, the work goes on."""
    with contextlib.suppress(OutputLost):
        _write(sys.stderr, f"{_wrapped(_line(text), sys.stderr)}\n")


def print_error(text: object) -> None:
    """Print an error message on standard error."""
    print_note(f"holdfast: {text}")


def is_live(stream: TextIO) -> bool:
    """Whether a line of this stream can be overwritten: on a terminal, and in a cell of a notebook."""
    return stream.isatty() or _in_notebook(stream)


def _in_notebook(stream: TextIO) -> bool:
    return type(stream).__module__.partition(".")[0] == "ipykernel"


def overwrite(text: object) -> None:
    """Show a text on the last line of a terminal or cell, until the next replaces it; nothing elsewhere."""
    if not is_live(sys.stderr):
        return
    width = _columns(sys.stderr) - 1
    line = _line(text)
    if len(line) > width:  # without the last figures, if there are several
        line = line[: width + 1].rpartition(", ")[0] or line[:width]
    erase, line = ("", line.ljust(width)) if _in_notebook(sys.stderr) else ("\033[K", line)
    with contextlib.suppress(OutputLost):
        _write(sys.stderr, f"\r{erase}{line}\r")


def _wrapped(line: str, stream: TextIO) -> str:
    """The line, on a terminal in several if it is too long; those after the first are indented."""
    if not stream.isatty() or len(line) <= _columns(stream):
        return line
    indent = " " * min(len(line) - len(line.lstrip()) + 2, 12)
    return "\n".join(folded(line, _columns(stream), indent))


def _columns(stream: TextIO) -> int:
    with contextlib.suppress(OSError):
        return os.get_terminal_size(stream.fileno()).columns or 80
    return 80


class ProgressLine:
    """Shows how much of the work is done: a bar with the time left, which tqdm computes, and some words.

    The clock starts at the first call: the time before it says nothing about the speed of the work.
    """

    def __init__(self) -> None:
        self._start, self._first = math.nan, 0.0

    def show(self, words: str, done: float = 0, total: float | None = None) -> None:
        """Replace the line of the terminal or cell; without a bar if the total is unknown."""
        if not is_live(sys.stderr):
            return
        if math.isnan(self._start):
            self._start, self._first = time.monotonic(), done
        overwrite(self._bar(words, min(done, total), total) if total else words)

    def _bar(self, words: str, done: float, total: float) -> str:
        from tqdm import tqdm

        left = "{remaining} left, " if done > self._first else ""
        return tqdm.format_meter(
            done,
            total,
            time.monotonic() - self._start,
            prefix=words,
            initial=self._first,
            ascii="░█",
            bar_format=f"{{bar:12}} {{percentage:3.0f}} %  {left}{{desc}}",
        )

    def clear(self) -> None:
        overwrite("")


@contextlib.contextmanager
def progress_bar(total: int, unit: str) -> Iterator[Callable[[int], object]]:
    """Show a bar on a terminal or in a notebook, nothing elsewhere: that of tqdm, or a line without it.

    Yields a function, to be called with the number of units that were done since its last call.
    """
    if not is_live(sys.stderr):
        yield lambda count: None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        done = 0

        def add(count: int) -> None:
            nonlocal done
            done += count
            overwrite(f"{percent(done / max(total, 1))} of {total:,} {unit}")

        try:
            yield add
        finally:
            overwrite("")
    else:
        with tqdm(total=total, unit=f" {unit}", unit_scale=True) as bar:
            yield bar.update


def open_streams() -> None:
    """Open the standard streams that the shell closed (`>&-`); else the next file would get their number.

    The replacement of standard output is read-only, so that printing there is still an error.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def _line(text: object) -> str:
    text = visible(text)
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST - _LAST]} … {text[-_LAST:]}"


def _write(stream: TextIO, text: str) -> None:
    encoding = stream.encoding or "utf-8"
    with _detect_lost_output(stream):
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()


@contextlib.contextmanager
def _detect_lost_output(stream: TextIO) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        with contextlib.suppress(OSError):  # the rest of its buffer would raise again when Python exits
            sink = os.open(os.devnull, os.O_WRONLY)
            os.dup2(sink, stream.fileno())
            os.close(sink)
        raise OutputLost(problem) from None
