"""The LSTM ops: PyTorch's own layers agree, laws hold, and planted faults are found."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch

from gpulessons import (
    check,
    gpu,
    lstm_backward,
    lstm_cell,
    lstm_layers,
    lstm_sequence,
    microscope,
    sigmoid,
)
from gpulessons.backends import host, torch_cpu
from gpulessons.models import letters
from gpulessons.ops import lstm_kernels as kernels
from gpulessons.ops import lstm_layers as layers
from gpulessons.ops import lstm_sequence as sequence
from gpulessons.ops.lstm_parts import add_thin_product, array_unit, flops, parameters

CLOSE = {"rtol": 2e-5, "atol": 2e-5}
# (steps, batch, inputs, hidden): odd sizes, a batch of one, a single step, and one example over.
SHAPES = [(7, 5, 3, 11), (1, 4, 6, 2), (6, 1, 5, 9), (1, 1, 1, 1), (9, 6, 17, 33)]


def on_cpu(op):
    names = [v.name for v in op.versions.values() if v.backend in (host, torch_cpu)]
    return pytest.mark.parametrize("name", names)


def run(op, name, *inputs):
    version = op.versions[name]
    results = version(*map(version.backend.put, inputs))
    return tuple(map(version.backend.get, results))


def problem(steps, batch, inputs, hidden, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((steps, batch, inputs), np.float32)
    h, c = rng.standard_normal((2, batch, hidden), np.float32)
    return x, h, c, *parameters(inputs, hidden, rng)


def stacked_problem(steps, batch, hidden, count, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((steps, batch, hidden), np.float32)
    states = rng.standard_normal((2, count, batch, hidden), np.float32)
    weights = [parameters(hidden, hidden, rng) for _ in range(count)]
    return x, *states, *map(np.stack, zip(*weights, strict=True))


def tensors(*inputs, dtype=torch.float32):
    return [torch.tensor(each, dtype=dtype) for each in inputs]


def module(w, u, b, dtype=torch.float32):
    """nn.LSTM with the weights of a stack of layers: w, u and b have the layers' axis first."""
    made = torch.nn.LSTM(w.shape[2], u.shape[2], num_layers=len(w), dtype=dtype)
    for layer, (w_, u_, b_) in enumerate(zip(*tensors(w, u, b, dtype=dtype), strict=True)):
        parts = {"weight_ih": w_, "weight_hh": u_, "bias_ih": 0.25 * b_, "bias_hh": 0.75 * b_}
        for name, value in parts.items():
            getattr(made, f"{name}_l{layer}").data = value.clone()
    return made


# -- PyTorch's layers, with their weights as they are.


@on_cpu(lstm_cell)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_cell_is_nn_LSTMCell(name, shape):
    x, h, c, w, u, b = problem(*shape)
    own = torch.nn.LSTMCell(w.shape[1], u.shape[1])
    parts = zip(own.parameters(), (w, u, 0.25 * b, 0.75 * b), strict=True)
    for parameter, value in parts:
        parameter.data = torch.tensor(value)
    with torch.no_grad():
        wants = own(*tensors(x[0]), tensors(h, c))
    for got, want in zip(run(lstm_cell, name, x[0], h, c, w, u, b), wants, strict=True):
        np.testing.assert_allclose(got, want.numpy(), **CLOSE)


@on_cpu(lstm_sequence)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_sequence_is_nn_LSTM(name, shape):
    x, h, c, w, u, b = problem(*shape)
    with torch.no_grad():
        hs, (last_h, last_c) = module(w[None], u[None], b[None])(
            torch.tensor(x), tensors(h[None], c[None])
        )
    got_hs, got_c = run(lstm_sequence, name, x, h, c, w, u, b)
    np.testing.assert_allclose(got_hs, hs.numpy(), **CLOSE)
    np.testing.assert_allclose(got_hs[-1], last_h[0].numpy(), **CLOSE)
    np.testing.assert_allclose(got_c, last_c[0].numpy(), **CLOSE)


