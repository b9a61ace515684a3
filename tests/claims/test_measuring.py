"""Where figures come from: the thing measured turns the verdict, and what is missing says why."""

import inspect
import math
from dataclasses import replace

import numpy as np
import pytest

from gpulessons import claims
from gpulessons.claims import CLAIMS, Given, evidence, layers, machines, many_devices, pictures
from gpulessons.claims.claim import HOLDS, LIMITS, REFUTED, UNTESTED
from gpulessons.claims.judging import decided
from gpulessons.measure.recordings import Recording
from gpulessons.measure.results import Absent, Comparison, Timing
from gpulessons.money import Device
from gpulessons.ops.activations import relu
from gpulessons.ops.shade import shade, shade_sorted


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setenv("GPULESSONS_BUDGET", "0.02")
    monkeypatch.setattr(evidence, "TOO_NOISY", math.inf)  # so few rounds are


def measured(number, given=None):
    """(the verdict about a claim as measured now, its figures): those that the judge asks for."""
    figures = dict(CLAIMS[number].measure(given or Given()))
    assert set(figures) <= set(inspect.signature(CLAIMS[number].judge).parameters)
    assert CLAIMS[number].needed <= set(figures)
    return decided(CLAIMS[number], figures), figures


@pytest.mark.parametrize("number", [5, 18, 24, 26])
def test_the_test_of_a_claim_runs_here(number):
    assert measured(number)[0].word == (UNTESTED if number == 26 else LIMITS)


@pytest.mark.nightly
@pytest.mark.parametrize("number", range(1, 28))
def test_the_test_of_each_claim_runs_here(number):
    assert measured(number)[0].why


def test_two_pictures_that_differ_refute_that_one_form_replaces_the_other(monkeypatch):
    exact = pictures.one_pixel
    monkeypatch.setattr(pictures, "one_pixel", lambda x, y: exact(x, y) + (x > 0))
    assert measured(5)[0].word == REFUTED


def test_a_corner_turned_otherwise_than_a_layer_refutes_that_they_are_one(monkeypatch):
    verdict, figures = measured(10)
    assert verdict.word == LIMITS and figures["lanes"].value == 1  # no block is half empty
    honest = pictures.vertex_transform.inputs
    monkeypatch.setattr(pictures.vertex_transform, "inputs",
                        lambda n: (2 * honest(n)[0], honest(n)[1]))  # fmt: skip
    assert measured(10)[0].word == REFUTED  # w is 2: a layer's bias is added once


def test_sums_that_lose_a_term_or_go_one_by_one_refute_the_tree(monkeypatch):
    in_pairs = layers.in_pairs
    sums, rounds = in_pairs(np.arange(18).reshape(2, 9))
    assert (sums.tolist(), rounds) == ([36, 117], 4)
    for wrong in (lambda terms: in_pairs(terms[..., :-1]),
                  lambda terms: (terms.cumsum(axis=-1)[..., -1], terms.shape[-1] - 1)):  # fmt: skip
        monkeypatch.setattr(layers, "in_pairs", wrong)
        assert measured(18)[0].word == REFUTED


def test_shares_of_a_layer_are_those_of_its_times(monkeypatch):
    def seconds(examples, inputs, outputs):  # by operations, and not by a clock
        return examples * outputs * (2 * inputs + 10)

    monkeypatch.setattr(layers, "medians", lambda calls: calls)
    monkeypatch.setattr(layers, "layer", seconds)
    assert measured(17)[0].word in (HOLDS, LIMITS)
    monkeypatch.setattr(layers, "layer", lambda examples, _, outputs: seconds(examples, 1, outputs))
    assert measured(17)[0].word == REFUTED


def test_one_answer_that_differs_refutes(monkeypatch):
    import torch

    from gpulessons.workers.programs.inference import Answered
    from gpulessons.workers.training import examples, network

    monkeypatch.setattr(many_devices, "cores", lambda: 2)
    monkeypatch.setattr(many_devices, "others_share", lambda: 0.0)
    (x, _), _ = examples()
    x = x[torch.arange(many_devices.QUESTIONS) % len(x)]
    with torch.no_grad():
        labels = network(many_devices.HIDDEN)(x).argmax(1).tolist()
    for wrong, word in ((0, LIMITS), (1, REFUTED)):
        labels[-1] = 10 if wrong else labels[-1]
        found = [[Answered(tuple(labels[rank::2]), 1.0, 1.9 * (rank == 0))] for rank in range(2)]
        monkeypatch.setattr(many_devices, "launch", lambda *_, found=found, **__: found)
        assert measured(13)[0].word == word


