"""The colours of all pages and pictures: those of Okabe and Ito, made for colour-blind readers too."""

BLUE, RED, GREEN, PINK = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
INK, GREY, QUIET, RULE = "#333333", "#9AA5B1", "#666677", "#E6E9ED"  # text, axes, small text, thin lines
SERIES = (BLUE, RED, GREEN, PINK, "#E69F00", "#56B4E9", "#8C6D31", INK)

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
