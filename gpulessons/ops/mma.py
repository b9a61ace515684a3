"""mma: the instruction that tensor cores are for, in a CUDA kernel of Numba's.

    sums = mma(left, right, sums)       # sums (16 × 8) += left (16 × 8) times right (8 × 8)

One instruction, 2 · 16 · 8 · 8 = 2,048 FLOPs, the work of 32 ordinary multiply-adds. All 32 lanes
of a warp run it together: none holds a matrix, each holds four numbers of the left one, two of the
right one and four of the sums, in registers: its *fragment* of each (NVIDIA, "PTX ISA", "Matrix
fragments for mma.m16n8k8", draws who holds what).

The price is in the digits. The factors are TF32: float32 rounded to 11 of its 24 bits (`tf32`); the
products are added in float32. Needs compute capability 8.0 (Ampere, 2020).
"""

from llvmlite import ir
from numba import cuda
from numba.core import cgutils, types
from numba.extending import intrinsic

from gpulessons.backends import TF32, NotHere, too_old
from warplens.lanes import tensor_cores as traced

FLOAT, WORD = ir.FloatType(), ir.IntType(32)
ROUND = "cvt.rna.tf32.f32 $0, $1;"
MULTIPLY = (
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
    "{$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};"
)
FOUR_FLOATS, TWO_FLOATS = types.UniTuple(types.float32, 4), types.UniTuple(types.float32, 2)


def check_tensor_cores():
    """Raise NotHere, with a sentence, where no tensor cores multiply TF32."""
    (needed, when), has = TF32, cuda.get_current_device().compute_capability
    if tuple(has) < needed:
        raise NotHere(too_old("TF32", needed, when, has))


@intrinsic
def tf32(typing, x):
    """x, a float32, rounded to the nearest TF32: a float32 whose last 13 bits are 0."""

    def generate(context, builder, signature, arguments):
        instruction = ir.InlineAsm(ir.FunctionType(WORD, [FLOAT]), ROUND, "=r,f")
        return builder.bitcast(builder.call(instruction, arguments), FLOAT)

    return types.float32(types.float32), generate


@intrinsic
def mma(typing, left, right, sums):
    """The sums plus left times right: tuples of 4, 2 and 4 float32, this lane's fragments."""

    def generate(context, builder, signature, arguments):
        left, right, sums = (cgutils.unpack_tuple(builder, a) for a in arguments)
        words = [builder.bitcast(number, WORD) for number in left + right]
        kind = ir.FunctionType(ir.LiteralStructType([FLOAT] * 4), [WORD] * 6 + [FLOAT] * 4)
        instruction = ir.InlineAsm(kind, MULTIPLY, "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f")
        # Convergent: the compiler may not move it to where only some of the lanes come by.
        answer = builder.call(instruction, words + sums, attrs=("convergent",))
        numbers = cgutils.unpack_tuple(builder, answer, 4)
        return context.make_tuple(builder, signature.return_type, numbers)

    return FOUR_FLOATS(FOUR_FLOATS, TWO_FLOATS, FOUR_FLOATS), generate


mma.traced, tf32.traced = traced.mma, traced.tf32


@cuda.jit(device=True)
def left_fragment(tile, row, column):
    """This lane's 4 numbers of the 16 × 8 that begin at tile[row, column]."""
    i, j = row + (cuda.laneid >> 2 & 7), column + (cuda.laneid & 3)
    return tile[i, j], tile[i + 8, j], tile[i, j + 4], tile[i + 8, j + 4]


@cuda.jit(device=True)
def right_fragment(tile, row, column):
    """This lane's 2 numbers of the 8 × 8 that begin at tile[row, column]."""
    i, j = row + (cuda.laneid & 3), column + (cuda.laneid >> 2 & 7)
    return tile[i, j], tile[i + 4, j]


@cuda.jit(device=True)
def accumulator_place(row, column, n):
    """Where the n-th of this lane's 4 sums belongs, in the 16 × 8 that begin at (row, column)."""
    i, j = cuda.laneid >> 2 & 7, 2 * (cuda.laneid & 3)
    return row + i + 8 * (n >> 1), column + j + (n & 1)
