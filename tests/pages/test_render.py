"""Pages are made of values from files: none of them becomes markup, and none is unbounded."""

import jinja2
import pytest

from holdfast.pages import render


@pytest.fixture
def fill(monkeypatch):
    """Fill in a template that is given as text."""
    environment = render.environment()
    return lambda text, **values: environment.from_string(text).render(values)


def test_a_value_is_text_and_never_markup(fill):
    assert fill("{{ name }}", name="<b>&\x1b[31m") == r"&lt;b&gt;&amp;\x1b[31m"
    assert fill("{{ name | whole }}", name="<b>\n") == r"&lt;b&gt;\n"


def test_a_value_is_cut_unless_it_is_a_sentence_of_ours(fill):
    assert fill("{{ name }}", name="k" * 1_000) == "k" * 199 + "…"
    assert fill("{{ words | whole }}", words="k" * 1_000) == "k" * 1_000


def test_numbers_are_aligned_on_the_right_and_text_on_the_left(fill):
    text = '{% from "parts.html" import table %}{{ table(("a", "b"), rows) }}'
    cells = fill(text, rows=[("<x>", 1234), ("y", None)]).replace("\n", "")
    assert '<th>a</th><th class="number">b</th>' in cells
    assert '<td>&lt;x&gt;</td><td class="number">1,234</td>' in cells
    assert '<td>y</td><td class="number"></td>' in cells


def test_a_value_that_is_missing_is_an_error(fill):
    with pytest.raises(jinja2.UndefinedError):
        fill("{{ nothing }}")
