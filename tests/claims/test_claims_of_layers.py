"""Layers and frameworks: each verdict turns when its figures do, or when the thing itself does."""

import math
import time
from dataclasses import replace

import numpy as np
import pytest
from turning import assert_measures_what_is_judged, assert_turns, verdict_of

from gpulessons.claims import CLAIMS, Given, frameworks, layers
from gpulessons.claims.claim import HOLDS, LIMITS, REFUTED, UNTESTED
from gpulessons.claims.judging import decided
from gpulessons.hardware import Machine
from gpulessons.measure.recordings import Recording
from gpulessons.measure.results import Comparison, Timing
from gpulessons.models.six_networks import FULL, StepTime


def but(figures, **changed):
    return {**figures, **changed}


NETWORKS = {"fcn": 0.4, "resnet": 0.1, "lstm": 0.2, "smaller": 2, "gpu_fcn": 20.0,
            "gpu_resnet": 8.0, "gpu_lstm": 3.0}  # fmt: skip
CALLS = {"calls": 880, "saved": 5e-5, "early": 0.18, "late": 0.17, "compiling": 0.4}
LAYER = {"one": 0.96, "batch": 0.95, "narrow": 0.1, "small": 0.05, "counted_narrow": 0.76,
         "alone": 10.0}  # fmt: skip
CONVOLUTION = {"terms": 576, "additions": 7e6, "rounds": 10, "wrong": 0.03, "hungry": 1.9,
               "tiled": 0.02}  # fmt: skip
LSTM = {"merged": 1.2, "batch": 6.0, "longer": 2.0, "chain": 9.0, "counted_apart": 15,
        "counted_fused": 1, "gpu_wide": 12.0, "gpu_narrow": 0.4,
        "published_persistent": 30.0}  # fmt: skip
PRODUCT = {"fetching": 4.2, "naive": 2.0, "tiled": 0.125, "once": 0.05, "operations": 0.996,
           "time": 0.85, "multipliers": 65_536}  # fmt: skip

TURNS = {
    6: [
        (NETWORKS, LIMITS),  # one framework is not every framework
        (but(NETWORKS, gpu_lstm=0.5), LIMITS),
        (but(NETWORKS, gpu_lstm=None), LIMITS),
        (but(NETWORKS, gpu_fcn=0.9, gpu_resnet=0.9, gpu_lstm=0.5), REFUTED),
        (but(NETWORKS, gpu_fcn=None, gpu_resnet=None, gpu_lstm=None), UNTESTED),
        (but(NETWORKS, fcn=None), UNTESTED),
    ],
    8: [
        (CALLS, LIMITS),
        (but(CALLS, compiling=0.01), LIMITS),
        (but(CALLS, early=0.1, late=0.3), HOLDS),
        (but(CALLS, saved=-1e-6, late=0.0), REFUTED),
        (but(CALLS, late=0.0), REFUTED),
        (but(CALLS, late=0.009), REFUTED),
    ],
    17: [
        (LAYER, LIMITS),
        (but(LAYER, alone=1.1), LIMITS),
        (but(LAYER, narrow=0.7), LIMITS),
        (but(LAYER, narrow=0.7, alone=1.1), HOLDS),
        (but(LAYER, one=0.3), REFUTED),
        (but(LAYER, batch=0.3), REFUTED),
    ],
    18: [
        (CONVOLUTION, LIMITS),
        (but(CONVOLUTION, rounds=1), HOLDS),
        (but(CONVOLUTION, rounds=575), REFUTED),
        (but(CONVOLUTION, wrong=100.0), REFUTED),
    ],
    19: [
        (LSTM, LIMITS),
        (but(LSTM, gpu_narrow=2.0), HOLDS),
        (but(LSTM, gpu_narrow=None), HOLDS),
        (but(LSTM, gpu_wide=0.8), REFUTED),
        (but(LSTM, chain=1.0), REFUTED),
        (but(LSTM, longer=1.0), REFUTED),
        (but(LSTM, gpu_wide=None, gpu_narrow=None), UNTESTED),
        (but(LSTM, gpu_wide=None, gpu_narrow=None, chain=1.0), REFUTED),
        (but(LSTM, gpu_wide=None, gpu_narrow=2.0), UNTESTED),
    ],
    24: [
        (PRODUCT, LIMITS),
        (but(PRODUCT, once=1.5), HOLDS),  # what a TPU is, is not judged
        (but(PRODUCT, tiled=2.0), REFUTED),
        (but(PRODUCT, fetching=1.0), REFUTED),
        (but(PRODUCT, time=0.3), REFUTED),
        (but(PRODUCT, operations=0.4), REFUTED),
        (but(PRODUCT, fetching=None), UNTESTED),
        (but(PRODUCT, once=None), UNTESTED),
    ],
}  # fmt: skip


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setenv("GPULESSONS_BUDGET", "0.02")
    monkeypatch.setattr("gpulessons.claims.evidence.TOO_NOISY", math.inf)  # so few rounds are


