"""Write the API reference, docs/api/, from the docstrings: `make api`.

A name is public if it is in the `__all__` of one of the modules below; in a module without `__all__`, if it
has no underscore in front. Public names, and the public methods of public classes, must have a docstring. If
some have none, they are listed, nothing is written, and the exit status is 1. In a rule, a method that a role
of `holdfast.protocols` describes needs no docstring of its own.

griffe reads the source and imports nothing, so the pages are the same on every machine.
"""

import re
import sys
from pathlib import Path

import griffe

ROOT = Path(__file__).parents[1]

# Each page, and the modules on it.
PAGES = {
    "play": ("play", "play_many", "player", "journal", "gate", "record"),
    "game": ("game", "measures", "checks", "rounds"),
    "steady": ("steady", "steady.certificate"),
    "filters": ("filters", "sketches"),
    "learners": ("learners",),
    "losses": ("losses",),
    "domains": ("domains",),
    "norms": ("norms",),
    "adversaries": ("adversaries",),
    "regret": ("regret",),
    "certificates": ("certificates.certificate", "certificates.certified"),
    "bounds": ("bounds",),
    "sklearn": ("sklearn",),
    "river": ("river",),
    "torch": ("torch", "torch.lightning"),
    "optax": ("optax",),
    "spark": ("spark",),
    "serve": ("serve",),
    "intervals": ("intervals",),
    "levels": ("levels",),
    "audit": ("audit",),
    "rule": ("rule",),
    "protocols": ("protocols",),
}
INTRODUCTION = """\
Every public name of holdfast, with its parameters, its guarantee and an example. `make api` writes these
pages from the docstrings: do not edit them. The examples are run with the tests."""


def load(source=ROOT / "src"):
    """The package, as griffe reads it."""
    return griffe.load("holdfast", search_paths=[source], allow_inspection=False)


def target(item):
    return item.final_target if item.is_alias else item


def public(module):
    """The public classes and functions of a module, by name."""
    names = module.exports or [name for name, item in module.members.items() if not item.is_alias]
    names = [name for name in names if name in module.all_members]  # some are imported at first use
    found = {name: own(name, target(module[name])) for name in names if not name.startswith("_")}
    return {name: item for name, item in found.items() if item.is_class or item.is_function}


def own(name, item):
    """What a package exports under the name of one of its modules, such as `play`, is in that module."""
    return item[name] if item.is_module and name in item.members else item


def exported(package):
    """The names of `import holdfast as hf`."""
    return {name: own(name, target(package[name])) for name in package.exports}


def homes(package):
    """For each public name its page, by the path of its definition."""
    modules = [(page, package[path]) for page, paths in PAGES.items() for path in paths]
    return {item.path: page for page, module in modules for item in public(module).values()}


def is_rule(item):
    return any(decorator.callable_path.endswith("rule") for decorator in item.decorators)


def methods(package, cls):
    """The public methods and properties of a class, inherited or not; and the names of those of its role."""
    described = {"check"}.union(*(role.members for role in package["protocols"].classes.values()))
    found = {name: target(member) for name, member in cls.all_members.items() if not name.startswith("_")}
    found = {name: it for name, it in found.items() if it.is_function or "property" in it.labels}
    of_role = [name for name in found if is_rule(cls) and name in described]
    return {name: member for name, member in found.items() if name not in of_role}, of_role


def undocumented(package):
    """What is public and has no docstring, or is on no page."""
    missing = []
    for module in (package[path] for paths in PAGES.values() for path in paths):
        items = {module.path: module}
        for name, item in public(module).items():
            items[f"{module.path}.{name}"] = item
            if item.is_class:
                items |= {f"{item.path}.{method}": it for method, it in methods(package, item)[0].items()}
        missing += [f"{path} has no docstring" for path, item in items.items() if not item.docstring]
    at, on_pages = homes(package), {path for paths in PAGES.values() for path in paths}
    lost = [name for name, item in exported(package).items() if item.path not in at]
    public_modules = {name: module for name, module in package.modules.items() if not name.startswith("_")}
    lost += [name for name, module in public_modules.items() if module.exports and name not in on_pages]
    return [*dict.fromkeys(missing), *(f"holdfast.{name} is in none of PAGES" for name in lost)]


def pages(package):
    """The text of each page, by file name."""
    written = {"index.md": index(package)}
    for page, paths in PAGES.items():
        names = dict.fromkeys(path.partition(".")[0] for path in paths)
        parts = ["# " + ", ".join(f"`holdfast.{name}`" for name in names)]
        for path in paths:
            module = f"**`holdfast.{path}`**: " if len(paths) > 1 else ""
            parts.append(module + prose(package[path].docstring))
            for name, item in public(package[path]).items():
                parts.append(entry(package, path, name, item))
        written[f"{page}.md"] = "\n\n".join(parts) + "\n"
    return written


def index(package):
    at = homes(package)
    parts = ["# API reference", INTRODUCTION, "## The pages"]
    rows = ["| page | what is on it | names |", "|---|---|---|"]
    for page, paths in PAGES.items():
        names = sorted({name for path in paths for name in public(package[path])}, key=str.lower)
        rows.append(f"| [{page}]({page}.md) | {summary(package[paths[0]])} | {code(names)} |")
    parts += ["\n".join(rows), "## The names of `import holdfast as hf`"]
    named = sorted(exported(package).items(), key=lambda pair: pair[0].lower())
    lines = [f"- [`hf.{name}`]({at[item.path]}.md#{name.lower()}): {summary(item)}" for name, item in named]
    return "\n\n".join([*parts, "\n".join(lines)]) + "\n"


