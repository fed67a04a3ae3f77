"""The benchmark runs, also without peers, and writes its figures. Nothing is timed here."""

import json
import math

import pytest

from holdfast.cli.main import main
from holdfast_lab.bench import peers
from holdfast_lab.bench.runner import NAMES
from holdfast_lab.bench.table import BEGIN, END

pytestmark = pytest.mark.slow  # its fixture runs every section


@pytest.fixture(scope="module")
def alone():
    """No peer is installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(peers, "PACKAGES", dict.fromkeys(peers.PACKAGES, "a-package-that-does-not-exist"))
        yield


@pytest.fixture(scope="module")
def folder(alone, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    (folder / "page.md").write_text(f"before\n{BEGIN}\n{END}\nafter\n")
    main(["bench", "--tiny", "--to", str(folder / "results"), "--write", str(folder / "page.md")])
    return folder


@pytest.fixture(scope="module")
def results(folder):
    return json.loads((folder / "results" / "bench.json").read_text())


def test_every_figure_is_a_number_with_a_unit(results):
    for section in results["sections"]:
        assert section["title"] and section["unit"] and section["rows"]
        assert all(row["note"] or math.isfinite(row["value"]) for row in section["rows"])


def test_every_section_is_measured(results):
    titles = " / ".join(section["title"] for section in results["sections"])
    words = (
        "dense",
        "cost of robustness",
        "the guard",
        "sparse",
        "one round",
        "many",
        "memory",
        "growth",
        "filter alone",
        "intervals and levels",
        "one row at a time",
        "long streams",
        "serving: predictions",
    )
    assert all(word in titles for word in (*words, "import", "a process", "the command line"))
    assert len(words) + 3 == len(NAMES)


def test_a_tiny_run_has_no_goals(results):
    assert not any(row["least"] or row["most"] for section in results["sections"] for row in section["rows"])


def test_machine_versions_and_date_are_written(results):
    about = results["about"]
    assert about["versions"].keys() == {"holdfast", "Python", "numpy", "numba", *peers.PACKAGES}
    assert about["machine"] and len(about["date"]) == 10 and about["scale"] == "tiny"


def test_a_missing_peer_has_a_row_that_says_so(results):
    rows = [row for section in results["sections"] for row in section["rows"] if row["note"]]
    # dense, sparse, one round, estimators, the first fit, one row, long
    assert len(rows) == 4 + 4 + 3 + 1 + 4 + 4 + 1 + 1 + 2
    assert {row["note"] for row in rows} == {"not installed: pip install './lab[bench]'"}


def test_only_results_are_left_in_the_folder(folder):
    pictures = {"growth.png", "speed.png"}
    assert {path.name for path in (folder / "results").iterdir()} == {"bench.json", *pictures}
    assert all((folder / "results" / name).read_bytes().startswith(b"\x89PNG") for name in pictures)


def test_the_page_names_the_command_that_wrote_it(folder):
    text = (folder / "page.md").read_text()
    assert "`holdfast bench --tiny --write page.md`" in text
    assert "dense: 100 rounds" in text and "import" not in text


def test_a_page_without_markers_is_refused_before_anything_is_measured(tmp_path, capsys):
    (tmp_path / "page.md").write_text("nothing here\n")
    assert main(["bench", "--tiny", "--to", str(tmp_path), "--write", str(tmp_path / "page.md")]) == 2
    assert "no place for the table" in capsys.readouterr().err


def test_a_file_is_played_from_another_disk_as_well(tmp_path):
    disk = tmp_path / "disk"
    assert main(["bench", "--tiny", "--only", "memory", "--to", str(tmp_path), "--disk", str(disk)]) == 2
    disk.mkdir()
    assert main(["bench", "--tiny", "--only", "memory", "--to", str(tmp_path), "--disk", str(disk)]) == 0
    _, file = json.loads((tmp_path / "bench.json").read_text())["sections"]
    played = [row["what"] for row in file["rows"] if row["what"].startswith("memory-mapped")]
    assert len(played) == 2 and played[1].endswith("from the disk of --disk")
    assert list(disk.iterdir()) == []
