"""One self-contained page from the results of the experiments: no network, no scripts, fit for a phone."""

import html
import io
from pathlib import Path

from holdfast.lab.reproduce import drawing
from holdfast.lab.reproduce.runner import experiment


def write(results, folder, note=""):
    """Write index.html, and each figure as PNG and SVG and each table as Parquet; return the page's path."""
    folder = Path(folder)
    sections = [_section(result, folder) for result in results]
    page = folder / "index.html"
    page.write_text(_page(sections, note), encoding="utf-8")
    return page


def _section(result, folder):
    module = experiment(result.name)
    good, sentence = module.judge(result.rows)
    svg = _figure(result, folder)
    _parquet(result.rows, folder / f"{result.name}.parquet")
    return {
        "id": result.name,
        "title": module.TITLE,
        "result": module.RESULT,
        "statement": module.STATEMENT,
        "good": good,
        "sentence": sentence,
        "svg": svg,
        "table": _table(result.rows),
        "cases": len(result.rows),
    }


def _figure(result, folder):
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(drawing.STYLE):
        figure = Figure(figsize=(7, 4.6), layout="constrained", facecolor="white")
        experiment(result.name).draw(result.rows, figure.subplots())
        figure.savefig(folder / f"{result.name}.png", dpi=150)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    (folder / f"{result.name}.svg").write_text(svg, encoding="utf-8")
    return svg[svg.index("<svg") :]


def _parquet(rows, path):
    import pandas as pd

    pd.DataFrame(rows).to_parquet(path)


def _table(rows):
    """Means over the seeds, a line for each setting."""
    settings, values = _columns(rows)
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in settings), []).append(row)
    head = "".join(f"<th>{html.escape(name)}</th>" for name in (*settings, "seeds", *values))
    body = []
    for setting in sorted(groups):
        members = groups[setting]
        means = [sum(row[name] for row in members) / len(members) for name in values]
        cells = [*(f"{value:g}" for value in setting), str(len(members)), *(f"{mean:.4g}" for mean in means)]
        body.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _columns(rows):
    """Which columns were set and which were measured: what is measured comes after the seed."""
    names = list(rows[0])
    place = names.index("seed")
    return names[:place], names[place + 1 :]


def _page(sections, note):
    links = "".join(
        f'<li><a href="#{s["id"]}">{html.escape(s["title"])}</a> {_badge(s)}</li>' for s in sections
    )
    bodies = "".join(
        f"""<section id="{s["id"]}"><h2>{html.escape(s["title"])}</h2>
<p class="result">{html.escape(s["result"])}</p><p>{html.escape(s["statement"])}</p>
<figure>{s["svg"]}</figure>
<p class="verdict">{_badge(s)} {html.escape(s["sentence"])}.</p>
<details><summary>{s["cases"]} runs, by setting</summary><div class="wide">{s["table"]}</div></details>
</section>"""
        for s in sections
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>holdfast: the paper, measured</title><style>{_CSS}</style></head>
<body><main><h1>The paper, measured</h1>
<p>Every result of <em>Robust Online Convex Optimization in the Presence of Outliers</em> (van Erven, Sachs,
Koolen and Kotłowski, 2021), run: what was measured, with 95&nbsp;% bands over the seeds, against what is
proved.</p>
<ol>{links}</ol>{bodies}<footer>{html.escape(note)}</footer></main></body></html>
"""


def _badge(section):
    return '<span class="yes">holds</span>' if section["good"] else '<span class="no">fails</span>'


_CSS = """
body{margin:0;background:#fff;color:#333;font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:46rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.9rem;margin:.5rem 0}h2{margin:3.2rem 0 .2rem;font-size:1.35rem}
.result{margin:0;color:#667;font-size:.92rem}
figure{margin:1rem 0;overflow-x:auto}figure svg{width:100%;min-width:32rem;height:auto;display:block}
.yes,.no{font-weight:600;border-radius:.3rem;padding:.05rem .45rem;font-size:.85rem}
.yes{background:#e2f4ec;color:#00684a}.no{background:#fbe5dc;color:#9c3d00}
.verdict{margin:.4rem 0}.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}
th,td{text-align:right;padding:.2rem .6rem;border-bottom:1px solid #e6e9ed;white-space:nowrap}
summary{cursor:pointer;color:#0072b2}a{color:#0072b2}footer{margin-top:3rem;color:#667;font-size:.85rem}
"""
