"""Build the site, build/site, from docs/ and the pages of the repository's root: `make docs`.

docs/ is also read on its own, and run by pytest, so its links are those of the repository. They are changed
in a copy, build/docs, from which Zensical builds the site. There each name of the API has a page of its own,
and so has each source file that a page links to. The site needs no network, also when it is opened as files:
formulas are written as MathML, which browsers draw themselves.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"

# Pages outside of docs/, and where they are on the site.
OUTSIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s]+)(\))")
# What these pages hide: the home page and the gallery use the whole width.
HIDDEN = {"index.md": ("navigation", "toc"), "gallery/index.md": ("navigation", "toc")}
NOT_WORDS = re.compile(
    r"(^#.*?$|^```.*?^```$|`[^`\n]*`|\]\([^)\s]*\)|</?[a-z]{2,}(?: [^>\n]*)?>|<!--.*?-->)",
    flags=re.DOTALL | re.MULTILINE,
)
LETTER = "A-Za-zͰ-Ͽ𝒮𝒫ℱ"
INDEX = rf"(\{{(?:[^{{}}]|\{{[^{{}}]*\}})*\}}|[{LETTER}0-9](?=[{LETTER}]̃?_|[^{LETTER}0-9_]|$))"
LOWERED = re.compile(rf"([{LETTER}]+[̃̂'⁰]*|[‖\]|)])_{INDEX}")
RAISED = re.compile(rf"(?<=[\w)\]}}>])\^(\{{(?:[^{{}}]|\{{[^{{}}]*\}})*\}}|[0-9]+|[{LETTER}](?!\w))")
SHIM = (
    "https://unpkg.com/iframe-worker/shim"  # Zensical's script for the search in local files; ours is local
)


def stage(staged):
    """Write build/docs: the pages with the links of the site."""
    shutil.rmtree(staged, ignore_errors=True)
    pages = {path: path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    pages |= {ROOT / name: place for name, place in OUTSIDE.items() if name != "README.md"}
    sources = set()
    for path, place in pages.items():
        text = relinked(path.read_text(encoding="utf-8"), path, place, sources)
        text = re.sub(r"^(\s*```)python(?=\n\s*>>> )", r"\1pycon", text, flags=re.MULTILINE)  # marks prompts
        for name, part in (split_api(place, text) if place.startswith("api/") else {place: text}).items():
            write(staged / name, front_matter(name) + typeset(part))
    for path in sources:
        code = path.read_text(encoding="utf-8")
        title = path.relative_to(ROOT).as_posix()
        write(
            staged / source_page(path), f"---\nsearch:\n  exclude: true\n---\n# {title}\n\n{fenced(code)}\n"
        )
    for path in DOCS.rglob("*"):
        if path.suffix in {".png", ".svg", ".css", ".js"}:
            shutil.copy2(path, parent_made(staged / path.relative_to(DOCS)))
    write(staged / "llms.txt", llms(staged))


def relinked(text, path, place, sources):
    """A page with the links that it has on the site. Code is left as it is."""

    def moved(match):
        target, hash_, anchor = match[2].partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return match[0]
        to = new_place((path.parent / target).resolve(), sources)
        if to.startswith("api/") and anchor:
            to, hash_, anchor = f"{to.removesuffix('.md')}/{anchor}.md", "", ""
        relative = os.path.relpath(to, Path(place).parent).replace(os.sep, "/")
        return f"{match[1]}{relative}{hash_}{anchor}{match[3]}"

    parts = re.split(r"(^```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(part if part.startswith("```") else LINK.sub(moved, part) for part in parts)


def front_matter(name):
    """What the site, and not the repository, has at the top of a page."""
    hidden = "".join(f"  - {part}\n" for part in HIDDEN.get(name, ()))
    return f"---\nhide:\n{hidden}---\n" if hidden else ""


def typeset(text):
    """A page with its mathematics as HTML: LaTeX as MathML, and w_t or 2^{T-1} with small indices."""
    text = re.sub(r"^```math\n(.*?)\n```$", formula, text, flags=re.DOTALL | re.MULTILINE)
    parts = NOT_WORDS.split(text)
    return "".join(indexed(part) if i % 2 == 0 else part for i, part in enumerate(parts))


def formula(match):
    """A block of LaTeX as MathML, on one line, so that Markdown leaves it alone."""
    from latex2mathml.converter import convert

    mathml = convert(" ".join(match[1].split()), display="block")
    return f'<div class="formula">{mathml}</div>'


def indexed(words):
    """Plain text with the indices and the powers of its formulas lowered and raised."""

    def inner(part):
        return indexed(part[1:-1].replace("<", "&lt;") if part.startswith("{") else part)

    def lowered(match):
        word, marks = re.match(rf"([{LETTER}]*)(.*)", match[1]).groups()
        base = word if len(word) > 2 or not word else f"{word[:-1]}<var>{word[-1]}</var>"
        return f"{base}{marks}<sub>{inner(match[2])}</sub>"

    words = LOWERED.sub(lowered, words)
    return RAISED.sub(lambda match: f"<sup>{inner(match[1])}</sup>", words)


def new_place(path, sources):
    """Where a file of the repository is on the site, from the site's root."""
    name = path.relative_to(ROOT).as_posix()
    if name in OUTSIDE:
        return OUTSIDE[name]
    if path.is_relative_to(DOCS) and path.suffix != ".py":
        return path.relative_to(DOCS).as_posix()
    if path.is_dir():
        path /= "__init__.py"
    sources.add(path)
    return source_page(path)