def code(names):
    return ", ".join(f"`{name}`" for name in names)


def summary(item):
    return plain(" ".join(item.docstring.value.split("\n\n")[0].split()))


def entry(package, path, name, item):
    """A class or function with its signature, its docstring and its methods."""
    parent = "holdfast" if exported(package).get(name) is item else f"holdfast.{path}"
    file = item.filepath.relative_to(package.filepath.parents[2])
    parts = [f"## {name}", f"```python\n{call(item, f'{parent}.{name}')}\n```", prose(item.docstring)]
    if item.is_class:
        own, of_role = methods(package, item)
        for method, member in own.items():
            parts.append(
                f"### {name}.{method}\n\n```python\n{call(member, method)}\n```\n\n{prose(member.docstring)}"
            )
        if of_role:
            parts.append(f"Methods of its role: {code(of_role)}. See [protocols](protocols.md).")
    return "\n\n".join([*parts, f"Source: [{file}](../../{file})"])


def call(item, name):
    """How to call it: on one line, or with a line for each parameter."""
    given = parameters(item)
    if given is None:
        return name
    line = f"{name}({', '.join(given)})"
    return line if len(line) <= 100 else f"{name}(\n" + "".join(f"    {one},\n" for one in given) + ")"


def parameters(item):
    """The parameters; of a rule or NamedTuple, its fields. None for what is not called by users."""
    if "dataclass" in item.labels or "property" in item.labels:
        return None
    if item.is_function:
        found = [one for one in item.parameters if one.name not in ("self", "cls")]
        words = [declared(one) for one in found]
        kinds = [one.kind.value for one in found]
        if "keyword-only" in kinds and "variadic positional" not in kinds:
            words.insert(kinds.index("keyword-only"), "*")
        return words
    if "__init__" in item.all_members:
        return parameters(target(item.all_members["__init__"]))
    if is_rule(item) or any("NamedTuple" in str(base) for base in item.bases):
        return [declared(field) for field in item.attributes.values() if field.annotation]
    return None


def declared(parameter):
    text = parameter.name + (f": {parameter.annotation}" if parameter.annotation else "")
    value = getattr(parameter, "default", None) or getattr(parameter, "value", None)
    stars = {"variadic positional": "*", "variadic keyword": "**"}
    kind = getattr(parameter, "kind", None)
    if kind is not None and kind.value in stars:
        return stars[kind.value] + text
    return text + (f"{' = ' if parameter.annotation else '='}{value}" if value else "")


def prose(docstring):
    """A docstring in Markdown."""
    if "\n---" in docstring.value:
        return prose_of_sections(docstring)
    return "\n\n".join(map(paragraph, docstring.value.split("\n\n")))


def paragraph(text):
    """A paragraph of a docstring in Markdown: an example, a list of names, or words."""
    if text.startswith(">>>"):
        return f"```python\n{text}\n```"
    title, _, rest = text.partition(":")
    if title in ("Parameters", "Attributes", "Returns") and rest.startswith("\n"):
        entries = re.split(r"\n {4}(?! )", rest)[1:]
        return f"**{title}**\n\n" + "\n".join(listed(*entry.split(":", 1)) for entry in entries)
    return f"**{title}**:{plain(rest)}" if title in ("Guarantee", "Attributes") else plain(text)


def listed(names, meaning):
    """An entry of a list: names, perhaps with a type behind them in parentheses, and what they mean."""
    names, _, kind = names.partition(" (")
    kind = f" ({plain(kind)}" if kind else ""
    return f"- `{names}`{kind}: {' '.join(plain(meaning).split())}".rstrip(": ")


def prose_of_sections(docstring):
    """The same of a docstring whose sections have underlined titles. It is parsed without its owner, so that
    types stay as they are written.
    """
    parts, text = [], docstring.value.replace("\n\nGuarantee: ", "\n\nGuarantee\n---------\n")
    for found in griffe.Docstring(text).parse("numpy", warnings=False):
        kind, value = found.kind.value, found.value
        if kind == "text":
            parts.append(plain(value))
        elif kind == "examples":
            parts.append("**Examples**")
            parts += [plain(text) if of.value == "text" else f"```python\n{text}\n```" for of, text in value]
        elif kind == "admonition":
            parts.append(f"**{found.title}**: {plain(value.description)}")
        else:
            parts.append(f"**{kind.capitalize()}**")
            parts.append("\n".join(listed(_with_type(item), item.description) for item in value))
    return "\n\n".join(parts)


def _with_type(item):
    return f"{item.name or ''} ({item.annotation})" if item.annotation else item.name or ""


def plain(text):
    """Text in which < is no tag, except in code."""
    return "".join(
        part if part.startswith("`") else part.replace("<", "&lt;") for part in re.split(r"(`[^`]*`)", text)
    )


def main(folder=ROOT / "docs" / "api"):
    package = load()
    missing = undocumented(package)
    if missing:
        return "\n".join([*missing, f"{len(missing)} to mend, and then: make api"])
    folder.mkdir(exist_ok=True)
    written = pages(package)
    for old in folder.glob("*.md"):
        if old.name not in written:
            old.unlink()
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
