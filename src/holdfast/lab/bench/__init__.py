"""How fast holdfast is on this machine, beside what people use today: `holdfast bench`.

One file a section, each with a `measure(run)` that yields tables; `race` times, `peers` are the others,
`streams` the data, `probe` what needs a process of its own, and `table` and `drawing` tell. A goal is mostly
a ratio of cases that took turns in one run, so a busy minute hits both. Vowpal Wabbit reads and learns in two
threads: with one core busy elsewhere it takes twice as long, and we do not.
"""
