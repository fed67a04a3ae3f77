"""Packed files are unpacked while they are read, whatever their names are; damaged ones are a sentence."""

import bz2
import gzip
import lzma

import pyarrow as pa
import pytest

from holdfast.io.byte_stream import ByteStream, SourceError
from holdfast.io.sources import open_source

DATA = b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(20_000))


def zstd(data):
    return pa.compress(data, codec="zstd", asbytes=True)


PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstd}


def content(path):
    stream = ByteStream(path)
    try:
        return b"".join(block.data for block in stream.blocks())
    finally:
        stream.close()


@pytest.mark.parametrize("suffix", PACKERS)
def test_each_packing_gives_the_bytes_and_the_format_of_the_name_inside(tmp_path, suffix):
    path = tmp_path / f"rows.tsv{suffix}"
    path.write_bytes(PACKERS[suffix](DATA.replace(b",", b"\t")))
    source = open_source(path)
    assert (source.names, source.delimiter) == (["a", "b"], "\t")
    source.close()
    path = path.rename(tmp_path / "rows")
    assert content(path) == DATA.replace(b",", b"\t")


@pytest.mark.parametrize("suffix", PACKERS)
def test_two_packed_parts_one_after_the_other_are_one_file(tmp_path, suffix):
    path = tmp_path / "rows"
    path.write_bytes(PACKERS[suffix](DATA[:9_000]) + PACKERS[suffix](DATA[9_000:]))
    assert content(path) == DATA


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("how", ["cut", "changed"])
def test_damage_is_a_sentence(tmp_path, suffix, how):
    data = bytearray(PACKERS[suffix](DATA))
    if suffix == ".zst" and how == "changed":
        data[4:9] = bytes(5)  # in the header: pyarrow writes no checksums
    elif how == "cut":
        data = data[: len(data) // 2]
    else:
        data[len(data) // 2 : len(data) // 2 + 40] = bytes(40)
    path = tmp_path / "rows"
    path.write_bytes(data)
    with pytest.raises(SourceError, match="its compression is damaged"):
        content(path)


def test_a_zip_archive_is_refused_with_the_remedy(tmp_path):
    (tmp_path / "rows.zip").write_bytes(b"PK\x03\x04" + bytes(100))
    with pytest.raises(SourceError, match="is a zip archive: unpack it first"):
        open_source(tmp_path / "rows.zip")


def test_a_text_that_begins_like_a_packed_file_is_text(tmp_path):
    (tmp_path / "rows.csv").write_bytes(b"BZh1,b\n1,2\n")
    source = open_source(tmp_path / "rows.csv")
    assert source.names == ["BZh1", "b"]
    source.close()
