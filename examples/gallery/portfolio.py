"""A portfolio and one fat finger

Exponentiated gradient spreads money over 23 stocks and moves it, day by day, to those that did well. On day
300 somebody types the price of one stock without its decimal point: a hundred times too high. The next day
the price is right again. The game is played once for each of the 23 stocks that could have been mistyped.

Result: after 800 days the wealth is 2.03 without the typing error. With it, it is between 1.57 and 2.60: a
single wrong number decides. Behind `TopK(5)` it is 2.03, whichever stock was mistyped.

Data: NYSE (N) of the OLPS toolbox, Li, Sahoo and Hoi (2016), Apache-2.0; the first 800 days. The error is
ours.
"""

import numpy as np
from common import picture, table

import holdfast as hf
from holdfast.pages.palette import BLUE, INK, RED

relatives = table("nyse")  # the price of each stock, divided by its price of the day before
days, stocks = relatives.shape


def wealth(filter, typed):
    """What one dollar becomes, if the weights are learned from the typed prices."""
    player = hf.Filtered(hf.EG(rate=0.2), filter, on=hf.measures.Range())
    game = hf.Replay(typed, np.zeros(days), hf.learners.LogWealth())
    weights = hf.play(player, game, keep=["iterates"], compiled=False).iterates
    return np.prod((weights * relatives).sum(axis=1))


def mistyped(stock):
    typed = relatives.copy()
    typed[300, stock] *= 100.0
    typed[301, stock] /= 100.0
    return typed


right = wealth(hf.Everything(), relatives)
plain = np.array([wealth(hf.Everything(), mistyped(stock)) for stock in range(stocks)])
filtered = np.array([wealth(hf.TopK(5), mistyped(stock)) for stock in range(stocks)])
print(f"no typing error      {right:.2f} after {days:,} days")
for name, results in (("one, no filter", plain), ("one, behind TopK(5)", filtered)):
    print(f"{name:20} {results.min():.2f} to {results.max():.2f}")

with picture() as axes:
    order = np.argsort(plain)
    axes.axhline(right, color=INK, ls="--", lw=1.5, label="no typing error")
    axes.plot(plain[order], "o", color=RED, ms=8, label="no filter")
    axes.plot(filtered[order], "o", color=BLUE, ms=8, label="behind TopK(5)")
    axes.set_xticks(range(stocks), order + 1)
    axes.set(xlabel="stock that was mistyped", ylim=(0, None))
    axes.set_title(f"Wealth after {days:,} days, from 1 on the first day")
    axes.legend(ncols=3, loc="lower right")
