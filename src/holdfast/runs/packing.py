"""Pack rows of float64 numbers into fewer bytes, and back with the same bits.

Most numbers of a state are zeros, counts, or indices of buckets that follow each other. A packed row is an
array of 64-bit words: how many numbers there are; the kinds of the numbers, two bits each, 32 in a word; then
the numbers that need eight bytes, those that need four (equal to a float32), and those that need one. A
number that needs one byte or none is whole, and written as the difference to the last number but one, or to 0
if that is not whole. The buckets of a histogram are pairs of index and count, so most of them take one byte.
Words of kinds that are 0 are left out: before the others, a bit for each says whether it is there. So zeros
take almost nothing.

Like the functions of `holdfast.vectors`, packing and unpacking have two bodies: `pack_row` and `unpack_row`
are fast in Python, `pack_rows` and `unpack_rows` compiled. They give the same bits.
"""

import numpy as np

from holdfast.play_many import caller

_IN_WORD, _FOURS_IN_WORD, _ONES_IN_WORD, _BITS = 32, 2, 8, 64
_NONE, _ONE, _FOUR, _EIGHT = range(4)
_SHIFTS = 2 * np.arange(_IN_WORD)
_LARGEST = 2.0**24  # of the whole numbers, so that differences are exact
_MOST = 1 << 24  # numbers in a row


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


# -- in Python


@np.errstate(all="ignore")
def pack_row(numbers):
    """One packed row."""
    bits, kinds = numbers.view(np.int64), np.full(len(numbers), _EIGHT)
    whole = (np.abs(numbers) <= _LARGEST) & (numbers == np.floor(numbers)) & ((numbers != 0.0) | (bits == 0))
    base = np.zeros(len(numbers))
    base[2:] = np.where(whole, numbers, 0.0)[:-2]
    change = np.where(whole, numbers - base, np.inf)
    kinds[(numbers == numbers.astype(np.float32)) & (numbers != 0.0)] = _FOUR
    kinds[np.abs(change) <= 127.0] = _ONE
    kinds[change == 0.0] = _NONE
    shifted = _filled(kinds.astype(np.int64), _IN_WORD).reshape(-1, _IN_WORD) << _SHIFTS
    short = _filled(numbers[kinds == _FOUR].astype(np.float32), _FOURS_IN_WORD).view(np.int64)
    small = _filled(change[kinds == _ONE].astype(np.int8), _ONES_IN_WORD).view(np.int64)
    head = np.bitwise_or.reduce(shifted, axis=1)
    there = np.packbits(_filled(head != 0, _BITS), bitorder="little").view(np.int64)
    return np.concatenate([[len(numbers)], there, head[head != 0], bits[kinds == _EIGHT], short, small])


@np.errstate(all="ignore")
def unpack_row(words, start):
    """The numbers of one packed row."""
    count = int(words[start])
    masks = mask_words(count)
    there = np.unpackbits(words[start + 1 : start + 1 + masks].view(np.uint8), bitorder="little")
    head = np.zeros(len(there), np.int64)
    filled = int(there.sum())
    head[there > 0] = words[start + 1 + masks : start + 1 + masks + filled]
    first = start + 1 + masks + filled
    kinds = ((head[:, None] >> _SHIFTS) & 3).ravel()[:count]
    is_eight, is_four, is_one = (kinds == kind for kind in (_EIGHT, _FOUR, _ONE))
    fours, ones = int(is_four.sum()), int(is_one.sum())
    _, second, third = sections(count, filled, fours, int(is_eight.sum()))
    numbers, change = np.zeros(count), np.zeros(count)
    numbers.view(np.int64)[is_eight] = words[first : start + second]
    numbers[is_four] = words[start + second :].view(np.float32)[:fours]
    change[is_one] = words[start + third :].view(np.int8)[:ones]
    given = is_eight | is_four
    for every_other in (slice(0, None, 2), slice(1, None, 2)):
        known, total = given[every_other], np.cumsum(change[every_other])
        # The last number that is not a difference, and the sum of the differences since then.
        last = np.maximum.accumulate(np.where(known, np.arange(len(known)), -1))
        base = np.where(last < 0, 0.0, _base(numbers[every_other])[last] - total[last])
        numbers[every_other] = np.where(known, numbers[every_other], base + total)
    return numbers


