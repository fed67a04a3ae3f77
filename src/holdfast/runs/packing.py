"""Pack rows of float64 numbers into fewer bytes, and back with the same bits.

Most numbers of a state are zeros, counts, or indices of buckets. A packed row is an array of 64-bit words:
how many numbers there are; the kind of each, two bits; then the numbers that need eight bytes, those that
need four (equal to a float32), and those that need one (whole, from -127 to 127). Zeros need none.

Like the functions of `holdfast.vectors`, packing and unpacking have two bodies: `pack_row` and `unpack_row`
are fast in Python, `pack_rows` and `unpack_rows` compiled. They give the same bits.
"""

import numpy as np

from holdfast.play_many import caller

_KINDS_IN_WORD, _FOURS_IN_WORD, _ONES_IN_WORD = 32, 2, 8
_ZERO, _ONE, _FOUR, _EIGHT = range(4)
_SHIFTS = 2 * np.arange(_KINDS_IN_WORD)


def pack(numbers, places, lengths, compiled):
    """The packed rows, one after the other, and how many words each has."""
    if not compiled:
        rows = [pack_row(numbers[p : p + n]) for p, n in zip(places, lengths, strict=True)]
        return np.concatenate([np.zeros(0, np.int64), *rows]), np.array([len(row) for row in rows], np.int64)
    call, sizes = caller(True), np.zeros(len(places), np.int64)
    call(packed_sizes, numbers, places, lengths, sizes)
    words = np.empty(int(sizes.sum()), np.int64)
    call(pack_rows, numbers, places, lengths, words, np.cumsum(sizes) - sizes, sizes)
    return words, sizes


def unpack(words, starts, numbers, places, compiled):
    """Write the numbers of packed rows into `numbers`."""
    if compiled:
        caller(True)(unpack_rows, words, starts, numbers, places)
        return
    for start, place in zip(starts, places, strict=True):
        row = unpack_row(words, int(start))
        numbers[place : place + len(row)] = row


@np.errstate(all="ignore")
def pack_row(numbers):
    """One packed row."""
    bits, kinds = numbers.view(np.int64), np.full(len(numbers), _EIGHT)
    kinds[numbers == numbers.astype(np.float32)] = _FOUR
    kinds[(np.abs(numbers) <= 127.0) & (numbers == np.floor(numbers))] = _ONE
    kinds[numbers == 0.0] = _EIGHT  # minus zero
    kinds[bits == 0] = _ZERO
    shifted = _filled(kinds.astype(np.int64), _KINDS_IN_WORD).reshape(-1, _KINDS_IN_WORD) << _SHIFTS
    eights, fours, ones = bits[kinds == _EIGHT], numbers[kinds == _FOUR], numbers[kinds == _ONE]
    short = _filled(fours.astype(np.float32), _FOURS_IN_WORD).view(np.int64)
    small = _filled(ones.astype(np.int8), _ONES_IN_WORD).view(np.int64)
    return np.concatenate([[len(numbers)], np.bitwise_or.reduce(shifted, axis=1), eights, short, small])


def unpack_row(words, start):
    """The numbers of one packed row."""
    count = int(words[start])
    first = start + sections(count, 0, 0)[0]
    kinds = ((words[start + 1 : first, None] >> _SHIFTS) & 3).ravel()[:count]
    is_eight, is_four, is_one = (kinds == kind for kind in (_EIGHT, _FOUR, _ONE))
    fours, ones = int(is_four.sum()), int(is_one.sum())
    _, second, third = sections(count, fours, int(is_eight.sum()))
    numbers = np.zeros(count)
    numbers.view(np.int64)[is_eight] = words[first : start + second]
    numbers[is_four] = words[start + second :].view(np.float32)[:fours]
    numbers[is_one] = words[start + third :].view(np.int8)[:ones]
    return numbers


def _filled(values, multiple):
    """The values, with zeros at the end up to a multiple of this length."""
    return np.concatenate([values, np.zeros(-len(values) % multiple, values.dtype)])


def kind_of(number, bits):
    """How many bytes a number needs, as a kind. Minus zero and NaN need all eight."""
    if bits == 0:
        return _ZERO
    if -127.0 <= number <= 127.0 and number == np.floor(number) and number != 0.0:
        return _ONE
    return _FOUR if number == np.float64(np.float32(number)) and number != 0.0 else _EIGHT


