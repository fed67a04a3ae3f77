"""Products of a matrix with a row as separate LLVM functions, with the sums of `llvm_kernels`.

A matrix of twenty columns is read in a hundred nanoseconds. One call for each of its rows would take as long
again.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from holdfast._compiled.llvm_entrywise import add_function
from holdfast._compiled.llvm_kernels import (
    add_attributes,
    counting,
    declared,
    dot_function,
    loaded,
    variable,
)
from holdfast._compiled.numba_private import data_and_length, nothing

_LONG, _DOUBLE = ir.IntType(64), ir.DoubleType()
_WIDTHS = (24, 8, 4, 1)  # columns that are summed at the same time, in registers
_INLINE = ("alwaysinline",)


@intrinsic
def sum_rows(typing_context, matrix, x, total):
    """total becomes `holdfast.matrices.sum_of_rows` of a matrix and a dense row in C order."""

    def generate(context, builder, signature, args):
        function = _function(context, builder, "sum_rows", signature.args, args, _write_sum_rows)
        builder.call(*function)
        return nothing(context)

    return types.void(matrix, x, total), generate


@intrinsic
def shrink_rows(typing_context, matrix, a, along, factor):
    """`holdfast.matrices.shrink_rows`."""

    def generate(context, builder, signature, args):
        function, values = _function(
            context, builder, "shrink_rows", signature.args[:3], args[:3], _write_shrink_rows, _DOUBLE
        )
        builder.call(function, [*values, args[3]])
        return nothing(context)

    return types.void(matrix, a, along, types.float64), generate


def _function(context, builder, name, kinds, arrays, write, *more):
    """The function of this name for such arrays, and their addresses with the numbers of rows and columns."""
    parts = [data_and_length(context, builder, *part) for part in zip(kinds, arrays, strict=True)]
    data, rows = [pointer for pointer, _ in parts], parts[0][1]
    columns = parts[-1][1] if name == "sum_rows" else parts[1][1]
    signature = ir.FunctionType(ir.VoidType(), [*(pointer.type for pointer in data), _LONG, _LONG, *more])
    function = declared(builder.module, signature, ".".join(["holdfast", name, str(kinds[1].dtype)]))
    if function.is_declaration:
        function.linkage = "linkonce_odr"
        add_attributes(function, "nounwind", "willreturn", "noinline")
        for pointer in function.args[:3]:
            pointer.add_attribute("noalias")
        write(ir.IRBuilder(function.append_basic_block()), *function.args)
    return function, [*data, rows, columns]


def _write_sum_rows(builder, matrix, x, total, rows, columns):
    start = _LONG(0)
    for width in _WIDTHS:
        blocks = builder.udiv(builder.sub(columns, start), _LONG(width))
        stop = builder.add(start, builder.mul(blocks, _LONG(width)))
        lanes = min(width, 4)
        with counting(builder, start, stop, _LONG(width)) as j:
            zero = ir.Constant(ir.VectorType(_DOUBLE, lanes), [0.0] * lanes) if lanes > 1 else _DOUBLE(0.0)
            sums = [variable(builder, zero) for _ in range(width // lanes)]
            for each in sums:
                builder.store(zero, each)
            with counting(builder, _LONG(0), rows, _LONG(1)) as i:
                row = builder.gep(matrix, [builder.add(builder.mul(i, columns), j)])
                factor = _repeated(builder, loaded(builder, x, i, 1), lanes)
                for k, each in enumerate(sums):
                    term = builder.fmul(loaded(builder, row, _LONG(k * lanes), lanes), factor)
                    builder.store(builder.fadd(builder.load(each), term), each)
            for k, each in enumerate(sums):
                place = builder.gep(total, [builder.add(j, _LONG(k * lanes))])
                place = builder.bitcast(place, zero.type.as_pointer())
                builder.store(builder.load(each), place, align=8)
        start = stop
    builder.ret_void()


def _write_shrink_rows(builder, matrix, a, along, rows, columns, factor):
    """All inner products come before all changes of the matrix, so that no product waits for a change."""
    dot = dot_function(builder.module, types.Array(types.float64, 1, "C"))
    add = add_function(builder.module)
    with counting(builder, _LONG(0), rows, _LONG(1)) as i:
        row = builder.gep(matrix, [builder.mul(i, columns)])
        product = builder.call(dot, [row, a, columns], attrs=_INLINE)
        builder.store(product, builder.gep(along, [i]))
    with counting(builder, _LONG(0), rows, _LONG(1)) as i:
        row = builder.gep(matrix, [builder.mul(i, columns)])
        scale = builder.fmul(builder.load(builder.gep(along, [i])), factor)
        builder.call(add, [row, a, columns, scale], attrs=_INLINE)
    builder.ret_void()


def _repeated(builder, value, lanes):
    if lanes == 1:
        return value
    kind = ir.VectorType(_DOUBLE, lanes)
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), value, _LONG(0))
    return builder.shuffle_vector(first, first, ir.VectorType(ir.IntType(32), lanes)([0] * lanes))
