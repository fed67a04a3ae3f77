"""All printing: no data can control the terminal, and lost output is an error."""

import contextlib
import errno
import json
import math
import os
import sys
import textwrap
import time

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

    def __init__(self, problem):
        super().__init__(problem)
        broken = isinstance(problem, BrokenPipeError)
        self.status = BROKEN_PIPE if broken else FAILED
        self.words = "" if broken else _reason(problem)

    def report(self):
        """Print the message, if there is one; return the exit status."""
        if self.words:
            print_error(self.words)
        return self.status


def _reason(problem):
    if problem.errno == errno.EBADF:
        return "standard output is closed, and there is something to print: redirect it, as with >/dev/null"
    return f"standard output: {problem.strerror or problem}"


def visible(value, most=None):
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


def _escaped(character):
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:  # a byte of a file name that is not UTF-8 (surrogateescape)
        return f"\\x{number - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


def quoted(value, most=80):
    """The result of `visible` in quotes: for a name or a cell in a sentence."""
    return f"'{visible(value, most)}'"


def percent(share):
    """A share in percent, with two digits.

    >>> percent(0.0767), percent(1.0)
    ('7.7 %', '100 %')
    """
    return f"{100.0 * share:.{2 if share < 0.995 else 3}g} %"


def tell(*lines):
    """Print results on standard output, a line each."""
    _write(sys.stdout, "".join(f"{_wrapped(_line(text), sys.stdout)}\n" for text in lines))


def print_json(found):
    """Print one line of JSON on standard output, in ASCII. Values are not cut."""
    _write(sys.stdout, as_json(found) + "\n")


def as_json(found, indent=None):
    """JSON of printable ASCII. A number that is not finite is null, because JSON has no such numbers.

    >>> as_json({"size": math.inf, "rows": (1.5, math.nan)})
    '{"size": null, "rows": [1.5, null]}'
    """
    try:
        text = json.dumps(found, indent=indent, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(found), indent=indent)
    return text.replace("\x7f", "\\u007f")


def _finite(found):
    """The same dictionaries and lists, with None for numbers that are not finite."""
    if isinstance(found, dict):
        return {key: _finite(value) for key, value in found.items()}
    if isinstance(found, list | tuple):
        return [_finite(value) for value in found]
    return None if isinstance(found, float) and not math.isfinite(found) else found


def write_bytes(data):
    """Write bytes to standard output."""
    with _detect_lost_output(sys.stdout):
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def print_note(text):
    """Print a sentence on standard error. If that fails, the work goes on."""
    with contextlib.suppress(OutputLost):
        _write(sys.stderr, f"{_wrapped(_line(text), sys.stderr)}\n")


def print_error(text):
    """Print an error message on standard error."""
    print_note(f"holdfast: {text}")


def is_live(stream):
    """Whether a line of this stream can be overwritten: on a terminal, and in a cell of a notebook."""
    return stream.isatty() or _in_notebook(stream)


def _in_notebook(stream):
    return type(stream).__module__.partition(".")[0] == "ipykernel"


def overwrite(text):
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


def _wrapped(line, stream):
    """The line, on a terminal in several if it is too long; those after the first are indented."""
    if not stream.isatty() or len(line) <= _columns(stream):
        return line
    indent = " " * min(len(line) - len(line.lstrip()) + 2, 12)
    whole = {"break_long_words": False, "break_on_hyphens": False}  # such as paths
    return textwrap.fill(line, _columns(stream), subsequent_indent=indent, **whole)


def _columns(stream):
    with contextlib.suppress(OSError):
        return os.get_terminal_size(stream.fileno()).columns or 80
    return 80


class ProgressLine:
    """Shows how much of the work is done: a bar with the time left, which tqdm computes, and some words.

    The clock starts at the first call: the time before it says nothing about the speed of the work.
    """

    def __init__(self):
        self._start, self._first = None, 0

    def show(self, words, done=0, total=None):
        """Replace the line of the terminal or cell; without a bar if the total is unknown."""
        if not is_live(sys.stderr):
            return
        if self._start is None:
            self._start, self._first = time.monotonic(), done
        overwrite(self._bar(words, min(done, total), total) if total else words)

    def _bar(self, words, done, total):
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

    def clear(self):
        overwrite("")


def open_streams():
    """Open the standard streams that the shell closed (`>&-`); else the next file would get their number.

    The replacement of standard output is read-only, so that printing there is still an error.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def _line(text):
    text = visible(text)
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST - _LAST]} … {text[-_LAST:]}"


def _write(stream, text):
    encoding = stream.encoding or "utf-8"
    with _detect_lost_output(stream):
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()


@contextlib.contextmanager
def _detect_lost_output(stream):
    try:
        yield
    except OSError as problem:
        with contextlib.suppress(OSError):  # the rest of its buffer would raise again when Python exits
            sink = os.open(os.devnull, os.O_WRONLY)
            os.dup2(sink, stream.fileno())
            os.close(sink)
        raise OutputLost(problem) from None
