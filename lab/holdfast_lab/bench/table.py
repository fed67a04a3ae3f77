"""Figures with their goals, as text, as JSON, and as the table of docs/benchmarks.md."""

import json
from typing import NamedTuple

BEGIN, END = "<!-- holdfast bench: begin -->", "<!-- holdfast bench: end -->"


class Row(NamedTuple):
    """One figure. A goal is for the ratio, or for the value if there is no ratio."""

    what: str
    value: float | None = None
    ratio: float | None = None
    least: float | None = None
    most: float | None = None
    note: str = ""  # why there is no value

    def has_goal(self):
        return self.least is not None or self.most is not None

    def met(self):
        figure = self.value if self.ratio is None else self.ratio
        if figure is None or not self.has_goal():
            return None
        return (self.least is None or figure >= self.least) and (self.most is None or figure <= self.most)

    def goal(self):
        bounds = ((">=", self.least), ("<=", self.most))
        return " ".join(f"{sign} {bound:,g}" for sign, bound in bounds if bound is not None)


class Section(NamedTuple):
    """Figures in the same unit."""

    title: str
    unit: str
    rows: list[Row]
    against: str = ""
    headline: bool = False  # is in docs/benchmarks.md

    def without_goals(self):
        return self._replace(rows=[row._replace(least=None, most=None) for row in self.rows])


def text(section):
    width = max(48, *(len(row.what) + 2 for row in section.rows))
    goals = any(row.has_goal() for row in section.rows)
    head = f"{section.unit:>20}{section.against:>16}{'goal' * goals:>11}{'met' * goals:>6}"
    lines = [section.title, f"  {'':<{width}}{head}"]
    for row in section.rows:
        cells = f"{_figure(row.value):>20}{_figure(row.ratio):>16}{row.goal():>11}{_yes_or_no(row):>6}"
        lines.append(f"  {row.what:<{width}}{row.note or cells}")
    return "\n".join(line.rstrip() for line in lines)


def goals_summary(sections):
    """The number of goals that are met, and of those that were not measured."""
    rows = [row for section in sections for row in section.rows if row.has_goal()]
    known = [row.met() for row in rows if row.met() is not None]
    rest = f", {len(rows) - len(known)} not measured" if len(known) < len(rows) else ""
    return f"{sum(known)} of {len(known)} goals met{rest}."


def to_json(about, sections):
    entries = [
        section._asdict() | {"rows": [row._asdict() | {"met": row.met()} for row in section.rows]}
        for section in sections
    ]
    return json.dumps({"about": about, "sections": entries}, indent=1) + "\n"


def markdown(about, sections, command):
    """The headline sections, with the machine, the date and all versions."""
    lines = ["| | figure | ratio | goal | met |", "|---|--:|--:|--:|:-:|"]
    headlines = [section for section in sections if section.headline]
    for section in headlines:
        lines.append(f"| **{section.title}** | {section.unit} | {section.against} | | |")
        for row in section.rows:
            goal = row.goal().replace(">=", "≥").replace("<=", "≤")
            figure = row.note or _figure(row.value)
            lines.append(f"| {row.what} | {figure} | {_figure(row.ratio)} | {goal} | {_yes_or_no(row)} |")
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    lines += ["", f"Written by `{command}` on {about['date']}: {goals_summary(headlines)}"]
    return "\n".join([*lines, f"{about['machine']}; {versions}.", ""])


def put_between_markers(path, table, markers=(BEGIN, END)):
    """Replace the text between the two markers of a file."""
    before, after = split_at_markers(path, markers)
    path.write_text(f"{before}{markers[0]}\n{table}{markers[1]}{after}", encoding="utf-8")


def split_at_markers(path, markers=(BEGIN, END)):
    before, begin, rest = path.read_text(encoding="utf-8").partition(markers[0])
    _, end, after = rest.partition(markers[1])
    if not begin or not end:
        raise ValueError(f"{path.name} has no place for the table: put in the lines {' and '.join(markers)}")
    return before, after


def _yes_or_no(row):
    return {None: "", True: "yes", False: "NO"}[row.met()]


def _figure(value):
    if value is None:
        return ""
    if abs(value) >= 100.0:
        return f"{value:,.0f}"
    return f"{value:#.3g}" if abs(value) >= 0.01 else f"{value:.3f}"