def sections(count, fours, eights):
    """Where the numbers of eight, four and one byte begin in a packed row, in words."""
    first = 1 + (count + _KINDS_IN_WORD - 1) // _KINDS_IN_WORD
    return first, first + eights, first + eights + (fours + _FOURS_IN_WORD - 1) // _FOURS_IN_WORD


def packed_sizes(numbers, places, lengths, sizes):
    """Write into `sizes` how many words each row takes when it is packed."""
    bits = numbers.view(np.int64)
    for row in range(len(places)):
        counts = [0, 0, 0, 0]
        for i in range(places[row], places[row] + lengths[row]):
            counts[kind_of(numbers[i], bits[i])] += 1
        _, _, ones = sections(lengths[row], counts[_FOUR], counts[_EIGHT])
        sizes[row] = ones + (counts[_ONE] + _ONES_IN_WORD - 1) // _ONES_IN_WORD
    return 0


def pack_rows(numbers, places, lengths, words, starts, sizes):
    """Pack rows into `words`, where there is room for as many words as `packed_sizes` has found."""
    bits, short, small = numbers.view(np.int64), words.view(np.float32), words.view(np.int8)
    for row in range(len(places)):
        start, count, place = starts[row], lengths[row], places[row]
        words[start : start + sizes[row]] = 0
        words[start] = count
        fours = eights = 0
        for i in range(count):
            kind = kind_of(numbers[place + i], bits[place + i])
            fours += kind == _FOUR
            eights += kind == _EIGHT
            words[start + 1 + i // _KINDS_IN_WORD] |= np.int64(kind) << (2 * (i % _KINDS_IN_WORD))
        first, second, third = sections(count, fours, eights)
        eight, four, one = start + first, _FOURS_IN_WORD * (start + second), _ONES_IN_WORD * (start + third)
        for i in range(place, place + count):
            kind = kind_of(numbers[i], bits[i])
            if kind == _EIGHT:
                words[eight] = bits[i]
                eight += 1
            elif kind == _FOUR:
                short[four] = numbers[i]
                four += 1
            elif kind == _ONE:
                small[one] = numbers[i]
                one += 1
    return 0


def unpack_rows(words, starts, numbers, places):
    """Write the numbers of packed rows into `numbers`."""
    bits, short, small = numbers.view(np.int64), words.view(np.float32), words.view(np.int8)
    for row in range(len(starts)):
        start, place = starts[row], places[row]
        count = words[start]
        _, fours, eights = kinds_in(words, start, count)
        first, second, third = sections(count, fours, eights)
        eight, four, one = start + first, _FOURS_IN_WORD * (start + second), _ONES_IN_WORD * (start + third)
        for i in range(count):
            kind = (words[start + 1 + i // _KINDS_IN_WORD] >> (2 * (i % _KINDS_IN_WORD))) & 3
            if kind == _ZERO:
                bits[place + i] = 0
            elif kind == _ONE:
                numbers[place + i] = small[one]
                one += 1
            elif kind == _FOUR:
                numbers[place + i] = short[four]
                four += 1
            else:
                bits[place + i] = words[eight]
                eight += 1
    return 0


def kinds_in(words, start, count):
    """How many numbers of a packed row need one byte, four, and eight."""
    ones = fours = eights = 0
    for i in range(count):
        kind = (words[start + 1 + i // _KINDS_IN_WORD] >> (2 * (i % _KINDS_IN_WORD))) & 3
        ones += kind == _ONE
        fours += kind == _FOUR
        eights += kind == _EIGHT
    return ones, fours, eights


def first_unreadable(words, starts, sizes):
    """The first row that `unpack_rows` could not read within its words; -1 if there is none."""
    for row in range(len(starts)):
        count = words[starts[row]] if sizes[row] > 0 else 0
        if not 0 < count <= _KINDS_IN_WORD * (sizes[row] - 1):
            return row
        ones, fours, eights = kinds_in(words, starts[row], count)
        if sections(count, fours, eights)[2] + (ones + _ONES_IN_WORD - 1) // _ONES_IN_WORD != sizes[row]:
            return row
    return -1