def _base(numbers):
    """The numbers that are whole and not too large, and 0 for all others."""
    return np.where((np.abs(numbers) <= _LARGEST) & (numbers == np.floor(numbers)), numbers, 0.0)


def _filled(values, multiple):
    """The values, with zeros at the end up to a multiple of this length."""
    return np.concatenate([values, np.zeros(-len(values) % multiple, values.dtype)])


# -- compiled


def base_of(number):
    """The number if it is whole and not too large, else 0; also for minus zero."""
    return number if 0.0 < abs(number) <= _LARGEST and number == np.floor(number) else 0.0


def kind_of(number, bits, base):
    """How many bytes a number needs, as a kind. Minus zero and NaN need all eight."""
    if abs(number) <= _LARGEST and number == np.floor(number) and (number != 0.0 or bits == 0):
        if number == base:
            return _NONE
        if abs(number - base) <= 127.0:
            return _ONE
    return _FOUR if number == np.float64(np.float32(number)) and number != 0.0 else _EIGHT


def kind_words(count):
    """How many words of kinds so many numbers have."""
    return (count + _IN_WORD - 1) // _IN_WORD


def mask_words(count):
    """How many words say which of these are there."""
    return (kind_words(count) + _BITS - 1) // _BITS


def sections(count, filled, fours, eights):
    """Where the numbers of eight, four and one byte begin in a packed row, in words."""
    first = 1 + mask_words(count) + filled
    return first, first + eights, first + eights + (fours + _FOURS_IN_WORD - 1) // _FOURS_IN_WORD


def are_zero(bits, first, last):
    """Whether all numbers in this range are 0, given their bits."""
    found = np.int64(0)
    for i in range(first, last):
        found |= bits[i]
    return found == 0


def packed_sizes(numbers, places, lengths, sizes):
    """Write into `sizes` how many words each row takes when it is packed."""
    bits = numbers.view(np.int64)
    for row in range(len(places)):
        ones = fours = eights = filled = 0
        before = base = 0.0
        end = places[row] + lengths[row]
        for group in range(places[row], end, _IN_WORD):
            last = min(group + _IN_WORD, end)
            if before == 0.0 and base == 0.0 and are_zero(bits, group, last):
                continue
            some = False
            for i in range(group, last):
                kind = kind_of(numbers[i], bits[i], before)
                before, base = base, base_of(numbers[i])
                ones += kind == _ONE
                fours += kind == _FOUR
                eights += kind == _EIGHT
                some = some or kind != _NONE
            filled += some
        _, _, third = sections(lengths[row], filled, fours, eights)
        sizes[row] = third + (ones + _ONES_IN_WORD - 1) // _ONES_IN_WORD
    return 0


