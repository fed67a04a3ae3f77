"""Write docs/gallery/: a picture and a page for each script of examples/gallery, and an index.

    python tools/gallery.py              # all of them
    python tools/gallery.py own_filter   # one of them

The words of a page are the docstring of its script, and the figures are what the script prints.
"""

import ast
import contextlib
import importlib.util
import io
import runpy
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SCRIPTS, PAGES = ROOT / "examples" / "gallery", ROOT / "docs" / "gallery"
EXAMPLES = (  # in the order of the index
    "poisoned_spam",
    "glitching_sensor",
    "meter_in_kw",
    "drifting_machine",
    "kalman_gate",
    "portfolio",
    "ad_clicks",
    "heavy_tails",
    "training_loop",
    "fleet_of_meters",
    "certificate",
    "own_filter",
    "grid_search",
)
NEEDS = {"training_loop": "torch"}  # what only some have installed
INTRODUCTION = """\
# Gallery

Each example is one script of `examples/gallery`, and takes some seconds. It prints the figures on its page,
and draws the picture. `make gallery` runs all scripts and writes these pages; a test compares them.
"""


class Words(NamedTuple):
    """The docstring of a script in parts, and the code below it."""

    title: str
    story: str
    result: str
    data: str
    code: str


def words(name):
    """Read a script without running it. Its docstring has a title, a story, `Result:` and `Data:`."""
    source = (SCRIPTS / f"{name}.py").read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(source))
    title, story, result, data = docstring.split("\n\n")
    code = source.split('"""\n', 1)[1]
    result = result.removeprefix("Result: ")
    return Words(title, story, result[0].upper() + result[1:], data.removeprefix("Data: "), code.strip())


def run(name, picture):
    """What a script prints. It draws its picture into the given file."""
    if str(SCRIPTS) not in sys.path:
        sys.path.append(str(SCRIPTS))  # for examples/gallery/common.py
    arguments, sys.argv = sys.argv, [f"{name}.py", str(picture)]
    try:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            runpy.run_path(str(SCRIPTS / f"{name}.py"), run_name="__main__")
    finally:
        sys.argv = arguments
    return printed.getvalue()


PAGE = """\
# {title}

{story}

**Result.** {result}

![{title}]({name}.png)

## What it prints

```text
{printed}```

## The code

`python examples/gallery/{name}.py` runs it. `common` is `examples/gallery/common.py`: style and data.

```python
{code}
```

Data: {data}

[All examples](index.md)
"""


def page(name, printed):
    """The page of an example."""
    it = words(name)._asdict()
    return PAGE.format(name=name, printed=printed, **it)


def index():
    """The page with all pictures."""
    parts = [INTRODUCTION, '<div class="thumbnails" markdown>\n']
    for name in EXAMPLES:
        it = words(name)
        title, result = f"**[{it.title}]({name}.md)**", " ".join(it.result.split())
        parts.append(f"- [![{it.title}]({name}.png)]({name}.md)\n\n    {title}\n\n    {result}\n")
    return "\n".join([*parts, "</div>\n"])


def main(names):
    PAGES.mkdir(exist_ok=True)
    for name in names or EXAMPLES:
        needed = NEEDS.get(name)
        if needed and not importlib.util.find_spec(needed):
            print(f"{name} needs {needed}, which is not installed: its page stays as it is")
            continue
        printed = run(name, PAGES / f"{name}.png")
        (PAGES / f"{name}.md").write_text(page(name, printed), encoding="utf-8")
        print(f"docs/gallery/{name}.md")
    (PAGES / "index.md").write_text(index(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
