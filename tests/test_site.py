"""The site has no broken link, loads nothing from elsewhere, and has a page for each public name."""

import re
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import api_reference
import pytest
import site_builder

pytestmark = pytest.mark.slow  # the site takes five seconds to build
pytest.importorskip("zensical")
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}


class Page(HTMLParser):
    """The names, the links and the loaded files of a page."""

    def __init__(self, text):
        super().__init__()
        self.names, self.links, self.loaded = set(), set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.names |= {found[name] for name in ("id", "name") if found.get(name)}
        if tag == "a" and found.get("href"):
            self.links.add(found["href"])
        if found.get(LOADED.get(tag)) and found.get("rel") not in ("canonical", "next", "prev"):
            self.loaded.add(found[LOADED[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("build")
    assert site_builder.main(folder) == 0
    return folder / "site"


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def test_no_link_is_broken(site, pages):
    broken = []
    for path, page in pages.items():
        base = site if path.name == "404.html" else path.parent
        for link in page.links | page.loaded:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            place = site / parts.path[1:] if parts.path.startswith("/") else base / unquote(parts.path)
            target = place.resolve() if parts.path else path
            if not target.is_file():
                broken.append(f"{path.relative_to(site)}: {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].names:
                broken.append(f"{path.relative_to(site)}: {link} (no such heading)")
    assert broken == []


def test_nothing_is_loaded_from_another_place(pages):
    assert {file for page in pages.values() for file in page.loaded if "://" in file} == set()


def test_every_public_name_has_a_page(site):
    package = api_reference.load()
    for page, paths in api_reference.PAGES.items():
        for name in {name for path in paths for name in api_reference.public(package[path])}:
            text = (site / "api" / page / f"{name.lower()}.html").read_text(encoding="utf-8")
            assert f'<h1 id="{name.lower()}">{name}' in text


def test_every_page_of_docs_is_in_the_navigation_and_in_llms_txt(site):
    listed = set(re.findall(r"\(([^)]+)\.html\)", (site / "llms.txt").read_text(encoding="utf-8")))
    assert {path.stem for path in site_builder.DOCS.glob("*.md")} <= listed
    assert all((site / f"{page}.html").is_file() for page in listed)


def test_search_finds_pages_by_their_text_and_leaves_out_sources(site):
    index = (site / "search.json").read_text(encoding="utf-8")
    assert '"start.html' in index and '"api/filters/topk.html' in index and '"source/' not in index


def test_the_search_works_in_local_files_without_a_network(site, browser):
    page = browser.new_page()
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto((site / "api" / "filters" / "topk.html").as_uri())
    page.keyboard.press("Control+k")
    page.keyboard.type("lock-out")
    page.get_by_text("after a change, everything is skipped").first.wait_for()
    assert all(url.startswith(("file:", "about:", "data:")) for url in requests)
    page.close()


@pytest.mark.parametrize(
    ("words", "pages"),
    [
        ("save model", {"messy-dataframe"}),
        ("huber", {"api/losses/huber"}),
        ("missing values", {"scikit-learn", "river"}),
    ],
)
def test_the_search_finds_the_page_among_the_first_results(site, browser, words, pages):
    page = browser.new_page()
    page.goto((site / "index.html").as_uri())
    page.keyboard.press("Control+k")
    page.keyboard.type(words)
    for name in pages:
        result = page.locator(f"a[href*='{name}.html?h={words.replace(' ', '+')}']").first
        result.wait_for()
        all_links = page.locator(f"a[href*='?h={words.replace(' ', '+')}']")
        found = [link.get_attribute("href") for link in all_links.all()[:8]]
        assert any(f"{name}.html" in link for link in found), found
    page.close()


def test_formulas_are_mathml_and_indices_are_low(site):
    text = (site / "math.html").read_text(encoding="utf-8")
    assert text.count("<math") >= 6 and "```" not in text
    assert "<var>w</var><sub>t</sub>" in text
    assert "<sub>" not in (site / "operations.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "html"),
    [
        ("max of ν_t over 2^{T−1}", "max of <var>ν</var><sub>t</sub> over 2<sup>T−1</sup>"),
        (
            "E_tφ_t, r_i",
            "<var>E</var><sub>t</sub><var>φ</var><sub>t</sub>, <var>r</var><sub>i</sub>",
        ),
        ("Σ_{s<t} n_{k_T}", "<var>Σ</var><sub>s&lt;t</sub> <var>n</var><sub><var>k</var><sub>T</sub></sub>"),
        (
            "metro_traffic, `w_t` and [x_t](a_b.md)",
            "metro_traffic, `w_t` and [<var>x</var><sub>t</sub>](a_b.md)",
        ),
        ("```\nw_t\n```", "```\nw_t\n```"),
    ],
)
def test_words_keep_their_underscores_and_letters_get_indices(words, html):
    assert site_builder.typeset(words) == html


def test_home_shows_install_code_and_picture_on_the_first_screen(site, browser):
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto((site / "index.html").as_uri())
    for place in ("text=pip install", "text=RobustRegressor().fit", ".hero img"):
        box = page.locator(place).first.bounding_box()
        assert box["y"] + box["height"] <= 800
    page.close()


@pytest.mark.parametrize(
    "name",
    ["index", "start", "why-a-filter", "which-tool", "comparison", "real-data", "math", "gallery/index"],
)
def test_a_page_is_not_wider_than_a_phone(site, browser, name):
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto((site / f"{name}.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()
