"""The dense and softmax layers, forward and backward: against PyTorch, and by their own laws."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpulessons import (
    check,
    dense,
    dense_backward,
    gpu,
    host,
    microscope,
    softmax_layer,
    softmax_layer_backward,
    torch_cpu,
    trace,
)
from gpulessons.operation import fetched
from gpulessons.ops.dense import layer, sized, warp_kernel

torch = pytest.importorskip("torch")

# examples, inputs, outputs: one of each, fewer than a tile, one more, primes, whole tiles, and
# more than a tile of the CPU's product.
SHAPES = [(1, 1, 1), (1, 7, 5), (6, 1, 3), (4, 5, 1), (1, 257, 31), (17, 33, 9), (32, 16, 48),
          (300, 6, 130)]  # fmt: skip
OPS = (dense, dense_backward, softmax_layer, softmax_layer_backward)
VERSIONS = [v for op in OPS for v in op.versions.values() if v.backend in (host, gpu, torch_cpu)]
small = st.integers(1, 6)


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


def run(version, *inputs):
    if version.backend is gpu:
        with microscope.tracing():
            return fetched(gpu, version(*map(gpu.put, inputs)))
    return fetched(version.backend, version(*map(version.backend.put, inputs)))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("version", VERSIONS, ids=repr)
def test_every_version_is_right_at_every_shape(version, shape):
    inputs = problem(version.op, shape)
    error = version.op.error(run(version, *inputs), version.op.reference(*inputs))
    assert error <= version.rtol


# -- The specifications, in float64, against PyTorch's own gradients and against differences.


def torch_gradients(loss_of, *arrays):
    tensors = [torch.tensor(a, requires_grad=True) for a in arrays]
    loss_of(*tensors).backward()
    return [t.grad.numpy() for t in tensors]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_forward_is_what_torch_calls_linear_and_an_activation(shape):
    x, w, b = problem(dense, shape, np.float64)
    z = torch.nn.functional.linear(*map(torch.tensor, (x, w, b)))
    assert np.allclose(dense(x, w, b), torch.sigmoid(z), rtol=1e-12, atol=1e-15)
    assert np.allclose(softmax_layer(x, w, b), torch.softmax(z, 1), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_backward_is_what_autograd_finds(shape):
    x, w, y, dy = problem(dense_backward, shape, np.float64)
    _, _, b = problem(dense, shape, np.float64)

    def loss(x, w, b):
        return (torch.sigmoid(torch.nn.functional.linear(x, w, b)) * torch.tensor(dy)).sum()

    for ours, theirs in zip(dense_backward(x, w, y, dy), torch_gradients(loss, x, w, b),
                            strict=True):  # fmt: skip
        assert np.allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_softmax_layer_s_gradient_is_that_of_the_cross_entropy(shape):
    x, w, p, labels = problem(softmax_layer_backward, shape, np.float64)
    _, _, b = problem(softmax_layer, shape, np.float64)

    def loss(x, w, b):
        z = torch.nn.functional.linear(x, w, b)
        return torch.nn.functional.cross_entropy(z, torch.tensor(labels).long(), reduction="sum")

    for ours, theirs in zip(softmax_layer_backward(x, w, p, labels), torch_gradients(loss, x, w, b),
                            strict=True):  # fmt: skip
        assert np.allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def differences(loss, array, step=1e-6):
    """The gradient of loss() with respect to an array, by moving each of its numbers a little."""
    slopes = np.empty_like(array)
    for place in np.ndindex(array.shape):
        kept = array[place]
        array[place] = kept + step
        above = loss()
        array[place] = kept - step
        slopes[place] = (above - loss()) / (2 * step)
        array[place] = kept
    return slopes


@settings(deadline=None, max_examples=20)
@given(small, small, small, st.integers(0, 99))
def test_gradients_are_what_small_moves_of_each_number_show(examples, inputs, outputs, seed):
    rng = np.random.default_rng(seed)
    shapes = (examples, inputs), (outputs, inputs), outputs, (examples, outputs)
    x, w, b, dy = map(rng.standard_normal, shapes)
    labels = rng.integers(0, outputs, examples)
    two = {
        "dense": (lambda: (dense(x, w, b) * dy).sum(), dense_backward(x, w, dense(x, w, b), dy)),
        "softmax": (lambda: -np.log(softmax_layer(x, w, b)[np.arange(examples), labels]).sum(),
                    softmax_layer_backward(x, w, softmax_layer(x, w, b), labels)),
    }  # fmt: skip
    for loss, gradients in two.values():
        for array, gradient in zip((x, w, b), gradients, strict=True):
            assert np.allclose(differences(loss, array), gradient, rtol=1e-5, atol=1e-7)


# -- Laws.

FAST = [dense.versions[name] for name in ("NumPy", "BLAS, then sigmoid",
                                          "Numba, a row of weights at a time")]  # fmt: skip


@pytest.mark.parametrize("version", FAST, ids=repr)
@settings(deadline=None, max_examples=15)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 40), st.integers(0, 99))
def test_examples_do_not_know_each_other_and_outputs_neither(version, m, k, n, seed):
    rng = np.random.default_rng(seed)
    x, w, b = layer(m, rng, k, n)
    whole = version(x, w, b)
    some, few = rng.permutation(m)[: m // 2 + 1], rng.permutation(n)[: n // 2 + 1]
    part = version(x[some], w[few], b[few])
    assert np.allclose(whole[np.ix_(some, few)], part, rtol=0, atol=1e-5)


@settings(deadline=None, max_examples=25)
@given(small, small, small, st.integers(0, 99))
def test_backward_is_linear_in_the_gradient_and_adds_up_over_the_batch(m, k, n, seed):
    rng = np.random.default_rng(seed)
    x, w, b = (a.astype(np.float64) for a in layer(m, rng, k, n))
    y, dy, dy2 = dense(x, w, b), rng.standard_normal((m, n)), rng.standard_normal((m, n))
    one, two = dense_backward(x, w, y, dy), dense_backward(x, w, y, dy2)
    both = dense_backward(x, w, y, 3 * dy - dy2)
    for a, c, total in zip(one, two, both, strict=True):
        assert np.allclose(3 * a - c, total)
    singles = [dense_backward(x[i : i + 1], w, y[i : i + 1], dy[i : i + 1]) for i in range(m)]
    assert np.allclose(one[0], np.concatenate([dx for dx, _, _ in singles]))
    assert np.allclose(one[1], sum(dw for _, dw, _ in singles))
    assert np.allclose(one[2], sum(db for _, _, db in singles))


@settings(deadline=None, max_examples=25)
@given(small, small, small, st.floats(-50, 50), st.integers(0, 99))
def test_probabilities_add_up_and_only_differences_of_sums_count(m, k, n, shift, seed):
    x, w, b = (a.astype(np.float64) for a in layer(m, np.random.default_rng(seed), k, n))
    p = softmax_layer(x, w, b)
    assert np.allclose(p.sum(1), 1) and (p >= 0).all()
    assert np.allclose(softmax_layer(x, w, b + shift), p)


# -- Costs.


def test_backward_counts_twice_the_forward_products():
    x, w, b = dense.inputs(64)
    y = dense(x, w, b)
    forward, backward = dense.flops(x, w, b), dense_backward.flops(x, w, y, y)
    assert backward == pytest.approx(2 * forward, rel=0.02)
    assert forward == pytest.approx(2 * x.size * w.shape[0], rel=0.02)


def test_every_request_of_a_warp_per_output_is_coalesced():
    x, w, b = (np.ones(shape, np.float32) for shape in ((1, 96), (8, 96), 8))
    seen = trace(warp_kernel)[(1, 1), (32, 8)](x, w, b, np.empty((1, 8), np.float32))
    assert seen.coalescing("w").sectors_per_request == 4
    assert seen.coalescing("w").bytes_asked == w.nbytes  # each weight once


def test_the_fused_kernel_writes_each_result_once_and_reads_none():
    def asked(version):
        with microscope.tracing() as launches:
            dense.versions[version](*map(gpu.put, dense.inputs(64)))
        return [launch.coalescing("out").bytes_asked for launch in launches[:1]], len(launches)

    result = 64 * 256 * 4
    assert asked("CUDA, fused") == ([result], 1)
    assert asked("CUDA, product, then sigmoid") == ([result], 2)


def test_the_unfused_layer_works_in_place_and_moves_no_weight():
    x, w, b = dense.inputs(64, inputs=512, outputs=512)
    layer, out = dense.versions["BLAS, then sigmoid"], np.empty((64, 512), np.float32)
    layer(x, w, b, out=out)  # compiles
    tracemalloc.start()
    layer(x, w, b, out=out)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < out.nbytes / 4  # neither a second result nor the weights, turned


# -- Faults. Each is a real one; check() has to refuse it.

FAULTS = {
    "weights that are not transposed": lambda x, w, b: dense(x, w.reshape(w.shape[::-1]).T, b),
    "no bias": lambda x, w, b: dense(x, w, 0 * b),
    "the bias after the sigmoid": lambda x, w, b: dense(x, w, 0 * b) + b,
    "the bias along the examples": lambda x, w, b: dense(x, w, np.resize(b[::-1], b.shape)),
    "the first example for all": lambda x, w, b: dense(np.resize(x[0], x.shape), w, b),
    "no sigmoid": lambda x, w, b: x @ w.T + b,
    "in float16": lambda x, w, b: dense(*(a.astype(np.float16) for a in (x, w, b))).astype("f4"),
}
BACKWARD_FAULTS = {
    "the slope forgotten": lambda x, w, y, dy: spec(x, w, dy),
    "the slope of 1 − y alone": lambda x, w, y, dy: spec(x, w, dy * (1 - y)),
    "a mean instead of a sum": lambda x, w, y, dy: mean_of(dense_backward(x, w, y, dy), len(x)),
    "dw transposed": lambda x, w, y, dy: transposed_dw(*dense_backward(x, w, y, dy)),
    "db of one example": lambda x, w, y, dy: last_db(x, w, dy * y * (1 - y)),
}  # fmt: skip


def spec(x, w, dz):
    return dz @ w, dz.T @ x, dz.sum(0)


def mean_of(gradients, examples):
    dx, dw, db = gradients
    return dx, dw / np.float32(examples), db / np.float32(examples)


def transposed_dw(dx, dw, db):
    return dx, np.ascontiguousarray(dw.T).reshape(dw.shape), db


def last_db(x, w, dz):
    return *spec(x, w, dz)[:2], dz[-1]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_layer_is_refused(fault):
    assert check(dense, dense.function).passed
    assert not check(dense, FAULTS[fault]).passed


@pytest.mark.parametrize("fault", BACKWARD_FAULTS)
def test_a_wrong_gradient_is_refused(fault):
    assert not check(dense_backward, BACKWARD_FAULTS[fault], on=host).passed


def test_a_layer_of_another_width_keeps_every_version():
    wide = dense.like(sized(12, 20), sizes=(1, 4))
    x, w, b = wide.inputs(4)
    assert (x.shape, w.shape, b.shape) == ((4, 12), (20, 12), (20,))
    assert list(wide.versions) == list(dense.versions)
