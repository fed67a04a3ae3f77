"""Where text is printed: no data can control the terminal, and no lost output goes unnoticed."""

import contextlib
import errno
import json
import os
import sys
import time

# Exit statuses. The last three are 128 + SIGINT, SIGTERM and SIGPIPE: what a shell reports for these signals.
DONE, FAILED, WRONG, STOPPED, TERMINATED, BROKEN_PIPE = 0, 1, 2, 130, 143, 141
_LONGEST = 4_000  # characters of a line
_LAST = 1_000  # of these, how many of its end are shown if it is longer


class OutputLost(Exception):  # noqa: N818  (it ends a command, and may be what the reader wants)
    """Standard output cannot be written to.

    `words` is what to say about it, nothing if its reader left, and `status` the exit status that fits.
    """

    def __init__(self, problem):
        super().__init__(problem)
        left = isinstance(problem, BrokenPipeError)
        self.status = BROKEN_PIPE if left else FAILED
        self.words = "" if left else _reason(problem)

    def complained(self):
        """Say what is wrong, if there is something to say; return the exit status."""
        if self.words:
            complain(self.words)
        return self.status


def _reason(problem):
    if problem.errno == errno.EBADF:
        return "standard output is closed, and there is something to print: open it, such as with >/dev/null"
    return f"standard output: {problem.strerror or problem}"


def visible(value, most=None):
    r"""The text of a value in one line of printable characters, at most `most` of them.

    Control characters, line ends, invisible marks and those that turn the direction of writing are spelled
    out, as are bytes of a file name that are not UTF-8.

    >>> print(visible("\x1b[31mred\n"), visible("x" * 100, 10))
    \x1b[31mred\n xxxxxxxxx…
    """
    text = str(value)
    found = text if most is None else text[:most]
    if not found.isprintable():
        found = "".join(each if each.isprintable() else _spelled(each) for each in found)
    if most is not None and max(len(text), len(found)) > most:
        found = f"{found[: most - 1]}…"
    return found


def _spelled(character):
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:  # a byte of a file name that is not UTF-8 (surrogateescape)
        return f"\\x{number - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


def quoted(value, most=80):
    """The text of a value in quotes, as `visible` has it: for a name or a cell in a sentence."""
    return f"'{visible(value, most)}'"


def tell(*lines):
    """Results, on standard output: a line each."""
    _write(sys.stdout, "".join(f"{_line(text)}\n" for text in lines))


def show(found):
    """For machines: JSON in a line, on standard output. Values are whole; nothing in it but ASCII."""
    _write(sys.stdout, as_json(found) + "\n")


def as_json(found, indent=None):
    """JSON of printable ASCII."""
    return json.dumps(found, indent=indent).replace("\x7f", "\\u007f")


def pour(data):
    """Bytes as they are, on standard output."""
    with _losses_noticed(sys.stdout):
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def say(text):
    """A sentence on standard error. If it cannot be written, work goes on."""
    with contextlib.suppress(OutputLost):
        _write(sys.stderr, f"{_line(text)}\n")


def complain(text):
    say(f"holdfast: {text}")


def overwrite(text):
    """Show a text on the last line of a terminal, where the next one replaces it; nothing elsewhere."""
    if not sys.stderr.isatty():
        return
    with contextlib.suppress(OutputLost):
        _write(sys.stderr, f"\r\033[K{_line(text)[: _columns(sys.stderr) - 1]}\r")


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
        """Replace the line of the terminal; without a bar if the total is unknown."""
        if not sys.stderr.isatty():
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
    """Open what the shell closed (`>&-`), or the number of a closed one would go to the next file opened.

    What stands in for a closed standard output cannot be written to: to print there is still an error.
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
    with _losses_noticed(stream):
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()


@contextlib.contextmanager
def _losses_noticed(stream):
    try:
        yield
    except OSError as problem:
        with contextlib.suppress(OSError):  # what is still in its buffer would be an error again at the end
            sink = os.open(os.devnull, os.O_WRONLY)
            os.dup2(sink, stream.fileno())
            os.close(sink)
        raise OutputLost(problem) from None
