"""The LSTM ops: PyTorch's own layers agree, and planted faults are found."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch

from gpulessons import check, gpu, lstm_cell, lstm_sequence, microscope
from gpulessons.backends import host
from gpulessons.ops import lstm_sequence as sequence
from gpulessons.ops.activations_more import sigmoid
from gpulessons.ops.lstm_cell import array_unit, parameters

CLOSE = {"rtol": 2e-5, "atol": 2e-5}
# (steps, batch, inputs, hidden): odd sizes, a batch of one, a single step, and one example over.
SHAPES = [(7, 5, 3, 11), (1, 4, 6, 2), (6, 1, 5, 9), (1, 1, 1, 1), (9, 6, 17, 33)]


def problem(steps, batch, inputs, hidden, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((steps, batch, inputs), np.float32)
    h, c = rng.standard_normal((2, batch, hidden), np.float32)
    return x, h, c, *parameters(inputs, hidden, rng)


def module(w, u, b):
    """nn.LSTM with these weights."""
    made = torch.nn.LSTM(w.shape[1], u.shape[1], dtype=torch.float64)
    names = "weight_ih", "weight_hh", "bias_ih", "bias_hh"
    for name, value in zip(names, (w, u, b / 4, b - b / 4), strict=True):
        getattr(made, f"{name}_l0").data = torch.tensor(value, dtype=torch.float64)
    return made


def double(*arrays):
    return [torch.tensor(each, dtype=torch.float64) for each in arrays]


# -- PyTorch's layers, with their weights as they are: beside the specifications, to which the
# -- versions are compared, and beside Numba's.


def test_a_sequence_is_nn_LSTM():
    for shape in SHAPES:
        x, h, c, w, u, b = problem(*shape)
        x_, h_, c_ = double(x, h[None], c[None])
        hs, (_, last_c) = module(w, u, b)(x_, (h_, c_))
        for name in ("NumPy", "Numba, fused pointwise"):
            got = lstm_sequence.versions[name](x, h, c, w, u, b)
            for mine, theirs in zip(got, (hs, last_c[0]), strict=True):
                np.testing.assert_allclose(mine, theirs.detach().numpy(), **CLOSE)


def test_a_layer_too_large_for_registers_is_refused():
    with microscope.tracing(), pytest.raises(ValueError, match="up to 64 hidden units"):
        lstm_sequence.versions["CUDA, persistent"](*map(gpu.put, problem(1, 1, 2, 65)))


def test_one_launch_a_step_and_one_for_all():
    launches = {}
    for name in ("CUDA, one kernel a step", "CUDA, persistent"):
        with microscope.tracing() as seen:
            lstm_sequence.versions[name](*map(gpu.put, problem(5, 2, 3, 4)))
        launches[name] = len(seen)
    assert [*launches.values()] == [1 + 5, 1 + 1]  # and one for the input products


# -- Planted faults: each is one that people make.


def swapped_gates(x, h, c, w, u, b):
    i, f, g, o = np.split(x @ w.T + h @ u.T + b, 4, axis=1)
    return array_unit(f, i, g, o, c)


def memory_shown_before_it_is_renewed(x, h, c, w, u, b):
    o = np.split(x @ w.T + h @ u.T + b, 4, axis=1)[3]
    return sigmoid(o) * np.tanh(c), lstm_cell(x, h, c, w, u, b)[1]


def test_a_faulty_cell_is_refused():
    for cell in (swapped_gates, memory_shown_before_it_is_renewed):
        assert not check(lstm_cell, cell, on=host).passed, cell
        steps = lambda *inputs, cell=cell: sequence.repeated(cell, *inputs)  # noqa: E731
        assert not check(lstm_sequence, steps, on=host).passed, cell


@pytest.mark.parametrize("why", ["z is complete", "the new h is"])
def test_a_missing_barrier_is_a_race(why, tmp_path):
    """The file's own text, less one barrier of the persistent kernel."""
    text = Path(sequence.__file__).read_text(encoding="utf-8")
    barrier = f"cuda.syncthreads()  # {why}"
    assert text.count(barrier) == 1
    path = tmp_path / "faulty_sequence.py"
    path.write_text(text.replace(barrier, "pass  #"), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("gpulessons.ops.faulty_sequence", path)
    faulty = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(faulty)
    verdict = check(faulty.lstm_sequence, faulty.lstm_sequence.versions["CUDA, persistent"])
    assert not verdict.passed and "race" in verdict.trouble
