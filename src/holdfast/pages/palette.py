"""The colours of all pages and pictures: those of Okabe and Ito, made for colour-blind readers too."""

BLUE, RED, GREEN, PINK = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
INK, GREY, QUIET, RULE = "#333333", "#9AA5B1", "#666677", "#E6E9ED"  # text, axes, small text, thin lines
SERIES = (BLUE, RED, GREEN, PINK, "#E69F00", "#56B4E9", "#8C6D31", INK)

# The colours of pages as variables of CSS, on white and on a dark ground, where some are lighter.
NAMES = ("blue", "red", "green", "pink", "yellow", "sky", "brown", "ink", "grey", "quiet", "rule", "ground")
LIGHT = dict(zip(NAMES, (*SERIES, GREY, QUIET, RULE, "#FFFFFF"), strict=True))
DARK = LIGHT | {
    "blue": "#56A8E0",
    "red": "#FF8A4C",
    "green": "#2FC79A",
    "pink": "#E29AC5",
    "brown": "#C9A66B",
    "ink": "#E4E7EB",
    "grey": "#7B8794",
    "quiet": "#A9B2BD",
    "rule": "#323A44",
    "ground": "#15191E",
}


def css(name: str) -> str:
    """The colour of this name, as CSS and SVG write it: light or dark as the reader's system is."""
    if name not in NAMES:
        raise ValueError(f"a colour is one of {', '.join(NAMES)}: got {name!r}")
    return f"var(--{name})"


# Settings of matplotlib, for `rc_context`.
MATPLOTLIB = {
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": RULE,
    "grid.linewidth": 0.8,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}
