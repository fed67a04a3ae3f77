"""Rules that decide on a gradient by its norm: those of other projects, from their sources.

A rule has `keep(size)`. It returns True to take the step, False to leave it, or a number by which the
gradient is multiplied. `ZEROES = True` says that a step that is left is computed and multiplied by 0, as the
source does: 0 times NaN is NaN.
"""
