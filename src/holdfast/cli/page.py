"""The page about a run: no network, no scripts, fit for a phone."""

import html
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast import __version__
from holdfast.cli.audit import REASONS, worst_rows
from holdfast.cli.inspect import certificate
from holdfast.cli.svg import BLUE, COLORS, DUST, GREEN, RED, Picture
from holdfast.runs.files import atomic_file
from holdfast.terminal import visible

_MARKED = 2_000  # skipped rounds in a picture
_SHOWN = 100  # skipped rows in the table
_OPEN = 20  # of these, before one asks for more
_LINES = 8  # weights in a picture
_LONGEST = 200  # characters of a name or cell


def write(found, to=None):
    """Write the page of a run; return its path."""
    if to is None:
        found.folder.write_alone("report.html", page(found))
        return found.folder.path / "report.html"
    with atomic_file(to) as file:
        file.write(page(found).encode())
    return to


def page(found):
    metrics = found.metrics()
    name = Path(found.source_name).name
    sections = [
        _summary(found, metrics),
        _errors(found, metrics),
        *_sizes(found),
        _weights(found),
        _keys(found),
    ]
    sections += [_proof(found), _skipped(found, metrics), _settings(found)]
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>holdfast: {_text(name)}</title><style>{_CSS}</style></head>
<body><main><h1>{_text(found.target.name)} <small>of {_text(name)}</small></h1>
{"".join(sections)}<footer>holdfast {__version__}</footer></main></body></html>
"""


def _summary(found, metrics):
    rounds, skipped = metrics["rounds"], metrics["skipped"]
    figures = [
        (f"{rounds:,}", "rounds"),
        (f"{100 * skipped / max(rounds, 1):.2g} %", f"skipped: {skipped:,}"),
    ]
    if metrics["error"] is not None:
        figures += [
            (_figure(metrics["error"]), f"{metrics['error_is']} on the rounds learned from"),
            (_figure(metrics["error_of_all_rounds"]), "on all rounds"),
        ]
    cards = "".join(f"<div><b>{value}</b><span>{_text(words)}</span></div>" for value, words in figures)
    note = "" if metrics["finished"] else "<p>The run is not finished: <code>--resume</code> goes on.</p>"
    return f'<div class="cards">{cards}</div>{note}'


def _errors(found, metrics):
    table = found.trace.points.table
    if len(table) < 2:
        return ""
    rounds, skipped = table[:, 0], table[:, 3]
    with np.errstate(all="ignore"):
        so_far = table[:, 3] / table[:, 4]
        lately = _recent(table, 3, 4)
    shown = rounds > 0.01 * rounds[-1]
    top = np.nanmax(np.concatenate([so_far[shown], lately[shown]]), initial=0.0)
    if not len(skipped) or not top > 0.0:
        return ""
    picture = Picture("Error over the rounds", metrics["rounds"], 0.0, float(top))
    picture.line(rounds[shown], lately[shown], DUST, 1.2, "lately")
    picture.line(rounds[shown], so_far[shown], BLUE, 2.5, "so far")
    return _section(
        "The error, round by round",
        f"The {metrics['error_is']} on the rounds learned from, each predicted before it was learned from: "
        f"{_key(BLUE, 'so far')}, {_key(DUST, 'over the last twentieth of the rounds')}.",
        picture.svg(),
    )


def _recent(table, total, count):
    window = max(len(table) // 20, 1)
    before = np.concatenate([np.zeros((window, table.shape[1])), table])[: len(table)]
    return (table[:, total] - before[:, total]) / (table[:, count] - before[:, count])


def _sizes(found):
    """A picture for each filter that had a say."""
    samples = found.trace.samples.table
    second = "target" if found.regression and found.settings.scale else "gradient"
    for place, measure in ((1, "features"), (3 if second == "target" else 5, second)):
        rounds, sizes, thresholds = samples[:, 0], samples[:, place], samples[:, place + 1]
        fine = np.isfinite(sizes) & (sizes > 0)
        if not fine.any():
            continue
        marked = _marked(found, measure)
        large = marked[1][np.isfinite(marked[1]) & (marked[1] > 0)]
        low = max(float(np.quantile(sizes[fine], 0.01)) / 2.0, 1e-300)
        bounds = thresholds[np.isfinite(thresholds)]
        high = max(
            float(np.max(sizes[fine])), float(large.max(initial=0.0)), float(bounds.max(initial=0.0)), 2 * low
        )
        picture = Picture(f"Sizes of the {measure}", found.trace.rounds, low, high, log=True)
        picture.dots(rounds, sizes, DUST)
        picture.line(rounds, np.where(thresholds > 0, thresholds, np.nan), GREEN, 2.5, "threshold")
        picture.crosses(*marked, RED)
        yield _section(
            f"The size of the {measure}",
            f"{_key(DUST, 'A sample of all rounds')}, the {_key(GREEN, 'threshold')} above which a round is "
            f"skipped, and {_key(RED, 'rounds that were skipped by it')}. On a logarithmic axis.",
            picture.svg(),
        )


def _marked(found, measure):
    """Rounds that this filter skipped, or some of them, evenly spread; and their sizes."""
    columns, marked, stride, seen = ["round", "reason", f"{measure}_size"], np.zeros((0, 3)), 1, 0
    for table in found.read("audit", columns):
        mine = table.filter(pc.is_in(table.column("reason"), pa.array([measure, "not finite"])))
        places = seen + np.arange(mine.num_rows)
        seen += mine.num_rows
        new = np.column_stack([places, mine.column("round"), mine.column(f"{measure}_size")])
        marked = np.concatenate([marked, new[places % stride == 0]])
        while len(marked) > _MARKED:
            stride *= 2
            marked = marked[marked[:, 0] % stride == 0]
    return marked[:, 1], marked[:, 2]


def _weights(found):
    table, names = found.trace.weights, found.layout.features()
    if len(table) < 2 or not found.trace.wide:
        return ""
    factors = found.games.parameters()["factors"][0]
    with np.errstate(all="ignore"):
        units = np.where(factors > 0, 1.0 / factors, 0.0)  # a standard deviation of each feature
    values = table[:, 1:] * units
    heaviest = np.argsort(-np.abs(values[-1]), kind="stable")[:_LINES]
    shown = values[:, heaviest]
    if not np.isfinite(shown).all() or not np.abs(shown).max() > 0:
        return ""
    picture = Picture("Weights over the rounds", found.trace.rounds, float(shown.min()), float(shown.max()))
    for place, color in zip(heaviest, COLORS, strict=False):
        picture.line(table[:, 0], values[:, place], color, 2.0, names[place])
    listed = ", ".join(_key(color, names[place]) for place, color in zip(heaviest, COLORS, strict=False))
    whose = f" of the label {_text(found.games.labels[0])}" if found.games.labels[0] else ""
    return _section(
        "The weights over time",
        f"By how much a standard deviation of the feature moves the prediction{whose}: {listed}.",
        picture.svg(),
    )


def _keys(found):
    if found.settings.key is None:
        return ""
    table = found.keys.table(list(found.games.keys))
    rounds, kept = (table.column(name).to_numpy() for name in ("rounds", "kept"))
    order = np.argsort(kept / np.maximum(rounds, 1), kind="stable")[:_SHOWN]
    body = [
        (
            row["key"] or "(none)",
            f"{row['rounds']:,}",
            f"{row['rounds'] - row['kept']:,}",
            _figure(row["error"]),
        )
        for row in table.take(order).to_pylist()
    ]
    return _section(
        f"The {table.num_rows:,} keys",
        "Those of which most was skipped come first.",
        _table(("key", "rounds", "skipped", "error"), body),
    )


def _proof(found):
    return _section("What this run proves", html.escape(visible(certificate(found)["words"])), "")


def _skipped(found, metrics):
    counts = [
        (reason, f"{count:,}", REASONS[reason])
        for reason, count in sorted(metrics["skipped_by_reason"].items(), key=lambda item: -item[1])
    ]
    if not counts:
        return _section("The skipped rows", "None.", "")
    rows = [
        (
            f"{row['row']:,}",
            " ".join(filter(None, (row["reason"], row.get("key"), row.get("label")))),
            row["measure"],
            _figure(row["size"]),
            _figure(row["threshold"]),
            _figure(row["times"]) if row["times"] else "",
            row["detail"],
        )
        for row in worst_rows(found, _SHOWN)
    ]
    head = ("row", "reason", "size of", "size", "threshold", "times", "")
    return _section(
        "The skipped rows",
        f"By reason, and the {len(rows)} that are the most times above their threshold.",
        _table(("reason", "rows", ""), counts) + _table(head, rows[:_OPEN]) + _more(head, rows[_OPEN:]),
    )


def _more(head, rows):
    if not rows:
        return ""
    return f"<details><summary>{len(rows)} more</summary>{_table(head, rows)}</details>"


def _settings(found):
    body = [(name, str(value)) for name, value in found.settings.to_json().items()]
    return f"<details><summary>How the run was set up</summary>{_table(('', ''), body)}</details>"


def _section(title, words, content):
    figure = f"<figure>{content}</figure>" if content else ""
    return f"<section><h2>{_text(title)}</h2><p>{words}</p>{figure}</section>"


def _table(head, rows):
    top = "".join(f"<th>{_text(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _text(value):
    """A value from a file, for the page: without markup and control characters, and not too long."""
    return html.escape(visible(value, _LONGEST))


def _key(color, words):
    return f'<span style="border-bottom:.2em solid {color}">{_text(words)}</span>'


def _figure(value):
    return "" if value is None or value != value else f"{value:.4g}"


_CSS = """
body{margin:0;background:#fff;color:#333;font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:46rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.8rem;margin:.5rem 0;overflow-wrap:anywhere}h1 small{color:#667;font-weight:400;font-size:1rem}
h2{margin:2.6rem 0 .2rem;font-size:1.25rem}p{margin:.3rem 0;overflow-wrap:anywhere}
.cards{display:flex;flex-wrap:wrap;gap:.8rem;margin:1.2rem 0}
.cards div{flex:1 1 9rem;border:1px solid #e6e9ed;border-radius:.5rem;padding:.6rem .8rem}
.cards b{display:block;font-size:1.5rem;font-variant-numeric:tabular-nums}
.cards span{color:#667;font-size:.85rem}
figure{margin:.8rem 0}svg{width:100%;height:auto;display:block}svg text{font-size:12px;fill:#556}
.wide{overflow-x:auto;margin-bottom:1rem}table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.2rem .7rem .2rem 0;border-bottom:1px solid #e6e9ed;white-space:nowrap}
@media(max-width:30rem){svg text{font-size:20px}}
summary{cursor:pointer;color:#0072b2;margin-top:2rem}footer{margin-top:3rem;color:#667;font-size:.85rem}
"""
