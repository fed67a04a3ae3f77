"""Machine code called through pointers: results, states, errors and who owns which array."""

import ctypes
from typing import NamedTuple

import numpy as np
import pytest

from holdfast._compiled.linking import link
from holdfast._compiled.machine_code import Entry, compile_entries, machine_code
from holdfast._compiled.object_files import target
from holdfast._compiled.prebuilt import can_be_written
from holdfast._compiled.programs import Program, State, run


class Pair(NamedTuple):
    row: np.ndarray
    table: np.ndarray
    label: str
    nothing: None = None


class Rows(NamedTuple):
    rows: np.ndarray
    count: int


def unchanged(pair):
    return pair


def changed(pair):
    """Write into the first array, and replace the second."""
    pair.row[0] = 7.0
    return Pair(pair.row, pair.table + 1.0, pair.label, pair.nothing)


def views(pair):
    return pair.row[1:], pair.row[:2], np.zeros(3)[1:]


def is_named(pair):
    return pair.label == "Größe"


def root(x):
    if x < 0.0:
        raise ValueError("x is negative")
    return x**0.5


def add_row(state, step, x):
    """A state whose array grows every second time. The answer has an array of the arguments."""
    if x < 0.0:
        raise ArithmeticError
    rows = state.rows
    if state.count == len(rows):
        rows = np.zeros(2 * len(rows))
        rows[: len(state.rows)] = state.rows
    rows[state.count] = x
    step[0] += 1.0
    return Rows(rows, state.count + 1), (x > 1.0, step)


def add_product(total, given):
    row, factor = given
    total[0] += row[0] * factor
    return total, total[0]


def pair():
    return Pair(np.ones(3), np.ones((2, 2)), "a")


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """Some functions, compiled together and linked."""
    entries = [
        Entry(each.__name__, "call", each, (pair(),)) for each in (unchanged, changed, views, is_named)
    ]
    entries.append(Entry("root", "call", root, (1.0,)))
    entries.append(Entry("add_row", "state", add_row, (Rows(np.zeros(1), 0), np.zeros(1), 1.0)))
    entries.append(Entry("add_product", "state", add_product, (np.zeros(1), (np.zeros(1), 1.0))))
    compiled = compile_entries(entries, "release")
    folder = tmp_path_factory.mktemp("programs")
    (folder / "games.o").write_bytes(machine_code(compiled.bitcode, target("generic"))[0])
    link([folder / "games.o"], ["release", *(entry.symbol for entry in entries)], folder / "games.so")
    code = ctypes.CDLL(str(folder / "games.so"))
    results = zip(entries, compiled.results, strict=True)
    return {entry.symbol: Program(code[entry.symbol], code["release"], result) for entry, result in results}


def test_an_unchanged_argument_is_returned_as_the_same_object(programs):
    given = pair()
    again = programs["unchanged"].call((given,))
    assert type(again) is Pair and again.row is given.row and again.table is given.table
    assert again.label == "a" and again.nothing is None


def test_arguments_are_written_in_place_and_new_arrays_are_owned(programs):
    for _ in range(1000):
        given = pair()
        again = programs["changed"].call((given,))
        assert again.row is given.row and given.row[0] == 7.0
        assert again.table is not given.table and (given.table == 1.0).all()
        again.table[:] = 3.0
        assert (again.table == 3.0).all()


def test_a_view_of_an_argument_comes_back_as_a_copy(programs):
    given = pair()._replace(row=np.arange(3.0))
    tail, head, new = programs["views"].call((given,))
    given.row[:] = -1.0
    assert (tail.tolist(), head.tolist(), new.tolist()) == ([1.0, 2.0], [0.0, 1.0], [0.0, 0.0])


def test_empty_and_shared_arrays_are_returned(programs):
    again = programs["unchanged"].call((Pair(np.zeros(0), np.zeros((0, 2)), ""),))
    assert again.row.shape == (0,) and again.table.shape == (0, 2) and again.label == ""
    row = np.arange(4.0)
    again = programs["unchanged"].call((Pair(row, row.reshape(2, 2), ""),))
    assert again.row.tolist() == [0.0, 1.0, 2.0, 3.0] and again.table.tolist() == [[0.0, 1.0], [2.0, 3.0]]


@pytest.mark.parametrize("label", ["", "Größe", "Größe ", "größe", "尺寸", "a\0b", "x" * 1000])
def test_text_is_read(programs, label):
    assert programs["is_named"].call((pair()._replace(label=label),)) == (label == "Größe")


def test_an_error_in_machine_code_is_raised_and_the_next_call_works(programs):
    for _ in range(100):
        with pytest.raises(ValueError, match="x is negative"):
            programs["root"].call((-1.0,))
        assert programs["root"].call((4.0,)) == 2.0


def test_a_status_without_an_exception_is_an_error_too():
    failing = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 4)(lambda *_: -3)
    with pytest.raises(RuntimeError, match="status -3"):
        run(failing, 0, 0)


def test_a_state_stays_in_memory_grows_and_survives_errors(programs):
    step, kept = np.zeros(1), []
    state = State(programs["add_row"], (Rows(np.zeros(1), 0), step, 1.0))
    for i in range(300):
        is_large, counter = state(float(i))
        kept.append(float(i))
        assert is_large == (i > 1) and counter is step and step[0] == i + 1
        if i % 50 == 0:
            with pytest.raises(ArithmeticError):
                state(-1.0)
        first = state.first()
        assert type(first) is Rows and first.count == i + 1
        assert first.rows[: i + 1].tolist() == kept and len(first.rows) >= i + 1


def test_each_argument_counts_whichever_of_its_items_are_those_of_the_last_one(programs):
    total, one, other = np.zeros(1), np.ones(1), np.full(1, 10.0)
    state = State(programs["add_product"], (total, (one, 1.0)))
    with pytest.raises(Exception, match="required argument is not a float"):
        state((other, "much"))
    found = [state(given) for given in ((one, 1.0), (one, 2.0), (other, 2.0), (one, 2.0))]
    one[0] = 100.0
    assert [*found, state((one, 2.0))] == [1.0, 3.0, 23.0, 25.0, 225.0]
    assert state.first() is state.first() is total and total[0] == 225.0


def test_read_only_arrays_are_refused_where_machine_code_may_write():
    given = pair()
    given.row.flags.writeable = False
    assert can_be_written((given,), [False, True]) and not can_be_written((given,), [True, True])


def test_what_machine_code_cannot_return_is_refused_when_it_is_compiled():
    with pytest.raises(TypeError, match="no layout for complex128"):
        compile_entries([Entry("f", "call", lambda x: x + 1j, (1.0,))], "release")
