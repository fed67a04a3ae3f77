"""Trials: how much outliers and changes cost us and the methods in use today.

`holdfast trials --data FOLDER` reads public data sets from a folder and corrupts some rounds. Contestants
predict and learn in one pass, and their errors are compared with those of an oracle, which never meets an
outlier. `holdfast trials --drift` does the same on streams that change. `holdfast trials --zoo` measures the
default estimators on tables with awkward columns, and `holdfast trials --tables` on all tables of a folder.
With `--delay N`, rounds come in batches of N, and each batch is predicted before it is learned from. The
modules for `holdfast learners` are here too.
"""
