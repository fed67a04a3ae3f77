"""The results of all experiments on one HTML page, without network access or scripts, readable on a phone."""

import io
from pathlib import Path
from typing import Any

from markupsafe import Markup

from holdfast.pages.render import environment
from holdfast_lab.reproduce import drawing
from holdfast_lab.reproduce.runner import experiment

_TEMPLATE = Path(__file__).with_name("paper.html")


def write(results, folder, note=""):
    """Write index.html, each figure as PNG and SVG and each table as Parquet; return the path of the page."""
    folder = Path(folder)
    page = folder / "index.html"
    sections = [_section(result, folder) for result in results]
    template = environment().from_string(_TEMPLATE.read_text(encoding="utf-8"))
    page.write_text(template.render(results=sections, note=note), encoding="utf-8")
    return page


def _section(result, folder):
    module = experiment(result.name)
    good, sentence = module.judge(result.rows)
    _parquet(result.rows, folder / f"{result.name}.parquet")
    head, rows = _means(result.rows)
    return {
        "name": result.name,
        "title": module.TITLE,
        "result": module.RESULT,
        "statement": module.STATEMENT,
        "good": good,
        "sentence": sentence,
        "plot": _figure(result, folder),
        "head": head,
        "rows": rows,
        "runs": len(result.rows),
    }


def _figure(result, folder):
    with drawing.styled_figure((7, 4.6)) as figure:
        experiment(result.name).draw(result.rows, figure.subplots())
        figure.savefig(folder / f"{result.name}.png", dpi=150)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    (folder / f"{result.name}.svg").write_text(svg, encoding="utf-8")
    return Markup(svg[svg.index("<svg") :])


def _parquet(rows, path):
    import pandas as pd

    pd.DataFrame(rows).to_parquet(path)


def _means(rows):
    """Names of columns, and for each setting the mean of every measurement over the seeds."""
    names = list(rows[0])
    place = names.index("seed")  # settings come before the seed, measurements after it
    settings, values = names[:place], names[place + 1 :]
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in settings), []).append(row)
    means = [
        (*setting, len(group), *(sum(row[name] for row in group) / len(group) for name in values))
        for setting, group in sorted(groups.items())
    ]
    return [*settings, "seeds", *values], means