@pytest.mark.parametrize("number", TURNS)
def test_a_verdict_turns_with_its_figures(number):
    assert_turns(number, *TURNS[number])


@pytest.mark.parametrize("number", TURNS)
def test_the_test_of_a_claim_runs_here(number):
    assert_measures_what_is_judged(number)


def found(number, given=None):
    """The verdict about a claim as measured now, and its figures."""
    figures = CLAIMS[number].measure(given or Given())
    return decided(CLAIMS[number], figures), figures


# -- The thing itself turns.


def test_a_call_that_sleeps_saves_nothing(monkeypatch):
    def asleep(*arrays):
        time.sleep(1e-3)
        return frameworks.separate_adam(*arrays)

    monkeypatch.setattr(frameworks, "fused_adam", asleep)
    assert found(8)[0].word == REFUTED


def test_a_saving_that_grows_with_the_run_compounds(monkeypatch):
    steps = 880
    fused = [1e-3 * (1 - 0.5 * n / steps) for n in range(steps)]
    monkeypatch.setattr(frameworks, "trained_in_turn", lambda *_: ([1e-3] * steps, fused))
    assert found(8)[0].word == HOLDS


def test_both_optimizers_learn_the_same():
    both = [frameworks.separate_adam, frameworks.fused_adam]
    rng, learned = np.random.default_rng(0), []
    arrays = rng.random((4, 100), np.float32)
    for adam in both:
        import torch

        w, g, m, v = map(torch.from_numpy, arrays.copy())
        for t in (1, 2, 3):
            w, m, v = adam(w, g, m, v, t)
        learned.append(w.numpy())
    np.testing.assert_allclose(*learned, rtol=1e-5)


def test_a_layer_whose_inputs_cost_nothing_is_not_governed_by_its_product(monkeypatch):
    # By operations, not by a clock: a busy machine would have its say.
    def seconds(examples, inputs, outputs):
        return examples * outputs * (2 * inputs + 10)

    monkeypatch.setattr(layers, "in_turn", lambda calls: {name: (s,) for name, s in calls.items()})
    monkeypatch.setattr(layers, "layer", seconds)
    assert found(17)[0].word in (HOLDS, LIMITS)
    monkeypatch.setattr(layers, "layer", lambda examples, _, outputs: seconds(examples, 1, outputs))
    assert found(17)[0].word == REFUTED


def test_sums_that_lose_a_term_or_go_one_by_one_refute_the_tree(monkeypatch):
    in_pairs = layers.in_pairs
    monkeypatch.setattr(layers, "in_pairs", lambda terms: in_pairs(terms[..., :-1]))
    assert found(18)[0].word == REFUTED

    def one_by_one(terms):
        return terms.cumsum(axis=-1)[..., -1], terms.shape[-1] - 1

    monkeypatch.setattr(layers, "in_pairs", one_by_one)
    assert found(18)[0].word == REFUTED


@pytest.mark.parametrize(("count", "rounds"), [(1, 0), (2, 1), (3, 2), (9, 4), (576, 10)])
def test_pairs_add_up_in_as_many_rounds_as_a_logarithm_says(count, rounds):
    sums, took = layers.in_pairs(np.arange(2 * count).reshape(2, count))
    assert took == rounds
    assert sums.tolist() == [sum(range(count)), sum(range(count, 2 * count))]


