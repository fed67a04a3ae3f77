"""Each example of the gallery prints what its page says, and draws the picture on it."""

import re

import gallery
import pytest
from samples import slow

ALL = pytest.mark.parametrize("name", gallery.EXAMPLES)
LONG = ("poisoned_spam", "portfolio", "heavy_tails", "fleet_of_meters", "grid_search")  # two to three seconds


@pytest.mark.parametrize("name", [slow(name) if name in LONG else name for name in gallery.EXAMPLES])
def test_the_page_has_what_the_script_prints_and_draws(name, tmp_path):
    if name in gallery.NEEDS:
        pytest.importorskip(gallery.NEEDS[name], reason="not installed: make test-all installs it")
    pytest.importorskip("matplotlib")
    from matplotlib.image import imread

    printed = gallery.run(name, tmp_path / "drawn.png")
    assert gallery.page(name, printed) == (gallery.PAGES / f"{name}.md").read_text(encoding="utf-8")
    drawn, shown = imread(tmp_path / "drawn.png"), imread(gallery.PAGES / f"{name}.png")
    assert drawn.shape == shown.shape
    assert abs(drawn - shown).mean() < 0.02  # fonts may differ a little


def figures(text):
    return set(re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", text))


@ALL
def test_the_page_prints_every_figure_that_its_words_claim(name):
    printed = (gallery.PAGES / f"{name}.md").read_text(encoding="utf-8").split("```")[1]
    claimed = re.sub(r"`[^`]*`", "", gallery.words(name).result)  # without code
    assert figures(claimed)
    assert figures(claimed) <= figures(printed)


@ALL
def test_the_code_fits_a_screen_and_the_picture_a_page(name):
    assert len(gallery.words(name).code.splitlines()) <= 65
    assert (gallery.PAGES / f"{name}.png").stat().st_size < 60_000


def test_every_script_is_in_the_index():
    scripts = {path.stem for path in gallery.SCRIPTS.glob("*.py")} - {"common"}
    assert scripts == set(gallery.EXAMPLES)
    assert gallery.index() == (gallery.PAGES / "index.md").read_text(encoding="utf-8")


def test_the_data_of_the_examples_are_small_and_have_a_licence():
    files = sorted((gallery.SCRIPTS.parent / "data").glob("*.gz"))
    assert 0 < sum(path.stat().st_size for path in files) < 1_000_000
    origin = (gallery.SCRIPTS.parent / "data" / "README.md").read_text(encoding="utf-8")
    for path in files:
        section = origin.split(f"## {path.name}\n")[1].split("\n## ")[0]
        assert "Licence:" in section and "Origin:" in section
