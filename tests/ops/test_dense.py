"""The dense layer and its gradients: against PyTorch; what it costs; broken on purpose."""

import numpy as np
import pytest

from gpulessons import check, dense, gpu
from gpulessons.ops.dense import gradients, layer
from warplens import tracing


def test_layer_and_gradients_are_pytorchs_and_its_autograds():
    torch = pytest.importorskip("torch")
    for shape in ((1, 1, 1), (6, 1, 3), (4, 5, 1), (300, 6, 130)):  # examples, inputs, outputs
        rng = np.random.default_rng(sum(shape))
        x, w, b = (each.astype(np.float64) for each in layer(shape[0], rng, *shape[1:]))
        dy = rng.standard_normal((shape[0], shape[2]))
        tensors = [torch.tensor(each, requires_grad=True) for each in (x, w, b)]
        theirs = torch.sigmoid(torch.nn.functional.linear(*tensors))
        (theirs * torch.tensor(dy)).sum().backward()
        y = dense(x, w, b)
        assert np.allclose(y, theirs.detach(), rtol=1e-12, atol=1e-15)
        for got, tensor in zip(gradients(x, w, dy * y * (1 - y)), tensors, strict=True):
            assert np.allclose(got, tensor.grad.numpy(), rtol=1e-9, atol=1e-12)


def test_the_fused_kernel_writes_each_result_once_and_reads_none():
    with tracing() as launches:
        dense.versions["CUDA, fused"](*map(gpu.put, dense.inputs(16)))
    (launch,) = launches
    assert launch.coalescing("out").bytes_asked == 16 * 256 * 4


# -- Faults. Each is a real one; check() has to refuse it.

FAULTS = {
    "weights that are not transposed": lambda x, w, b: dense(x, w.reshape(w.shape[::-1]).T, b),
    "no bias": lambda x, w, b: dense(x, w, 0 * b),
    "the bias after the sigmoid": lambda x, w, b: dense(x, w, 0 * b) + b,
    "the first example for all": lambda x, w, b: dense(np.resize(x[0], x.shape), w, b),
    "in float16": lambda x, w, b: dense(*(a.astype(np.float16) for a in (x, w, b))).astype("f4"),
}


def test_a_wrong_layer_is_refused():
    assert check(dense, dense.function).passed
    for name, fault in FAULTS.items():
        assert not check(dense, fault).passed, name
