"""The dense and softmax layers, forward and backward: against PyTorch; costs; broken on purpose."""

import numpy as np
import pytest

from gpulessons import (
    check,
    dense,
    dense_backward,
    gpu,
    host,
    softmax_layer,
    softmax_layer_backward,
)
from gpulessons.ops.dense import gradients, layer
from warplens import tracing

# examples, inputs, outputs: one of each, fewer than a tile, one more, primes, and more than a tile
# of the CPU's product.
SHAPES = [(1, 1, 1), (6, 1, 3), (4, 5, 1), (17, 33, 9)]
LARGE = (300, 6, 130)


def problem(op, shape, dtype=np.float32):
    """Inputs of any of the four ops, for a layer of this shape."""
    rng = np.random.default_rng(sum(shape))
    x, w, b = (each.astype(dtype) for each in layer(shape[0], rng, *shape[1:]))
    if op is dense or op is softmax_layer:
        return x, w, b
    if op is dense_backward:
        return x, w, dense(x, w, b), rng.standard_normal((shape[0], shape[2])).astype(dtype)
    labels = rng.integers(0, shape[2], shape[0], np.int32)
    return x, w, softmax_layer(x, w, b), labels


def test_the_specifications_are_pytorchs_in_float64_and_its_autograds():
    torch = pytest.importorskip("torch")
    linear, cross = torch.nn.functional.linear, torch.nn.functional.cross_entropy
    for shape in (*SHAPES, LARGE):
        x, w, b = problem(dense, shape, np.float64)
        *_, dy = problem(dense_backward, shape, np.float64)
        labels = problem(softmax_layer_backward, shape, np.float64)[3]
        for ours, loss_of in (
            (dense_backward(x, w, dense(x, w, b), dy),
             lambda z, dy=dy: (torch.sigmoid(z) * torch.tensor(dy)).sum()),
            (softmax_layer_backward(x, w, softmax_layer(x, w, b), labels),
             lambda z, labels=labels: cross(z, torch.tensor(labels).long(), reduction="sum")),
        ):  # fmt: skip
            tensors = [torch.tensor(a, requires_grad=True) for a in (x, w, b)]
            z = linear(*tensors)
            loss_of(z).backward()
            for got, tensor in zip(ours, tensors, strict=True):
                assert np.allclose(got, tensor.grad.numpy(), rtol=1e-9, atol=1e-12)
        z = z.detach()
        assert np.allclose(dense(x, w, b), torch.sigmoid(z), rtol=1e-12, atol=1e-15)
        assert np.allclose(softmax_layer(x, w, b), torch.softmax(z, 1), rtol=1e-9, atol=1e-15)


# -- Costs.


def test_the_fused_kernel_writes_each_result_once_and_reads_none():
    def asked(version):
        with tracing() as launches:
            dense.versions[version](*map(gpu.put, dense.inputs(16)))
        return launches[0].coalescing("out").bytes_asked, len(launches)

    assert asked("CUDA, fused") == (16 * 256 * 4, 1)
    assert asked("CUDA, product, then sigmoid") == (16 * 256 * 4, 2)


# -- Faults. Each is a real one; check() has to refuse it.

FAULTS = {
    "weights that are not transposed": lambda x, w, b: dense(x, w.reshape(w.shape[::-1]).T, b),
    "no bias": lambda x, w, b: dense(x, w, 0 * b),
    "the bias after the sigmoid": lambda x, w, b: dense(x, w, 0 * b) + b,
    "the first example for all": lambda x, w, b: dense(np.resize(x[0], x.shape), w, b),
    "in float16": lambda x, w, b: dense(*(a.astype(np.float16) for a in (x, w, b))).astype("f4"),
}
BACKWARD_FAULTS = {
    "the slope forgotten": lambda x, w, y, dy: gradients(x, w, dy),
    "the slope of 1 − y alone": lambda x, w, y, dy: gradients(x, w, dy * (1 - y)),
    "db of one example": lambda x, w, y, dy: last_db(x, w, dy * y * (1 - y)),
}


def last_db(x, w, dz):
    return *gradients(x, w, dz)[:2], dz[-1]


def test_a_wrong_layer_and_a_wrong_gradient_are_refused():
    assert check(dense, dense.function).passed
    for name, fault in FAULTS.items():
        assert not check(dense, fault).passed, name
    for name, fault in BACKWARD_FAULTS.items():
        assert not check(dense_backward, fault, on=host).passed, name