def test_steps_that_wait_for_nothing_refute_the_chain(monkeypatch):
    sequence = layers.sequence
    monkeypatch.setattr(
        layers, "sequence", lambda version, _, examples: sequence(version, 1, examples)
    )
    assert found(19)[0].word == REFUTED


def test_a_machine_without_ceilings_is_no_figure(monkeypatch):
    assert layers.once_over(64).value > 0
    monkeypatch.setattr(layers, "machine", lambda: MACHINE)
    assert "ceilings" in layers.once_over(64).why


def test_blocks_that_save_no_time_refute_that_fetching_is_dear(monkeypatch):
    product = layers.product

    def twice_in_rows(version, size):
        call = product("Numba, one core, ikj", size)
        return call if "ikj" in version else lambda: (call(), call())

    monkeypatch.setattr(layers, "product", twice_in_rows)
    assert found(24)[0].word == REFUTED


# -- The layer of BERT.


def test_the_layer_of_bert_is_pytorchs():
    import torch
    from torch.nn.functional import gelu

    w = layers.encoder_weights(np.random.default_rng(0))
    x = np.random.default_rng(1).standard_normal((layers.TOKENS, layers.HIDDEN), np.float32)
    theirs = torch.nn.TransformerEncoderLayer(
        layers.HIDDEN, layers.HEADS, layers.INNER, dropout=0, batch_first=True,
        activation=lambda x: gelu(x, approximate="tanh"))  # fmt: skip
    given = [np.hstack([w[name] for name in "qkv"]), w["out"], w["up"], w["down"]]
    with torch.no_grad():
        matrices = [p for p in theirs.parameters() if p.ndim == 2]
        for parameter, value in zip(matrices, given, strict=True):
            parameter.copy_(torch.from_numpy(np.ascontiguousarray(value.T)))
        theirs.self_attn.in_proj_bias.zero_()
        for part in (theirs.self_attn.out_proj, theirs.linear1, theirs.linear2):
            part.bias.zero_()
        expected = theirs(torch.from_numpy(x)[None])[0].numpy()
    np.testing.assert_allclose(layers.encoder(x, w, np.matmul), expected, atol=2e-5)


def test_the_operations_of_its_products_are_those_that_it_multiplies():
    counted = 0

    def multiply(a, b):
        nonlocal counted
        product = np.matmul(a, b)
        counted += 2 * product.size * a.shape[-1]
        return product

    x = np.zeros((layers.TOKENS, layers.HIDDEN), np.float32)
    layers.encoder(x, layers.encoder_weights(np.random.default_rng(0)), multiply)
    assert counted == layers.flops_of_encoder()["products"]


# -- With a GPU, live or recorded.


def timing(op, version, backend, seconds, size):
    return Timing(
        op=op, version=version, backend=backend, size=size, samples=(seconds,) * 5, waits=(),
        calls=1, threads=1, first=1.0, h2d=1.0, d2h=1.0, flops=1, bytes=1, error=0.0, cold=False,
        stop="settled",
    )  # fmt: skip


def recorded(op, pairs, cpu="PyTorch on CPU", gpu="PyTorch on GPU"):
    """A recording from an imaginary machine: pairs are (size, seconds on the CPU, on the GPU)."""
    entries = tuple(
        entry for size, slow, fast in pairs
        for entry in (timing(op, cpu, "torch_cpu", slow, size),
                      timing(op, gpu, "torch_gpu", fast, size))
    )  # fmt: skip
    return Comparison(op, entries, "an imaginary GPU", "2000-01-01", tier="recorded")


MACHINE = Machine(
    cpu="Imaginary CPU", cores=2, cores_total=4, simd=None, simd_bits=None, caches={}, memory=None,
    gpu={"name": "Imaginary GPU", "memory": 1, "driver": None}, gpus=1, accelerator=None,
    system="Imaginary 1", python="3.0", libraries={}, date="2000-01-01", commit=None, ceilings={},
    ceiling_threads={},
)  # fmt: skip
LSTM_IN_TORCH = {"cpu": "PyTorch, nn.LSTM, CPU", "gpu": "PyTorch, nn.LSTM, GPU"}


