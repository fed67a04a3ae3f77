"""Files that are odd in every way that logs, exports and broken disks are."""

import datetime
import decimal
import gzip
import io
import json

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
from hypothesis import strategies as st

NAMES = [
    "a",
    "b",
    "y",
    "who",
    "",
    " y ",
    "y",
    "a,b",
    'say "x"',
    "é",
    "\u202ename",
    "\x1b[31m",
    "x" * 5000,
    "a\nb",
]
CELLS = [
    *("0", "1", "-2.5", "3e4", "1e999", "-1e308", "1e-320", "nan", "NaN", "inf", "-inf", "", "NA", "?"),
    *(
        "true",
        "FALSE",
        "007",
        "7.0",
        "1_000",
        "1,5",
        " 4 ",
        "+5",
        "0x1f",
        "1e",
        "--1",
        "٣",
        "1700000000000000001",
    ),
    *("2024-01-31", "2024-02-30T25:00", "0001-01-01 00:00:00", "9999-12-31T23:59:59Z", "x", "y", "p", "q"),
    *(
        '"',
        '""',
        'a"b',
        "a\nb",
        "a\r\nb",
        "a,b",
        "a;b",
        "\t",
        "\x00",
        "\x1b[2J",
        "\ud800",
        "😀",
        "z" * 70_000,
    ),
]
BYTES = [
    b"\xff",
    b"\xfe\xff",
    b"\x00",
    b'"',
    b"\n",
    b"\r",
    b",",
    b"\xef\xbb\xbf",
    b"\xc3",
    b"{",
    b":",
    b"#",
    b"1e5",
]
ENCODINGS = ["utf-8"] * 24 + ["utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp1252", "utf-32"]


@st.composite
def plain_tables(draw):
    """Names and rows that could be learned from, with some odd cells."""
    names = ["a", "b", "who", "y"][: draw(st.integers(2, 4))]
    names[-1] = "y"
    count, odd = draw(st.integers(0, 24)), draw(st.integers(0, 4))
    count, end = count or 30, draw(st.sampled_from(["", ".5"]))
    rows = [[f"{(7 * i + 3 * j) % 11}{end}" for j in range(len(names))] for i in range(count)]
    for _ in range(odd):
        if rows:
            row = rows[draw(st.integers(0, count - 1))]
            row[draw(st.integers(0, len(names) - 1))] = draw(st.sampled_from(CELLS))
    return names, rows


@st.composite
def odd_tables(draw):
    names = draw(st.lists(st.sampled_from(NAMES), min_size=0, max_size=6))
    width = (
        st.integers(max(len(names) - 1, 0), len(names) + 1) if draw(st.booleans()) else st.just(len(names))
    )
    rows = [
        [draw(st.sampled_from(CELLS)) for _ in range(draw(width))] for _ in range(draw(st.integers(0, 8)))
    ]
    return names, rows


def delimited(names, rows, mark, end, quotes):
    def cell(text):
        return '"' + text.replace('"', '""') + '"' if quotes else text

    return end.join(mark.join(map(cell, row)) for row in [names, *rows])


def json_lines(names, rows):
    def value(text):
        try:
            return json.loads(text)
        except ValueError:
            return text

    return "\n".join(json.dumps(dict(zip(names, map(value, row), strict=False))) for row in rows)


def svmlight(rows):
    return "\n".join(
        " ".join([row[0], *(f"{i}:{c}" for i, c in enumerate(row[1:], 1))]) for row in rows if row
    )


@st.composite
def texts(draw):
    """A suffix and the bytes of a text."""
    names, rows = draw(st.one_of(plain_tables(), plain_tables(), plain_tables(), odd_tables()))
    suffix = draw(st.sampled_from(["csv", "csv", "csv", "tsv", "jsonl", "jsonl", "svm", "txt"]))
    if suffix == "jsonl":
        text = json_lines(names, rows)
    elif suffix == "svm":
        text = svmlight([row[::-1] for row in rows])
    else:
        mark = "\t" if suffix == "tsv" else draw(st.sampled_from([",", ",", ",", ";", "|"]))
        text = delimited(
            names,
            rows,
            mark,
            draw(st.sampled_from(["\n", "\n", "\n", "\n", "\r\n", "\r\n", "\r"])),
            draw(st.booleans()),
        )
    text += draw(st.sampled_from(["\n", "\n", "\n", "", "\n\n", "\r\n", "\x1a"]))
    return suffix, text.encode(draw(st.sampled_from(ENCODINGS)), "replace")


