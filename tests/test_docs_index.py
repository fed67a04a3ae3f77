"""All pages are linked from docs/index.md, all links work, and all names in docs/design.md exist."""

import ast
import re
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS, SOURCE = ROOT / "docs", ROOT / "src" / "holdfast"
PAGES = [*sorted(DOCS.glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
DESIGN = (DOCS / "design.md").read_text(encoding="utf-8")
STEPS = re.findall(r"^\| (\d+) \| `([^`]+)` \| ([^|]+) \|", DESIGN, flags=re.MULTILINE)


def links(page):
    """The relative links of a page, without the part after #."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    return [target.partition("#")[0] for target in targets if not re.match(r"[a-z]+:|#", target)]


def defined(path):
    """The functions, classes and methods of a module."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{item.name}" for item in node.body if isinstance(item, ast.FunctionDef)}
    return found


def test_every_page_is_linked_from_the_index_and_the_readme_links_to_it():
    assert {page.name for page in DOCS.glob("*.md")} - {"index.md"} <= set(links(DOCS / "index.md"))
    assert "docs/index.md" in links(ROOT / "README.md")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_points_to_a_file(page):
    assert [link for link in links(page) if not (page.parent / link).exists()] == []


def anchors(page):
    """What a link to a heading of a page can name, as GitHub makes it."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, DOCS / "api" / "index.md"], ids=lambda page: page.name)
def test_every_link_to_a_heading_points_to_one(page):
    for path, anchor in re.findall(r"\]\(([\w./-]*)#([^)]+)\)", page.read_text(encoding="utf-8")):
        assert anchor in anchors((page.parent / path) if path else page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_module_that_a_page_names_exists(page):
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:[\w.]+/)*\w+\.py|(?:\w+/)+)`", text))
    places = (ROOT, ROOT / "src", SOURCE, SOURCE / "_compiled")
    assert sorted(name for name in named if not any((place / name).exists() for place in places)) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_says_is_in_a_file_is_there(page):
    said = re.findall(r"`(\w+)` (?:in|of)\s+`([\w/.]+\.py)`", page.read_text(encoding="utf-8"))
    for name, path in said:
        file = next(place / path for place in (ROOT, SOURCE) if (place / path).exists())
        assert re.search(rf"\b{name}\b", file.read_text(encoding="utf-8")), f"{path} has no {name}"


def test_every_module_has_a_row_in_the_table_of_modules():
    table = DESIGN[DESIGN.index("## The modules") : DESIGN.index("## The hooks")]
    modules = {path.name for path in SOURCE.glob("*.py")} - {"__init__.py"}
    packages = {f"{path.parent.name}/" for path in SOURCE.glob("*/__init__.py")}
    assert {name for name in modules | packages if f"`{name}`" not in table} == set()
    inner = {path.name for path in (SOURCE / "_compiled").glob("*.py")} - {"__init__.py"}
    assert {name for name in inner if f"`_compiled/{name}`" not in table} == set()


def test_each_walk_is_numbered_from_1_and_says_how_many_files_it_crosses():
    numbers = [int(number) for number, _, _ in STEPS]
    starts = [place for place, number in enumerate(numbers) if number == 1]
    lengths = [end - start for start, end in pairwise([*starts, len(numbers)])]
    assert numbers == [number for length in lengths for number in range(1, length + 1)]
    assert [int(count) for count in re.findall(r"\*\*(\d+) files\*\*", DESIGN)] == lengths


@pytest.mark.parametrize(("number", "path", "names"), STEPS)
def test_each_step_of_a_walk_names_functions_of_its_file(number, path, names):
    assert set(re.findall(r"`([\w.]+)`", names)) <= defined(SOURCE / path)
