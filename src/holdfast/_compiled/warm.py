"""Compile one function for given types, in a process of its own: `python -m holdfast._compiled.warm`.

Standard input has, pickled: the import path and the file that marks this compilation; then the kind of the
function ("call" or "state"), the function and an outline of its arguments (`holdfast.argument_types`). The
machine code goes to the disk cache. When standard input is closed, because the process that started this one
has ended, this one removes the file and ends too.
"""

import os
import pickle
import sys
import threading


def main():
    sys.path[:], mark = pickle.load(sys.stdin.buffer)
    kind, function, outlined = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with_the_parent, args=(mark,), daemon=True).start()
    from holdfast import _compiled
    from holdfast.argument_types import example

    compile_ = {"call": _compiled.prepare, "state": _compiled.bind_state}[kind]
    compile_(function, *example(outlined))


def _end_with_the_parent(mark):
    os.read(0, 1)
    mark.unlink(missing_ok=True)
    os._exit(1)


if __name__ == "__main__":
    main()
