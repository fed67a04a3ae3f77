"""Write the awkward tables of this folder again: `python tests/io/awkward/make.py`.

In each, y depends on what a person means by the cells, plus noise of 0.1.
"""

import csv
import datetime
import math
import random
from pathlib import Path

HERE, ROWS = Path(__file__).parent, 400
START = datetime.datetime(2016, 3, 12, tzinfo=datetime.UTC)


def write(name, header, rows, mark=","):
    with open(HERE / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=mark, lineterminator="\n").writerows([header, *rows])


def cycle(moment):
    """What y has of the hour of the day."""
    return 5.0 * math.sin(2.0 * math.pi * (moment.hour + moment.minute / 60.0) / 24.0)


def main():
    draw = random.Random(31)
    a = [draw.gauss(0.0, 1.0) for _ in range(ROWS)]
    noise = [draw.gauss(0.0, 0.1) for _ in range(ROWS)]
    y = [f"{10.0 * x + e:.3f}" for x, e in zip(a, noise, strict=True)]
    each = list(range(ROWS))
    write("pandas_index", ["", "a", "y"], [[i, f"{a[i]:.3f}", y[i]] for i in each])
    write("two_without_name", ["", "a", "", "y"], [[i, f"{a[i]:.3f}", i, y[i]] for i in each])
    write("counter", ["id", "a", "y"], [[7000 + 3 * i, f"{a[i]:.3f}", y[i]] for i in each])
    mixed = draw.sample(each, ROWS)
    write("shuffled_counter", ["id", "a", "y"], [[mixed[i], f"{a[i]:.3f}", y[i]] for i in each])

    hours = [START + datetime.timedelta(hours=i) for i in each]
    daily = [f"{cycle(t) + e:.3f}" for t, e in zip(hours, noise, strict=True)]
    for name, words in {
        "epoch_seconds": lambda t: int(t.timestamp()),
        "epoch_nanoseconds": lambda t: int(t.timestamp()) * 10**9,
        "iso_with_zone": lambda t: t.isoformat(),
        "day_first": lambda t: f"{t.day}/{t.month}/{t.year} {t.hour}:00",
        "month_first": lambda t: (
            f"{t.month}/{t.day}/{t.year} {(t.hour - 1) % 12 + 1}:00 {'AP'[t.hour > 11]}M"
        ),
        "month_names": lambda t: t.strftime("%d %b %Y %H:%M"),
        "clock": lambda t: t.strftime("%H:%M"),
    }.items():
        write(name, ["when", "y"], [[words(t), v] for t, v in zip(hours, daily, strict=True)])
    days = [START.replace(day=1) + datetime.timedelta(days=i) for i in each]
    weekly = [f"{3.0 * (t.weekday() >= 5) + e:.3f}" for t, e in zip(days, noise, strict=True)]
    rows = [[t.strftime("%Y%m%d"), v] for t, v in zip(days, weekly, strict=True)]
    write("eight_digits", ["day", "y"], rows)
    unclear = [days[draw.randrange(12) + 31 * draw.randrange(9)] for _ in each]
    unclear = [t for t in unclear if t.day <= 12]
    rows = [[f"{t.day}/{t.month}/{t.year}", f"{a[i]:.3f}", y[i]] for i, t in enumerate(unclear)]
    write("unclear_dates", ["day", "a", "y"], rows)

    money = [3000.0 + 900.0 * x for x in a]
    rows = [[f"${v:,.2f}", f"${2.0 * v + 100.0 * e:,.2f}"] for v, e in zip(money, noise, strict=True)]
    write("dollars", ["rent", "y"], rows)
    euros = [[cell.replace("$", "").translate({44: 46, 46: 44}) + " €" for cell in row] for row in rows]
    write("euros", ["rent", "y"], euros, ";")
    write("thousands", ["rent", "y"], [[f"{v:,.0f}", f"{2.0 * v:,.0f}"] for v in money])
    rows = [[f"{5.0 * x:.1f} %", f"{draw.gauss(0.0, 1.0):.2f} km", v] for x, v in zip(a, y, strict=True)]
    write("units", ["share", "distance", "y"], rows)
    rows = [["500 m" if i % 40 == 7 else f"{a[i]:.2f} km", y[i]] for i in each]
    write("another_unit", ["distance", "y"], rows)

    blanks = ["-", "n/a", "?", " ", ""]
    rows = [
        [blanks[i // 4 % 5] if i % 4 == 3 else f"{a[i]:.3f}", f"{a[i] + draw.gauss(0.0, 1.0):.3f}", y[i]]
        for i in each
    ]
    write("dashes", ["a", "b", "y"], rows)
    effect = {200: 8.0, 211: -3.0, 501: 6.0, 781: -9.0, 804: 2.0}
    codes = [draw.choice(list(effect)) for _ in each]
    rows = [[c, f"{x:.3f}", f"{effect[c] + x + e:.3f}"] for c, x, e in zip(codes, a, noise, strict=True)]
    write("code", ["weather_id", "a", "y"], rows)
    write(
        "plus_and_minus", ["a", "y"], [[f"{x:.3f}", "+-"[x + e < 0.0]] for x, e in zip(a, noise, strict=True)]
    )
    colors = ["red", "green", "blue"]
    rows = [
        [f" {x:.3f}", f" {colors[i % 3]}", f" {10.0 * x + 4.0 * (i % 3) + e:.3f}"]
        for i, (x, e) in enumerate(zip(a, noise, strict=True))
    ]
    write("blanks_after_commas", ["a", " color", " y"], rows)
    rows = [
        ["ERR" if i % 50 == 9 else f"{x * (1e6 if i % 25 == 3 else 1):.3f}", y[i]] for i, x in enumerate(a)
    ]
    write("wild_cells", ["a", "y"], rows)
    rows = [[f"({-v:,.2f})" if v < 0.0 else f"{v:,.2f}", y[i]] for i, v in enumerate(900.0 * x for x in a)]
    write("parentheses", ["profit", "y"], rows)
    rows = [["unknown" if i % 8 == 3 else f"{a[i]:.3f}", f"{a[i]:.3f}", y[i]] for i in each]
    write("words_between", ["b", "a", "y"], rows)
    rows = [[f"{5.0 + x:.2f} km" if i % 4 else f"{5000.0 + 1000.0 * x:.0f} m", y[i]] for i, x in enumerate(a)]
    write("two_units", ["distance", "a", "y"], [[d, f"{a[i]:.3f}", v] for i, (d, v) in enumerate(rows)])
    rows = [[draw.choice(["00501", "02134", "90210"]), f"{a[i]:.3f}", y[i]] for i in each]
    write("zeros_before", ["zip", "a", "y"], rows)
    kinds = [[f"{x:.3f}", ("High", "low")[x < 0.0]] for x in a]
    write(
        "upper_and_lower", ["a", "y"], [[x, v.upper() if i % 9 == 4 else v] for i, (x, v) in enumerate(kinds)]
    )


if __name__ == "__main__":
    main()