def source_page(path):
    return f"source/{path.relative_to(ROOT).as_posix()}.md"


def split_api(place, text):
    """A page of the API as one page for each name, and one that lists them."""
    if place == "api/index.md":
        return {place: text}
    first, *entries = re.split(r"^## ", text, flags=re.MULTILINE)
    folder, pages, listed = place.removesuffix(".md"), {}, []
    title = re.search(r"^# (.*)$", first, flags=re.MULTILINE)[1]
    for entry in entries:
        name, _, body = entry.partition("\n")
        deeper = LINK.sub(lambda m: m[0] if re.match(r"[a-z]+:|#", m[2]) else f"{m[1]}../{m[2]}{m[3]}", body)
        deeper = re.sub(r"^### ", "## ", deeper, flags=re.MULTILINE)
        up = f"[API](../index.md) / [{title}](../{Path(place).name})"
        pages[f"{folder}/{name.lower()}.md"] = f"# {name}\n\n{up}\n{deeper}"
        words = re.search(r"^```$\n+(.+?)(?=\n\n|\Z)", body, flags=re.DOTALL | re.MULTILINE)
        listed.append(f"- [`{name}`]({Path(folder).name}/{name.lower()}.md): {' '.join(words[1].split())}")
    return {place: first + "\n".join(listed) + "\n"} | pages


def llms(staged):
    """llms.txt: what holdfast is, and the pages of the site with a sentence on each."""
    project = tomllib.loads(config(staged))["project"]
    lines = [f"# {project['site_name']}", "", f"> {project['site_description']}", "", "## Pages", ""]
    for title, page in leaves(project["nav"]):
        lines.append(f"- [{title}]({page.removesuffix('.md')}.html): {first_sentence(staged / page)}")
    return "\n".join(lines) + "\n"


def leaves(nav):
    """The titles and pages of the navigation, without its groups."""
    for entry in nav:
        for title, page in entry.items():
            yield from leaves(page) if isinstance(page, list) else [(title, page)]


def first_sentence(page):
    """The first sentence of a page below its title, as plain text."""
    blocks = re.split(r"\n\s*\n", page.read_text(encoding="utf-8"))
    words = next(block for block in blocks if re.match(r"[\w*`\[“]", block) and not block.startswith("---"))
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(words.split())).replace("**", "")
    plain = re.sub(r"^`[\w.]+`: ", "", plain)  # the name of a module
    return re.match(r".*?[.!?](?= |$)|.*", plain)[0]


def fenced(code):
    return f"````python\n{code}\n````"


def write(path, text):
    parent_made(path).write_text(text, encoding="utf-8")


def parent_made(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def config(staged):
    """zensical.toml, as text, without the pages that do not exist."""
    lines = (ROOT / "zensical.toml").read_text(encoding="utf-8").splitlines(keepends=True)
    named = ((line, re.search(r'= "(.+\.md)"', line)) for line in lines)
    return "".join(line for line, page in named if not page or (staged / page[1]).exists())


def main(folder=ROOT / "build"):
    """Build the site in a folder. Returns an exit status; warnings of Zensical are errors."""
    stage(folder / "docs")
    write(folder / "zensical.toml", config(folder / "docs"))
    site = folder / "site"
    shutil.rmtree(site, ignore_errors=True)
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    status = subprocess.run(command, cwd=folder).returncode
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        up = "../" * (len(page.relative_to(site).parts) - 1)
        page.write_text(text.replace(SHIM, f"{up}theme/local_search.js"), encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
