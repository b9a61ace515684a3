"""load4 and store4: four neighboring float32 in one instruction of a CUDA kernel.

    a, b, c, d = load4(x, (i, j))       # x[i, j], x[i, j + 1], x[i, j + 2], x[i, j + 3]
    store4(out, (i, j), (a, b, c, d))

A thread asks for 16 bytes instead of 4, in global memory (ld.global.v4 in the PTX) or in shared
memory (ld.shared.v4): the same numbers arrive for a quarter of the instructions. The first of the
four must lie at a multiple of 16 bytes, or a GPU stops the kernel; so rows have to be multiples of
four long, and a shared array is made with `cuda.shared.array(shape, float32, 16)`. C++ has float4
for this, Numba nothing; hence these two intrinsics. The index is not wrapped around or checked.
"""

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from warplens.lanes import wide as traced

BYTES = 16
VECTOR = ir.VectorType(ir.FloatType(), 4)
INDEX = types.intp


@intrinsic
def load4(typing, array, index):
    check(array)
    signature = types.UniTuple(types.float32, 4)(array, index)

    def generate(context, builder, signature, arguments):
        place = address(context, builder, signature.args[:2], *arguments)
        vector = builder.load(place, align=BYTES)
        numbers = [builder.extract_element(vector, lane(n)) for n in range(4)]
        return context.make_tuple(builder, signature.return_type, numbers)

    return signature, generate


@intrinsic
def store4(typing, array, index, values):
    check(array)
    signature = types.void(array, index, types.UniTuple(types.float32, 4))

    def generate(context, builder, signature, arguments):
        place = address(context, builder, signature.args[:2], *arguments[:2])
        vector = ir.Constant(VECTOR, ir.Undefined)
        for n, value in enumerate(cgutils.unpack_tuple(builder, arguments[2])):
            vector = builder.insert_element(vector, value, lane(n))
        builder.store(vector, place, align=BYTES)
        return context.get_dummy_value()

    return signature, generate


def check(array):
    """Neighbors in a row are neighbors in memory only where the array has its own, in C order."""
    if not isinstance(array, types.Array) or (array.dtype, array.layout) != (types.float32, "C"):
        raise TypingError(f"load4 and store4 take a float32 array in C order, not {array}")


def address(context, builder, kinds, array, index):
    """Where array[index] lies, as a pointer to four numbers."""
    array = context.make_array(kinds[0])(context, builder, array)
    strides = cgutils.unpack_tuple(builder, array.strides)
    index = cgutils.unpack_tuple(builder, index)
    offset = ir.Constant(ir.IntType(64), 0)
    for at, kind, stride in zip(index, kinds[1], strides, strict=True):
        at = context.cast(builder, at, kind, INDEX)
        offset = builder.add(offset, builder.mul(at, stride))
    data = builder.bitcast(array.data, ir.IntType(8).as_pointer())
    return builder.bitcast(builder.gep(data, [offset]), VECTOR.as_pointer())


def lane(n):
    return ir.Constant(ir.IntType(32), n)


load4.traced, store4.traced = traced.load4, traced.store4
