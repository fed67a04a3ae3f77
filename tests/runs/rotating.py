"""A log that grows, in steps: lines and half lines are added, and it is rotated by renaming or truncation."""

import os
import shutil

import numpy as np

HEADER = b"a,b,y\n"
NAME = "log.csv"


def rows(count, seed=11):
    """Lines with two features and a target; some are outliers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 2)).round(3)
    y = (X @ [1.0, -2.0] + 0.1 * rng.normal(size=count)).round(3)
    X[::17] *= 1000.0
    return [b"%.3f,%.3f,%.3f\n" % (*x, z) for x, z in zip(X, y, strict=True)]


class Log:
    """The log in a folder. The times of its files are the numbers of the steps, not those of a clock."""

    def __init__(self, folder):
        self.path, self.time, self.rotations = folder / NAME, 0, 0
        self.path.write_bytes(HEADER)

    def step(self, action, data=b""):
        getattr(self, action)(data)
        self.time += 1
        os.utime(self.path, ns=(self.time, self.time))

    def add(self, data):
        with self.path.open("ab") as file:
            file.write(data)

    def rename(self, data):
        """Rename the log; its name gets a new file."""
        self.rotations += 1
        self.path.rename(f"{self.path}.{self.rotations}")
        self.path.write_bytes(HEADER + data)

    def truncate(self, data):
        """Copy the log and truncate it, as logrotate does with copytruncate; rows go on without a header."""
        self.rotations += 1
        shutil.copy2(self.path, f"{self.path}.{self.rotations}")
        with self.path.open("r+b") as file:
            file.truncate(0)
            file.write(data)


def script(lines):
    """The steps of a log with these lines."""
    parts = np.array_split(np.arange(len(lines)), 6)
    some = [b"".join(lines[i] for i in part) for part in parts]
    half = len(some[1]) - 4
    return [
        ("add", some[0]),
        ("add", some[1][:half]),  # ends in the middle of a line
        ("add", some[1][half:]),
        ("rename", some[2]),
        ("truncate", some[3]),
        ("add", some[4]),
        ("rename", some[5]),
    ]