def given(*comparisons):
    return Given(recordings=(Recording(MACHINE, comparisons),))


@pytest.fixture
def no_gpu(monkeypatch):
    """A step on the CPU that takes no time to measure, and no GPU whatever this machine has."""
    monkeypatch.setattr("gpulessons.claims.evidence.gpu_count", lambda: 0)
    step = StepTime(FULL["FCN-5"], 1, 0.4, None, "no GPU here")
    monkeypatch.setattr(frameworks, "one_step", lambda name: replace(step, size=FULL[name]))


def test_without_a_gpu_recordings_of_layers_decide_about_frameworks(no_gpu):
    verdict, figures = found(6)
    assert verdict.word == UNTESTED and "published." not in verdict.why
    assert figures["smaller"].value == 0
    ahead = given(recorded("dense", [(1, 1e-5, 1e-4), (4096, 1.0, 0.1)]),
                  recorded("lstm_sequence", [(256, 1.0, 0.5)], **LSTM_IN_TORCH))  # fmt: skip
    verdict, figures = found(6, ahead)
    assert verdict.word == LIMITS
    assert "Decided by a recording" in verdict.why and "an imaginary GPU" in verdict.why
    assert "2 of 2" in verdict.why
    assert figures["gpu_fcn"].value == pytest.approx(10)  # at the largest size
    behind = given(recorded("dense", [(4096, 0.1, 1.0)]))
    assert found(6, behind)[0].word == REFUTED


def test_networks_made_smaller_than_published_are_named(no_gpu, monkeypatch):
    smaller = {"FCN-5": 8, "ResNet": 16, "LSTM-32": 16}
    monkeypatch.setattr(frameworks, "one_step", lambda name: StepTime(
        replace(FULL[name], batch=smaller[name]), 1, 0.4, None, "no GPU here"))  # fmt: skip
    verdict, figures = found(6)
    assert figures["smaller"].value == 2
    assert "Of the 3 networks 2 had a smaller minibatch" in verdict.why


def test_a_saving_is_paid_after_as_many_calls_as_the_figures_say():
    verdict = verdict_of(8, **but(CALLS, saved=5.27285e-5, compiling=0.306522))
    assert "307 ms, paid after some 5,800 calls" in verdict.why  # 307 ms / 52.7 µs
    assert "less than 1 %" in verdict_of(8, **but(CALLS, late=0.009)).why


def test_where_a_gpu_is_the_networks_own_steps_decide(monkeypatch):
    def on_both(name):
        return StepTime(FULL[name], 1, cpu=0.4, gpu=0.1, why="")

    monkeypatch.setattr(frameworks, "one_step", on_both)
    verdict, figures = found(6, given(recorded("dense", [(4096, 0.1, 1.0)])))
    assert verdict.word == LIMITS and "recording" not in verdict.why
    for name in ("gpu_fcn", "gpu_resnet", "gpu_lstm"):
        assert figures[name].value == pytest.approx(4) and figures[name].measured_on_gpu


def test_recordings_decide_whether_an_lstm_gains(no_gpu, monkeypatch):
    took = {"eight": (1.2,), "merged": (1.0,), "longer": (2.0,), "single": (0.2,), "wide": (0.02,)}
    monkeypatch.setattr(layers, "in_turn", lambda calls: took)
    wide, narrow = (256, 1.0, 0.1), (16, 1e-4, 2e-4)
    verdict, figures = found(19, given(recorded("lstm_sequence", [narrow, wide], **LSTM_IN_TORCH)))
    assert verdict.word == LIMITS and "Decided by a recording" in verdict.why
    assert figures["gpu_wide"].value == pytest.approx(10)
    assert figures["gpu_narrow"].value == pytest.approx(0.5)
    loses = given(recorded("lstm_sequence", [(256, 1.0, 2.0)], **LSTM_IN_TORCH))
    assert found(19, loses)[0].word == REFUTED