def pack_rows(numbers, places, lengths, words, starts, sizes):
    """Pack rows into `words`, where there is room for as many words as `packed_sizes` has found."""
    bits, short, small = numbers.view(np.int64), words.view(np.float32), words.view(np.int8)
    for row in range(len(places)):
        start, count, place = starts[row], lengths[row], places[row]
        words[start : start + sizes[row]] = 0
        words[start] = count
        fours = eights = filled = 0
        before = base = 0.0
        head = start + 1 + mask_words(count)
        for group in range(kind_words(count)):
            first, last = group * _IN_WORD, min((group + 1) * _IN_WORD, count)
            if before == 0.0 and base == 0.0 and are_zero(bits, place + first, place + last):
                continue
            word = np.int64(0)
            for i in range(first, last):
                kind = kind_of(numbers[place + i], bits[place + i], before)
                before, base = base, base_of(numbers[place + i])
                fours += kind == _FOUR
                eights += kind == _EIGHT
                word |= np.int64(kind) << (2 * (i - first))
            if word != 0:
                words[head + filled] = word
                words[start + 1 + group // _BITS] |= np.int64(1) << (group % _BITS)
                filled += 1
        first, second, third = sections(count, filled, fours, eights)
        eight, four, one = start + first, _FOURS_IN_WORD * (start + second), _ONES_IN_WORD * (start + third)
        before = base = 0.0
        used = 0
        for group in range(kind_words(count)):
            first, last = group * _IN_WORD, min((group + 1) * _IN_WORD, count)
            word = np.int64(0)
            if is_there(words, start, group):
                word = words[head + used]
                used += 1
            elif before == 0.0 and base == 0.0:
                continue
            for i in range(first, last):
                number, kind = numbers[place + i], (word >> (2 * (i - first))) & 3
                if kind == _EIGHT:
                    words[eight] = bits[place + i]
                    eight += 1
                elif kind == _FOUR:
                    short[four] = number
                    four += 1
                elif kind == _ONE:
                    small[one] = number - before
                    one += 1
                before, base = base, base_of(number)
    return 0


def unpack_rows(words, starts, numbers, places):
    """Write the numbers of packed rows into `numbers`."""
    bits, short, small = numbers.view(np.int64), words.view(np.float32), words.view(np.int8)
    for row in range(len(starts)):
        start, place = starts[row], places[row]
        count = words[start]
        filled, _, fours, eights = kinds_in(words, start, count)
        first, second, third = sections(count, filled, fours, eights)
        eight, four, one = start + first, _FOURS_IN_WORD * (start + second), _ONES_IN_WORD * (start + third)
        before = base = 0.0
        used = start + 1 + mask_words(count)
        for group in range(kind_words(count)):
            first, last = group * _IN_WORD, min((group + 1) * _IN_WORD, count)
            word = np.int64(0)
            if is_there(words, start, group):
                word = words[used]
                used += 1
            elif before == 0.0 and base == 0.0:
                numbers[place + first : place + last] = 0.0
                continue
            for i in range(first, last):
                kind = (word >> (2 * (i - first))) & 3
                if kind == _EIGHT:
                    bits[place + i] = words[eight]
                    eight += 1
                elif kind == _FOUR:
                    numbers[place + i] = short[four]
                    four += 1
                elif kind == _ONE:
                    numbers[place + i] = before + small[one]
                    one += 1
                else:
                    numbers[place + i] = before
                before, base = base, base_of(numbers[place + i])
    return 0


def is_there(words, start, group):
    """Whether a packed row has this word of kinds; if not, it is 0."""
    return (words[start + 1 + group // _BITS] >> (group % _BITS)) & 1 == 1


def kinds_in(words, start, count):
    """How many words of kinds a packed row has, and how many numbers that need one byte, four, and eight."""
    filled = ones = fours = eights = 0
    head = start + 1 + mask_words(count)
    for group in range(kind_words(count)):
        if is_there(words, start, group):
            word = words[head + filled]
            filled += 1
            for i in range(min(_IN_WORD, count - group * _IN_WORD)):
                kind = (word >> (2 * i)) & 3
                ones += kind == _ONE
                fours += kind == _FOUR
                eights += kind == _EIGHT
    return filled, ones, fours, eights


def words_there(words, start, count):
    """How many words of kinds a packed row says that it has; -1 if it names some that it cannot have."""
    found = 0
    for group in range(mask_words(count) * _BITS):
        if is_there(words, start, group):
            if group >= kind_words(count):
                return -1
            found += 1
    return found


def first_unreadable(words, starts, sizes):
    """The first row that `unpack_rows` could not read within its words; -1 if there is none."""
    for row in range(len(starts)):
        count = words[starts[row]] if sizes[row] > 0 else 0
        if not 0 < count <= _MOST or 1 + mask_words(count) > sizes[row]:
            return row
        filled = words_there(words, starts[row], count)
        if filled < 0 or 1 + mask_words(count) + filled > sizes[row]:
            return row
        filled, ones, fours, eights = kinds_in(words, starts[row], count)
        third = sections(count, filled, fours, eights)[2]
        if third + (ones + _ONES_IN_WORD - 1) // _ONES_IN_WORD != sizes[row]:
            return row
    return -1