@on_cpu(lstm_layers)
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("shape", [(7, 5, 11), (1, 4, 2), (2, 1, 9)], ids=str)
def test_layers_are_nn_LSTM_with_layers(name, count, shape):
    """Also with more layers than steps: then some of them wait at both ends of the wavefront."""
    x, h, c, w, u, b = stacked_problem(*shape, count)
    with torch.no_grad():
        hs, lasts = module(w, u, b)(torch.tensor(x), tensors(h, c))
    got = run(lstm_layers, name, x, h, c, w, u, b)
    for mine, want in zip(got, (hs, *lasts), strict=True):
        np.testing.assert_allclose(mine, want.numpy(), **CLOSE)


@on_cpu(lstm_backward)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gradients_are_autograds(name, shape):
    """Against nn.LSTM in float64, by PyTorch's own backward."""
    x, h, c, w, u, b = problem(*shape)
    d = np.random.default_rng(1).standard_normal((*x.shape[:2], len(b) // 4), np.float32)
    own = module(w[None], u[None], b[None], torch.float64)
    x_, h_, c_ = (t.requires_grad_() for t in tensors(x, h[None], c[None], dtype=torch.float64))
    hs, _ = own(x_, (h_, c_))
    hs.backward(torch.tensor(d, dtype=torch.float64))
    wants = [x_.grad, h_.grad[0], c_.grad[0], own.weight_ih_l0.grad, own.weight_hh_l0.grad,
             own.bias_ih_l0.grad]  # fmt: skip
    for got, want in zip(run(lstm_backward, name, x, h, c, w, u, b, d), wants, strict=True):
        np.testing.assert_allclose(got, want.numpy(), rtol=1e-4, atol=1e-4)


def test_gradients_are_differences_in_float64():
    inputs = [each.astype(np.float64) for each in problem(4, 3, 2, 5)]
    rng = np.random.default_rng(1)
    d = rng.standard_normal((4, 3, 5))
    for which, gradient in enumerate(lstm_backward(*inputs, d)):
        direction, tiny = rng.standard_normal(gradient.shape), 1e-6
        losses = []
        for sign in (1, -1):
            moved = [x + sign * tiny * direction if n == which else x
                     for n, x in enumerate(inputs)]  # fmt: skip
            losses.append((lstm_sequence(*moved)[0] * d).sum())
        slope = (losses[0] - losses[1]) / (2 * tiny)
        assert abs(slope - (gradient * direction).sum()) < 1e-7 * max(1, abs(slope))


# -- Laws.


@on_cpu(lstm_sequence)
def test_a_sequence_is_a_repeated_cell(name):
    x, h, c, *weights = problem(6, 5, 4, 7)
    hs, last_c = run(lstm_sequence, name, x, h, c, *weights)
    for x_t, got in zip(x, hs, strict=True):
        h, c = lstm_cell(x_t, h, c, *weights)
        np.testing.assert_allclose(got, h, **CLOSE)
    np.testing.assert_allclose(last_c, c, **CLOSE)


@on_cpu(lstm_sequence)
def test_a_sequence_can_be_cut_anywhere(name):
    x, h, c, *weights = problem(8, 6, 4, 7)
    whole, whole_c = run(lstm_sequence, name, x, h, c, *weights)
    first, c = run(lstm_sequence, name, x[:3], h, c, *weights)
    second, c = run(lstm_sequence, name, x[3:], first[-1], c, *weights)
    np.testing.assert_allclose(np.concatenate([first, second]), whole, **CLOSE)
    np.testing.assert_allclose(c, whole_c, **CLOSE)


@on_cpu(lstm_sequence)
def test_the_order_of_the_batch_makes_no_difference(name):
    x, h, c, *weights = problem(4, 9, 5, 6)
    order = np.random.default_rng(2).permutation(9)
    hs, last_c = run(lstm_sequence, name, x, h, c, *weights)
    mixed, mixed_c = run(lstm_sequence, name, x[:, order], h[order], c[order], *weights)
    np.testing.assert_allclose(mixed, hs[:, order], **CLOSE)
    np.testing.assert_allclose(mixed_c, last_c[order], **CLOSE)


def test_a_wavefront_is_layer_by_layer():
    inputs = stacked_problem(9, 4, 6, count=4)
    wants, gots = lstm_layers(*inputs), layers.wavefront(*inputs)
    for got, want in zip(gots, wants, strict=True):
        np.testing.assert_allclose(got, want, **CLOSE)


def test_a_wavefront_of_four_layers_takes_three_ticks_more_than_steps():
    steps, count = 5, 4
    with microscope.tracing() as launches:
        lstm_layers.versions["CUDA, wavefront"](*map(gpu.put, stacked_problem(steps, 2, 3, count)))
    assert len(launches) == steps + count - 1


def test_sums_far_out_overflow_nowhere():
    x, h, c, w, u, b = problem(2, 3, 4, 5)
    for name in ("NumPy", "NumPy, one tanh for the gates", "Numba, every core"):
        for sign in (1, -1):
            hs, last_c = run(lstm_sequence, name, x, h, c, w, u, sign * 1e4 * np.ones_like(b))
            assert np.isfinite(hs).all() and np.isfinite(last_c).all()


@pytest.mark.parametrize("shape", [(1, 1, 1), (4, 4, 8), (5, 7, 3), (3, 9, 17), (11, 2, 40)])
def test_our_product_adds_what_numpys_gives(shape):
    rows, depth, columns = shape
    rng = np.random.default_rng(0)
    x, wt = rng.standard_normal((rows, depth), "f"), rng.standard_normal((depth, columns), "f")
    out = np.ones((rows, columns), np.float32)
    add_thin_product(x, wt, out)
    np.testing.assert_allclose(out, 1 + x @ wt, **CLOSE)


def test_flops_count_each_weight_twice_for_each_example_and_step():
    x, h, c, w, u, b = problem(6, 5, 3, 7)
    products = 2 * 6 * 5 * 4 * 7 * (3 + 7)
    assert flops(x, h, c, w, u, b) == products + 6 * 5 * 7 * 26
    stacked = stacked_problem(6, 5, 7, 2)
    assert flops(*stacked) == 2 * (2 * 6 * 5 * 4 * 7 * (7 + 7) + 6 * 5 * 7 * 26)


def test_a_layer_too_large_for_registers_is_refused_in_a_sentence():
    with microscope.tracing(), pytest.raises(ValueError, match="up to 64 hidden units"):
        lstm_sequence.versions["CUDA, persistent"](*map(gpu.put, problem(1, 1, 2, 65)))


# -- Planted faults: each is one that people make.


def swapped_gates(x, h, c, w, u, b):
    i, f, g, o = np.split(x @ w.T + h @ u.T + b, 4, axis=1)
    return array_unit(f, i, g, o, c)


def no_bias(x, h, c, w, u, b):
    return lstm_cell(x, h, c, w, u, 0 * b)


def bias_twice(x, h, c, w, u, b):
    return lstm_cell(x, h, c, w, u, 2 * b)


def memory_shown_before_it_is_renewed(x, h, c, w, u, b):
    sums = x @ w.T + h @ u.T + b
    o = np.split(sums, 4, axis=1)[3]
    return sigmoid(o) * np.tanh(c), lstm_cell(x, h, c, w, u, b)[1]


def no_tanh_on_the_way_out(x, h, c, w, u, b):
    _, c = lstm_cell(x, h, c, w, u, b)
    o = np.split(x @ w.T + h @ u.T + b, 4, axis=1)[3]
    return sigmoid(o) * c, c


FAULTY_CELLS = [swapped_gates, no_bias, bias_twice, memory_shown_before_it_is_renewed,
                no_tanh_on_the_way_out]  # fmt: skip


@pytest.mark.parametrize("cell", FAULTY_CELLS)
def test_a_faulty_cell_is_refused(cell):
    assert not check(lstm_cell, cell, on=host).passed

    def steps(x, h, c, w, u, b):
        return sequence.through(cell, x, h, c, w, u, b)

    assert not check(lstm_sequence, steps, on=host).passed


def new_h_too_early(x, h, c, w, u, b):
    """Row after row into the same h: the second half of the units reads the new first half."""
    hs = np.empty((*x.shape[:2], h.shape[1]), h.dtype)
    h, c, half = h.copy(), c.copy(), h.shape[1] // 2
    for t, x_t in enumerate(x):
        new_h, new_c = lstm_cell(x_t, h, c, w, u, b)
        h[:, :half] = new_h[:, :half]
        new_h, new_c = lstm_cell(x_t, h, c, w, u, b)
        h, c = new_h.copy(), new_c
        hs[t] = h
    return hs, c


def test_a_new_h_used_too_early_is_refused():
    assert not check(lstm_sequence, new_h_too_early, on=host).passed


def layers_out_of_step(x, h, c, w, u, b):
    """A wavefront whose second layer reads what the first one writes in the same tick."""
    hs, first_c = lstm_sequence(x, h[0], c[0], w[0], u[0], b[0])
    late = np.concatenate([hs[1:], hs[-1:]])
    top, top_c = lstm_sequence(late, h[1], c[1], w[1], u[1], b[1])
    return top, np.stack([hs[-1], top[-1]]), np.stack([first_c, top_c])


def test_layers_out_of_step_are_refused():
    assert not check(lstm_layers, layers_out_of_step, on=host).passed


BARRIERS = {
    "all tiles are complete": "CUDA, one kernel a step",
    "and have been read by all": "CUDA, one kernel a step",
    "z is complete": "CUDA, persistent",
    "the new h is": "CUDA, persistent",
}


@pytest.mark.parametrize("why", BARRIERS)
def test_a_missing_barrier_is_a_race(why, tmp_path, monkeypatch):
    """The kernels' own text, less one barrier."""
    text = Path(kernels.__file__).read_text(encoding="utf-8")
    barrier = f"cuda.syncthreads()  # {why}"
    assert text.count(barrier) == 1
    path = tmp_path / "faulty_kernels.py"
    path.write_text(text.replace(barrier, "pass  #"), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("gpulessons.ops.faulty_kernels", path)
    faulty = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(faulty)
    monkeypatch.setattr(sequence, "kernels", faulty)
    verdict = check(lstm_sequence, lstm_sequence.versions[BARRIERS[why]])
    assert not verdict.passed and "race" in verdict.trouble


# -- Learning to write.

TEXT = "the cell keeps what the gates let through, and shows what the gates let out; " * 30


@pytest.mark.parametrize("toolkit", ["NumPy", "Numba", "PyTorch on CPU"])
def test_every_toolkit_learns_the_same(toolkit):
    told = []
    writer = letters.Writer(toolkit, TEXT, hidden=16)
    epochs = list(letters.train(writer, TEXT, epochs=3, tell=lambda *step: told.append(step)))
    want = list(letters.train(letters.Writer("NumPy", TEXT, hidden=16), TEXT, epochs=3))
    for got, reference in zip(epochs, want, strict=True):
        assert abs(got.loss - reference.loss) < 1e-3
    assert told[-1][0] == told[-1][1] == len(told)
    assert epochs[-1].seconds > epochs[0].seconds > 0


def test_a_quarter_of_the_loss_is_soon_gone_and_the_sample_is_of_the_text():
    writer = letters.Writer("Numba", TEXT, hidden=32)
    first, *_, last = letters.train(writer, TEXT, epochs=40)
    assert first.loss < np.log(len(writer.letters)) + 0.1
    assert last.loss < 0.75 * first.loss
    assert len(last.sample) == len("the ") + 200 and set(last.sample) <= set(TEXT)
    assert "loss" in repr(last) and "<pre>" in last._repr_html_()


def test_a_strange_letter_and_a_short_text_are_refused_in_a_sentence():
    writer = letters.Writer("NumPy", TEXT, hidden=4)
    with pytest.raises(ValueError, match="never saw"):
        writer.write(5, start="Q")
    with pytest.raises(ValueError, match="at least one"):
        writer.write(5, start="")
    with pytest.raises(ValueError, match="at least"):
        list(letters.train(writer, TEXT[:100]))