def columns(count):
    """A column of every type of Arrow that a file may have."""
    day, moment = datetime.date(2024, 1, 31), datetime.datetime(2024, 1, 31, 12)
    made = [
        pa.array([i % 5 for i in range(count)], pa.int8()),
        pa.array([(1 << 63) + i for i in range(count)], pa.uint64()),
        pa.array([i * 1.5 for i in range(count)], pa.float32()),
        pa.array([[1e308, float("nan"), float("inf"), 0.0][i % 4] for i in range(count)]),
        pa.array([None] * count, pa.null()),
        pa.array([i % 2 == 0 for i in range(count)]),
        pa.array([f"t{i % 3}" for i in range(count)]),
        pa.array([f"{i}" for i in range(count)], pa.large_string()),
        pa.array([f"{i % 2}" for i in range(count)]).dictionary_encode(),
        pa.array([bytes([i % 256]) for i in range(count)], pa.binary()),
        pa.array([[i] for i in range(count)]),
        pa.array([{"q": i} for i in range(count)]),
        pa.array([[(i, 1.0)] for i in range(count)], pa.map_(pa.int64(), pa.float64())),
        pa.array([decimal.Decimal(i) / 4 for i in range(count)], pa.decimal128(20, 2)),
        pa.array([day] * count),
        pa.array([moment] * count, pa.timestamp("ns", "Europe/Berlin")),
        pa.array([-(10**17) + i for i in range(count)], pa.timestamp("s")),
        pa.array(list(range(count)), pa.duration("ms")),
        pa.array(list(range(count)), pa.time32("s")),
    ]
    return made


@st.composite
def typed(draw):
    """A suffix and the bytes of a Parquet or Arrow file."""
    count = draw(st.integers(0, 12))
    chosen = draw(st.lists(st.sampled_from(range(19)), min_size=1, max_size=4, unique=True))
    found = dict(zip(["y", "a", "b", "who"], [columns(count)[i] for i in chosen], strict=False))
    sink, suffix = io.BytesIO(), draw(st.sampled_from(["parquet", "arrow", "arrows"]))
    table = pa.table(found)
    try:
        if suffix == "parquet":
            pq.write_table(table, sink, compression=draw(st.sampled_from(["none", "snappy", "zstd"])))
        elif suffix == "arrow":
            feather.write_feather(table, sink, compression="uncompressed")
        else:
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)
    except pa.ArrowException:  # a type that this format cannot hold
        return suffix, b""
    return suffix, sink.getvalue()


@st.composite
def damaged(draw, data):
    """The same bytes with some of them changed, added, removed or repeated."""
    data = bytearray(data)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(data)))
        kind = draw(st.integers(0, 4))
        if kind == 0 and place < len(data):
            data[place] ^= 1 << draw(st.integers(0, 7))
        elif kind == 1:
            data[place:place] = draw(st.sampled_from(BYTES))
        elif kind == 2:
            del data[place : place + draw(st.integers(1, 40))]
        elif kind == 3:
            data[place:place] = data[max(place - 60, 0) : place]
        else:
            del data[place:]
    return bytes(data)


@st.composite
def odd_files(draw):
    """The name and the content of a file."""
    suffix, data = draw(st.one_of(texts(), texts(), texts(), typed()))
    if draw(st.integers(0, 3)) == 0:
        data = draw(damaged(data))
    if draw(st.integers(0, 7)) == 0:
        suffix, data = f"{suffix}.gz", gzip.compress(data, 1, mtime=0)
        if draw(st.integers(0, 1)) == 0:
            data = draw(damaged(data))
    return f"rows.{suffix}", data
