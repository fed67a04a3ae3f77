"""What is downloaded is what is expected, or refused; and it becomes a table that the trials read."""

import hashlib
import io
import zipfile

import numpy as np
import pytest

from holdfast_lab.gauntlet.download import SOURCES, download, main
from holdfast_lab.trials.data import load


def spam(rng):
    rows = np.column_stack([rng.random((30, 57)).round(3), rng.integers(2, size=30)])
    return "\n".join(",".join(f"{cell:g}" for cell in row) for row in rows).encode()


def eeg(rng):
    head = [f"@ATTRIBUTE c{i} NUMERIC" for i in range(14)] + ["@ATTRIBUTE eyeDetection {0,1}", "", "@DATA"]
    rows = np.column_stack([4000.0 + rng.standard_normal((30, 14)).round(3), rng.integers(2, size=30)])
    rows[3, 5] = 700000.0
    return "\n".join([*head, *(",".join(f"{cell:g}" for cell in row) for row in rows)]).encode()


def air(rng):
    names = "Date;Time;CO(GT);PT08.S1(CO);C6H6(GT);PT08.S2(NMHC);T;RH;AH;;"
    targets = [str(i / 2).replace(".", ",") for i in range(9)]
    rows = [f"1/1/2004;18.00.00;2,6;{i};{y};{i};20,1;-200;0,7;;" for i, y in enumerate(targets)]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("AirQualityUCI.csv", "\n".join([names, *rows, ";;;;;;;;;;"]))
    return packed.getvalue()


@pytest.fixture
def served(tmp_path):
    def serve(name, content):
        path = tmp_path / "source"
        path.write_bytes(content)
        source = SOURCES[name]
        inner = zipfile.ZipFile(path).read(source.member) if source.member else content
        return source._replace(url=path.as_uri(), sha256=hashlib.sha256(inner).hexdigest())

    return serve


@pytest.mark.parametrize(("name", "make", "columns"), [("spambase", spam, 57), ("eeg_eye", eeg, 14)])
def test_tables_of_labels_are_shuffled_and_read(name, make, columns, served, tmp_path):
    download(tmp_path, name, served(name, make(np.random.default_rng(0))))
    (table,) = load(tmp_path, name)
    assert table.X.shape == (30, columns)
    assert set(table.y) == {-1.0, 1.0}
    assert table.marked.sum() == (1 if name == "eeg_eye" else 0)
    if name == "eeg_eye":
        assert np.flatnonzero(table.marked)[0] == list(np.random.RandomState(0).permutation(30)).index(3)


def test_a_packed_table_with_commas_for_points_is_read(served, tmp_path):
    download(tmp_path, "air_quality", served("air_quality", air(None)))
    (table,) = load(tmp_path, "air_quality")
    assert table.X.shape == (9, 5)
    assert table.y.tolist() == [i / 2 for i in range(9)]
    assert table.marked.all()


def test_a_source_that_has_changed_is_refused(served, tmp_path):
    source = served("spambase", spam(np.random.default_rng(0)))._replace(sha256="0" * 64)
    with pytest.raises(ValueError, match="has changed"):
        download(tmp_path, "spambase", source)
    assert not (tmp_path / "spambase").exists()


def test_without_a_network_the_command_says_so_in_a_sentence(tmp_path, monkeypatch):
    gone = SOURCES["spambase"]._replace(url=(tmp_path / "gone").as_uri())
    monkeypatch.setitem(SOURCES, "spambase", gone)
    monkeypatch.setattr("sys.argv", ["download", str(tmp_path), "spambase"])
    with pytest.raises(SystemExit, match=r"spambase was not downloaded from file:.*: .*No such file"):
        main()
    assert not (tmp_path / "spambase").exists()


def test_a_changed_source_ends_the_command_with_a_sentence(served, tmp_path, monkeypatch):
    source = served("spambase", spam(np.random.default_rng(0)))._replace(sha256="0" * 64)
    monkeypatch.setitem(SOURCES, "spambase", source)
    monkeypatch.setattr("sys.argv", ["download", str(tmp_path), "spambase"])
    with pytest.raises(SystemExit, match="has changed"):
        main()


def test_sources_are_pinned_to_a_commit_and_a_digest():
    for source in SOURCES.values():
        assert len(source.sha256) == 64
        assert any(len(part) == 40 for part in source.url.split("/"))
