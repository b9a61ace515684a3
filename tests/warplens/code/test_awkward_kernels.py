"""Kernels that need more than one text of PTX, or that the assembler refuses: answered in words."""

import numpy as np
import pytest
from numba import cuda, float32

from warplens.code.cuda import CannotCompile, assembly

N = 64


def crowded(x):
    held = cuda.shared.array(16 * 1024, float32)
    held[cuda.threadIdx.x] = x[cuda.threadIdx.x]
    cuda.syncthreads()
    x[cuda.threadIdx.x] = held[31 - cuda.threadIdx.x]


def doubled(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 2 * x[i]


def test_too_much_shared_memory_is_refused_in_words():
    with pytest.raises(
        CannotCompile, match=r"it uses too much shared data .65,536 bytes"
    ) as caught:
        assembly(crowded, np.zeros(N, np.float32))
    assert "\n" not in str(caught.value) and "ERROR_" not in str(caught.value)


def test_tensors_are_compiled_for_like_arrays():
    torch = pytest.importorskip("torch")
    tensor, array = torch.zeros(N), np.zeros(N, np.float32)
    of_tensors, of_arrays = assembly(doubled, tensor, tensor), assembly(doubled, array, array)
    assert len(of_tensors.instructions) == len(of_arrays.instructions)
    assert of_tensors.registers == of_arrays.registers
    with pytest.raises(TypeError, match=r"tensor of torch.bfloat16.*\.float\(\)"):
        assembly(doubled, tensor.bfloat16(), tensor.bfloat16())


def test_what_is_no_array_is_refused_by_its_type():
    with pytest.raises(TypeError, match="is a object; a kernel takes arrays"):
        assembly(doubled, object(), np.zeros(N))