def device(name, price, **more):
    return Device(name, bandwidth=1e11, price=price, kind="recorded", where="a day", **more)


def test_prices_decide_and_nothing_else_does():
    quick = device("quick", 40, lanes=100, flop_rate=2e12)
    wide = device("wide", 40, lanes=4000, flop_rate=8e12, price_per_hour=1)
    dear = device("wide", 400, lanes=4000, flop_rate=8e12, price_per_hour=0.01)
    for devices, words in (((wide, quick), [LIMITS, REFUTED]), ((dear, quick), [REFUTED, HOLDS]),
                           ((), [UNTESTED] * 2)):  # fmt: skip
        found = claims.judge(2, 9, given=Given(devices=devices))
        assert [each.verdict for each in found] == words
    assert found.lacking == {"your prices": [2, 9]}


# -- Figures that a GPU made, or did not.


def timing(op, version, backend, size, seconds, waits=()):
    return Timing(op, version, backend, size, (seconds,), waits, calls=1, threads=None, first=1.0,
                  h2d=0.0, d2h=0.0, flops=1, bytes=1, error=0.0, cold=False,
                  stop="settled")  # fmt: skip


def recorded(op, *entries):
    return Comparison(op, entries, "a GPU of a test", "2026-01-01", "recorded")


def test_a_recording_from_a_gpu_decides_and_is_named(monkeypatch):
    monkeypatch.setattr(machines, "cores_at_work",
                        lambda what, *calls: evidence.live(what, 1.9))  # fmt: skip
    both = [recorded(op.name, timing(op.name, machines.ON_GPU, "gpu", 30_000, seconds))
            for op, seconds in ((shade, 3e-4), (shade_sorted, 1e-4))]  # fmt: skip
    verdict, figures = measured(3, Given((Recording(machines.machine(), tuple(both)),)))
    assert figures["gpu_sorted"].kind == "recorded" and verdict.word == HOLDS
    assert "Decided by a recording: a GPU of a test, 2026-01-01" in verdict.why


def test_a_gpu_is_beside_a_cpu_by_its_own_clock_or_by_what_one_waits():
    cpu = timing("relu", "NumPy", "host", 10, 4.0)
    gpu = timing("relu", "PyTorch on GPU", "torch_gpu", 10, 1.0, (2.0,))
    patient = timing("relu", "another", "torch_gpu", 10, 1.5, (1.6,))
    assert evidence.gpu_over_cpu(recorded("relu", cpu, gpu, patient)) == 4
    assert evidence.gpu_over_cpu(recorded("relu", cpu, gpu, patient), wait=True) == 2.5
    fewer_bits = replace(gpu, samples=(0.1,), arithmetic="TF32")
    assert evidence.gpu_over_cpu(recorded("relu", cpu, gpu, fewer_bits)) == 4
    with pytest.raises(LookupError, match="one of CPU and GPU only"):
        evidence.gpu_over_cpu(recorded("relu", cpu))


def test_a_gpu_that_is_here_and_has_no_figure_says_why(monkeypatch):
    lost = Absent("relu", "PyTorch on GPU", "torch_gpu", 10, "out of memory")
    monkeypatch.setattr(evidence, "compared", lambda *_, **__: recorded("relu", lost))
    for gpus, why in ((1, "PyTorch on GPU: out of memory"), (0, "no GPU, and no")):
        monkeypatch.setattr(evidence, "gpu_count", lambda gpus=gpus: gpus)
        found = evidence.from_gpu(
            Given(), "a wait", relu, lambda run: evidence.timed(run, "PyTorch on GPU").wait
        )
        assert found.value is None and why in found.why


def test_rounds_too_far_apart_and_noisy_passes_are_no_figure(monkeypatch):
    monkeypatch.undo()
    for samples, value in (((2.0, 2.1, 2.2), 2.1), ((1.0, 2.0, 4.0), None)):
        spreads = [("a", type("S", (), {"samples": samples})),
                   ("b", type("S", (), {"samples": (1.0,) * 3}))]  # fmt: skip
        monkeypatch.setattr(evidence, "alternate", lambda *_, spreads=spreads: spreads)
        assert evidence.paired("a over b", {}).value == value
    steady = timing("relu", "NumPy", "host", 1_000, 1e-9)
    noisy = replace(steady, samples=(1e-9, 2e-9, 4e-9))
    for entry, speed in ((steady, 1e9), (noisy, None), (Absent("relu", "", "", 1, "no"), None)):
        monkeypatch.setattr(evidence, "compared", lambda *_, entry=entry, **__: recorded("", entry))
        assert evidence.from_memory("ReLU", relu).value == pytest.approx(speed)
