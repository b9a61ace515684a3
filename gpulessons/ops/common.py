"""What several ops share: compiler options, a few helpers, and an exp and a tanh for CPU loops.

Nothing here is about any one op; read activations.py first, and come here for the details.
"""

from functools import partial
from operator import attrgetter

import numpy as np
from numba import njit
from numba.extending import register_jitable

SIZES = (1_000, 100_000, 10_000_000)  # elements: in the first cache, in the last one, in neither
THREADS = 256  # per block: eight warps, and small enough for every GPU
WARP, FULL_MASK = 32, 0xFFFFFFFF  # lanes of a warp, and a bit for each: all of them take part
CACHE_LINE = 64  # bytes: what a cache keeps together, and the longest vector a CPU has

# Constants are float32 by name: a bare 1.0 is float64 and would drag the expression with it.
ZERO, HALF, ONE = map(np.float32, (0, 0.5, 1))

# -- Loops in kernels. Numba's `range` keeps two numbers, k and how many are left, and the compiler
# -- does not see through it: that k is never negative, and grows by one. So for each `y[k, j]` it
# -- provides for a k that counts from the end, and multiplies k by a row's length, all in 64 bits.
# -- It does see through `while k < n`. Where numbers come from a cache, so that it is instructions
# -- that take the time, kernels count so: the coalesced matrix product then takes 4 integer
# -- instructions for each multiply-add, with `range` 31 (notebook 05). Elsewhere `range` stands, as
# -- usual: short loops of a known length are unrolled, and what waits for memory waits in any case.

# -- Numba's options. Everywhere: no branch to raise ZeroDivisionError, which would forbid vectors,
# -- and a multiplication and an addition may be fused. Sums keep their order unless it is said.

SERIAL = {"error_model": "numpy", "fastmath": {"contract"}}
PARALLEL = SERIAL | {"parallel": True}  # every core takes a part of a prange
REASSOCIATING = SERIAL | {"fastmath": {"contract", "reassoc", "nsz"}}  # sums in any order


@register_jitable(error_model="numpy")
def ceil_div(elements: int, each: int) -> int:
    """How many blocks of `each` hold so many elements: the quotient, rounded up."""
    return -(-elements // each)


def grid(shape, rows, columns):
    """(across, down): a block for each so many rows and columns of a matrix of this shape."""
    return ceil_div(shape[1], columns), ceil_div(shape[0], rows)


@njit(**SERIAL)
def aligned_empty(shape, dtype):
    """np.empty, begun where a cache line does: a vector that lies across two lines is fetched
    twice, and the same loop may then take half as long again.
    """
    size = 1
    for n in shape:
        size *= n
    room = np.empty(size + CACHE_LINE, dtype)
    skip = -room.ctypes.data % CACHE_LINE // room.itemsize
    return room[skip : skip + size].reshape(shape)


def flat(x):
    """x as one long row: itself where it is one. A view of an array on a GPU is no array's copy,
    but a new object, and takes Python 10 µs, as long as a launch: so only where x has more axes.
    """
    return x if x.ndim == 1 else x.ravel()


def torch_call(path, *arguments, **options):
    """A version that `prepares`: PyTorch's own function, writing into `out`, nothing around it.

    torch_call("sigmoid") calls torch.sigmoid(x, out=out).
    """

    def prepare(*inputs, out):
        import torch  # here, because it takes a second

        return partial(attrgetter(path)(torch), *inputs, *arguments, **options, out=out)

    return prepare


# -- exp and tanh. A CPU's vector units have none, and a loop around the math library's stays
# -- scalar: the polynomials below are plain arithmetic, so the compiler can vectorize them.


LOG2_E, LN2_HIGH, LN2_LOW = map(np.float32, (1.44269504, 0.693359375, -2.12194440e-4))
EXP_LOW, EXP_HIGH = np.float32(-87), np.float32(89)  # the last normal number; infinity
E2, E3, E4, E5, E6, E7 = map(
    np.float32,
    (0.5, 1.6666665459e-1, 4.1665795894e-2, 8.3334519073e-3, 1.3981999507e-3, 1.9875691500e-4),
)
BIAS, MANTISSA_BITS = np.int32(127), np.int32(23)


@njit(**SERIAL)
def exp32(v):
    """exp in float32, relative error under 2e-7 from -87 to 88 (tested); infinity from 88.4 on.

    The polynomial of Cephes' expf (S. Moshier, 1984-1992).
    """
    v = min(max(v, EXP_LOW), EXP_HIGH)
    k = np.floor(v * LOG2_E + HALF)  # exp(v) = 2^k exp(r), |r| <= ln(2)/2
    r = v - k * LN2_HIGH - k * LN2_LOW
    p = ((((E7 * r + E6) * r + E5) * r + E4) * r + E3) * r + E2
    power = np.int32((np.int32(k) + BIAS) << MANTISSA_BITS).view(np.float32)  # 2^k, by its bits
    return (p * r * r + r + ONE) * power


TANH_LIMIT = np.float32(7.90531110763549805)  # tanh rounds to 1 beyond it
P1, P3, P5, P7, P9, P11, P13 = map(
    np.float32,
    (4.89352455891786e-3, 6.37261928875436e-4, 1.48572235717979e-5, 5.12229709037114e-8,
     -8.60467152213735e-11, 2.00018790482477e-13, -2.76076847742355e-16),
)  # fmt: skip
Q0, Q2, Q4, Q6 = map(
    np.float32, (4.89352518554385e-3, 2.26843463243900e-3, 1.18534705686654e-4, 1.19825839466702e-6)
)


@njit(**SERIAL)
def tanh32(v):
    """tanh in float32, error under 5e-7 (tested); the rational approximation of Eigen's ptanh."""
    v = min(max(v, -TANH_LIMIT), TANH_LIMIT)
    s = v * v
    p = (((((P13 * s + P11) * s + P9) * s + P7) * s + P5) * s + P3) * s + P1
    return v * p / (((Q6 * s + Q4) * s + Q2) * s + Q0)
