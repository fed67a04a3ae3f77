"""The speed of holdfast and of other libraries on this machine: `holdfast bench`.

Each section is a file with a function `measure(run)` that yields tables. `race` measures times, `peers` has
the other libraries, `streams` the data, `probe` what is measured in a new process, `table` and `drawing` the
output. Most goals are ratios of cases that took turns in one run, so that other load slows down both. Vowpal
Wabbit uses two threads: with one core busy it takes twice as long, and holdfast does not.
"""
