"""`holdfast learners --tune FOLDER`: the table of settings for the learners with names."""

from holdfast.terminal import overwrite, tell
from holdfast_lab.bench.table import put_between_markers
from holdfast_lab.trials.learners_table import about
from holdfast_lab.trials.tuning import GRID, tune

TUNED = ("<!-- holdfast learners --tune: begin -->", "<!-- holdfast learners --tune: end -->")
_HEAD = ("name", "chosen", "errs", "at worst", "other settings err")


def tune_all(folder, quick=False, page=None, grid=GRID, **scale):
    """Try all settings and print; with `page`, write the table into that file."""
    rows = [f"| {' | '.join(_HEAD)} |", "|---|---|--:|--:|---|"]
    kinds = {"kinds": ("natural",), "rounds": 2_000} if quick else {}
    for name, settings in grid.items():
        overwrite(f"{name}: compiling and trying {len(settings)} settings")
        tried = tune(folder, name, settings, **kinds | scale)
        for each in tried:
            mark = "*" if each.is_chosen() else " "
            tell(f"{name:18}{each.mean:8.3f}{each.worst:8.2f} {mark} {each.setting}")
        rows.append(f"| {' | '.join(row(tried))} |")
        if page is not None:  # after each name, so that a run that is stopped leaves a table
            put_between_markers(page, "\n".join([*rows, "", about(quick, page, " --tune FOLDER"), ""]), TUNED)


def row(tried):
    """The chosen setting of a name, and how it compares with all others."""
    chosen = next(each for each in tried if each.is_chosen())
    others = ", ".join(f"{number(each)}: {each.mean:.2f}" for each in tried if each is not chosen)
    where = f"{chosen.worst:.2f} ({chosen.where})"
    return f'"{chosen.name}"', f"{number(chosen)}", f"{chosen.mean:.2f}", where, others


def number(tried):
    """The parameter in which the settings of the grid differ, and its value."""
    first, second = (_numbers(setting) for setting in GRID[tried.name][:2])
    place = next(i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a != b)
    name, value = _numbers(tried.setting)[place]
    return f"{name} {abs(value):g}"


def _numbers(setting):
    """All numbers in a rule and its parts, with their names."""
    found = []
    for name, value in zip(setting._fields, setting, strict=True):
        if isinstance(value, tuple):
            found += _numbers(value)
        elif isinstance(value, int | float):
            found.append((name, value))
    return found
