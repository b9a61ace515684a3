"""The last layer of a classifier: scores, and out of them probabilities.

    z = h wᵀ + b;   p[i, j] = exp(z[i, j]) / sum over k of exp(z[i, k])

With the loss −log p[i, label] the gradient is as short as can be: dz = p − 1 at the label, and p
elsewhere (Bridle 1990). A softmax needs all scores of its example: it is a pass of its own.
"""

import numpy as np
from numba import cuda

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import Case, op

from .common import ONE, ZERO, run_op
from .dense import cuda_gradients, gradients, linear_kernel, numba_gradients, tiles
from .matmul_cpu import multiply
from .rows import warp_per_row
from .softmax import softmax, softmax_on_every_core
from .softmax import warp_kernel as softmax_kernel
from .transpose import transposed

CLASSES = 10


def last_layer(examples, rng, inputs=64):
    """h: (examples, inputs), w: (classes, inputs), b: (classes,), float32; ten classes."""
    h = rng.random((examples, inputs), np.float32)
    w = rng.standard_normal((CLASSES, inputs), np.float32)
    return h, w, rng.standard_normal(CLASSES, np.float32)


def last_layer_and_labels(examples, rng, **axes):
    """h, w, p = softmax_layer(h, w, b) and the labels: (examples,) int32."""
    h, w, b = last_layer(examples, rng, **axes)
    return h, w, softmax_layer(h, w, b), rng.integers(0, CLASSES, examples, np.int32)


SHAPES = {"sizes": (64, 4096), "rtol": 2e-5, "unit": "examples",
          "edge_cases": [Case(n, inputs=65) for n in (33, 19, 3)]}  # fmt: skip


@op(inputs=last_layer, flops=lambda h, w, b: (2 * h.shape[1] + 6) * len(h) * len(w), **SHAPES,
    signature="(examples, inputs), (classes, inputs), (classes,)")  # fmt: skip
def softmax_layer(h, w, b):
    """softmax(h wᵀ + b): (examples, classes). h: (examples, inputs), w: (classes, inputs), b:
    (classes,), floats. Every row adds up to one.
    """
    return softmax(h @ w.T + b)


@op(inputs=last_layer_and_labels, **SHAPES,
    flops=lambda h, w, p, labels: (4 * h.shape[1] + 1) * p.size + len(p),
    signature="(examples, inputs), (classes, inputs), (examples, classes), (examples,)",
)  # fmt: skip
def softmax_layer_backward(h, w, p, labels):
    """dh, dw, db of the summed loss −log p[i, label]. p: softmax_layer's; labels: (examples,)."""
    return gradients(h, w, output_gradient(p, labels))


def output_gradient(p, labels):
    """dz: p, less one at each example's label."""
    dz = p.copy()
    dz[np.arange(len(p)), labels] -= 1
    return dz


@softmax_layer.version("Numba", on=host)
def numba_forward(h, w, b, out):
    multiply(h, transposed(w), out)
    out += b
    softmax_on_every_core(out, out)


@softmax_layer_backward.version("Numba", on=host)
def numba_backward(h, w, p, labels, out):
    numba_gradients(h, w, output_gradient(p, labels), *out)


@softmax_layer.version("CUDA", on=gpu)
def launch_forward(h, w, b, out):
    linear_kernel[tiles(*out.shape)](h, w, b, out)
    softmax_kernel[warp_per_row(out.shape[0])](out, out)


@cuda.jit
def output_gradient_kernel(p, labels, dz):
    j, i = cuda.grid(2)
    if i < p.shape[0] and j < p.shape[1]:
        dz[i, j] = p[i, j] - (ONE if j == labels[i] else ZERO)


@softmax_layer_backward.version("CUDA", on=gpu, prepares=True)
def launch_backward(h, w, p, labels, out):
    dz, dzt = gpu.empty(p.shape, p.dtype), gpu.empty(p.shape[::-1], p.dtype)

    def call():
        output_gradient_kernel[tiles(*dz.shape)](p, labels, dz)
        cuda_gradients(h, w, dz, dzt, *out)

    return call


@softmax_layer.version("PyTorch on GPU", on=torch_gpu, prepares=True)
@softmax_layer.version("PyTorch on CPU", on=torch_cpu, prepares=True)
def torch_forward(h, w, b):
    import torch

    wt = w.T
    return lambda: torch.softmax(torch.addmm(b, h, wt), 1)


@softmax_layer_backward.version("PyTorch on GPU", on=torch_gpu, prepares=True)
@softmax_layer_backward.version("PyTorch on CPU", on=torch_cpu, prepares=True)
def torch_backward(h, w, p, labels):
    from torch.nn.functional import one_hot

    return lambda: gradients(h, w, p - one_hot(labels.long(), p.shape[1]))


if __name__ == "__main__":
    run_op(softmax_layer)
