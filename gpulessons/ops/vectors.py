"""Vectors: many numbers as one value, for loops on a CPU.

    row = load(y, k, j)                 # y[k, j : j + LANES]
    total = fma(x[i, k], row, total)    # x[i, k] · row + total, in every lane
    store(total, out, i, j)             # out[i, j : j + LANES] = total

A core does not multiply numbers but vectors of them: 16 float32 with AVX-512, 8 with AVX2, 4 with
NEON. It is what a warp does on a GPU: one instruction, many lanes. In most loops the compiler finds
the vectors by itself. It finds none that could stay in registers from one turn of an outer loop to
the next, and so here they are written down. LANES is an eighth of all the numbers that fit into
the registers, so that six values of results, one row and a number leave no register idle. LLVM
takes such a value apart, into as many registers as it needs.

A row must lie in order, and LANES numbers must be there: no index is checked or wrapped around.
Without a compiler the three are NumPy, as their bodies say.
"""

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.registry import cpu_target
from numba.extending import intrinsic, models, overload, register_model

FEATURES = str(cpu_target.target_context.codegen().magic_tuple())  # what Numba compiles for
LANES = 64 if "+avx512f" in FEATURES else 16  # of 32 registers of 16, or 16 of 8, or 32 of 4


def load(array, i, j):
    return array[i, j : j + LANES].copy()


def store(vector, array, i, j):
    array[i, j : j + LANES] = vector


def fma(number, vector, total):
    return number * vector + total


def full_width():
    """Loops of the function that says so have the CPU's whole vector width.

    Of AVX-512 LLVM takes half, because the first CPUs that had it then lowered their clock. For a
    loop that waits for memory it is right; one that computes an exp for each number gains by all.
    """


# -- For Numba: a type, and what LLVM is told.


class Vector(types.Type):
    def __init__(self, dtype):
        super().__init__(f"{LANES} x {dtype}")
        self.dtype = dtype


@register_model(Vector)
class VectorModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        number = manager[kind.dtype].get_value_type()
        super().__init__(manager, kind, ir.VectorType(number, LANES))


def place(context, builder, kind, array, i, j):
    """The address of array[i, j], as a vector's; and what a number there is aligned to."""
    data = context.make_array(kind)(context, builder, array)
    at = cgutils.get_item_pointer(context, builder, kind, data, (i, j), wraparound=False)
    vector = context.get_value_type(Vector(kind.dtype))
    return builder.bitcast(at, vector.as_pointer()), context.get_abi_sizeof(vector.element)


@intrinsic
def load_vector(typing, array, i, j):
    def generate(context, builder, signature, arguments):
        at, align = place(context, builder, array, *arguments)
        return builder.load(at, align=align)

    return Vector(array.dtype)(array, types.intp, types.intp), generate


@intrinsic
def store_vector(typing, vector, array, i, j):
    def generate(context, builder, signature, arguments):
        at, align = place(context, builder, array, *arguments[1:])
        builder.store(arguments[0], at, align=align)
        return context.get_dummy_value()

    return types.void(vector, array, types.intp, types.intp), generate


@intrinsic
def fma_vector(typing, number, vector, total):
    def generate(context, builder, signature, arguments):
        number, factors, total = arguments
        lane, lanes = ir.IntType(32), ir.VectorType(ir.IntType(32), LANES)
        first = builder.insert_element(ir.Constant(total.type, ir.Undefined), number, lane(0))
        numbers = builder.shuffle_vector(first, first, ir.Constant(lanes, [0] * LANES))
        product = builder.fmul(numbers, factors, flags=["contract"])
        return builder.fadd(product, total, flags=["contract"])

    return total(number, vector, total), generate


@intrinsic
def prefer_full_width(typing):
    def generate(context, builder, signature, arguments):  # llvmlite itself knows only some names
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), generate


overload(full_width, inline="always")(lambda: lambda: prefer_full_width())
overload(load)(lambda array, i, j: lambda array, i, j: load_vector(array, i, j))
overload(store)(lambda vector, array, i, j: lambda vector, array, i, j:
                store_vector(vector, array, i, j))  # fmt: skip
overload(fma)(lambda number, vector, total: lambda number, vector, total:
              fma_vector(number, vector, total))  # fmt: skip
