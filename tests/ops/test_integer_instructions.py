"""Index arithmetic must not hide what a kernel is there to show: few integers a multiply-add.

The counts are exact for one version of the compiler; the limits leave room for the next.
"""


import numpy as np
import pytest

from gpulessons.ops import attention, conv2d
from gpulessons.ops import matmul as kernels
from warplens.code.cuda import CannotCompile, assembly

TWO, THREE, FOUR = (np.ones((4,) * axes, np.float32) for axes in (2, 3, 4))
PRODUCT = TWO, TWO, TWO
LIMITS = {  # integer instructions for each multiply-add in the hot loop; found: 4.5, 4.5, 1.4, …
    "naive": (kernels.naive_kernel, PRODUCT, 6),
    "coalesced": (kernels.coalesced_kernel, PRODUCT, 6),
    "tile": (kernels.tile_kernel, PRODUCT, 2),
    "square": (kernels.square_kernel, PRODUCT, 1 / 2),
    "vector": (kernels.vector_kernel, PRODUCT, 1 / 8),
    "scores": (attention.scores_kernel, (THREE, THREE, True, np.float32(1), THREE), 1),
    "output": (attention.output_kernel, (THREE, THREE, THREE), 1),
    "convolution": (conv2d.direct_kernel, (FOUR, FOUR, 1, 1, FOUR), 9),
}
FEW = {"coalesced", "output"}  # tried at every run; the others nightly


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.nightly] * (name not in FEW)) for name in LIMITS]
)
def test_few_integer_instructions_stand_beside_a_multiply_add(name):
    kernel, arguments, limit = LIMITS[name]
    try:
        hot = assembly(kernel, *arguments, capability=(8, 6)).mix.hot
    except CannotCompile as why:
        pytest.skip(str(why))
    assert (hot.integer + hot.pipes.get("uniform", 0)) / hot.multiply_adds <= limit


