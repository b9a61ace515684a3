"""Parallel machines, pictures and libraries: each verdict turns when its figures do."""

import json
import math
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from turning import assert_measures_what_is_judged, assert_turns, verdict_of

from gpulessons.claims import CLAIMS, Figure, Given, at_once, frameworks, machines, pictures
from gpulessons.claims.claim import HOLDS, LIMITS, REFUTED, UNTESTED
from gpulessons.claims.judging import decided
from gpulessons.hardware import Machine
from gpulessons.measure.recordings import Recording
from gpulessons.measure.results import Absent, Comparison, Timing

MANY_CORES = {"talk": 0, "cores": 8, "sigmoid": 7.6, "busy": 7.9, "relu": 1e10,
              "relu_dealt": 7e10}  # fmt: skip
TWO_PROGRAMS = {"alike": 1.9, "different": 1.8, "disagree": 2, "agree": 1,
                "gpu_shuffled": 3e-4, "gpu_sorted": 1e-4}  # fmt: skip
CALLS = {"theirs": 3e13, "product": 3e11, "gpu_price": 20.0, "gpu_gain": 30.0}
BOTH_FORMS = {"pixels": 1500, "different": 0, "drawings": 11, "launches": 2, "look_ups": 65,
              "spare": 36}  # fmt: skip
LIBRARY = {"products": 0.8, "loop": 120.0, "objects": 40.0, "compiled": 3.0, "convolutions": 0.5,
           "gpu_products": 0.9}  # fmt: skip
CORNERS = {"different": 0, "corners": 0.9, "layer": 1.6, "wide": 86.0, "lanes": 0.98,
           "picture": 0.86, "talk": 0, "moved_corners": 1e10, "moved_numbers": 2e10}  # fmt: skip
ORDERS = {"pixels": 1.2, "pixel_steps": 2.7, "packing": 8.0, "packing_steps": 1.3,
          "packing_free": 1.1, "gpu_shuffled": 3e-4, "gpu_sorted": 1e-4,
          "gpu_packing": None}  # fmt: skip
TRAINING = {"memory": 2e10, "activation": 1.8e10, "optimizer": 1.2e10, "activation_kept": 9e10,
            "optimizer_kept": 6e10, "moved": 1.5, "product": 40.0, "fits": 2e7}  # fmt: skip
NO_GPU = {"gpu_shuffled": None, "gpu_sorted": None}

TURNS = {
    1: [
        (MANY_CORES, HOLDS),
        (MANY_CORES | {"relu": None}, LIMITS),
        (MANY_CORES | {"relu_dealt": 4e10}, LIMITS),
        (MANY_CORES | {"cores": 2, "sigmoid": 1.9, "busy": 1.9, "relu_dealt": 1.9e10}, LIMITS),
        (MANY_CORES | {"sigmoid": 4.0}, LIMITS),
        (MANY_CORES | {"sigmoid": 1.1}, REFUTED),
        (MANY_CORES | {"talk": 1}, REFUTED),
        (MANY_CORES | {"busy": 1.0}, UNTESTED),
        (MANY_CORES | {"cores": 1}, UNTESTED),
        (MANY_CORES | {"sigmoid": None}, UNTESTED),
    ],
    3: [
        (TWO_PROGRAMS, HOLDS),
        (TWO_PROGRAMS | {"gpu_shuffled": 1.05e-4}, REFUTED),
        (TWO_PROGRAMS | {"different": 1.0}, REFUTED),
        (TWO_PROGRAMS | {"different": 1.0, "alike": 1.0}, UNTESTED),
        (TWO_PROGRAMS | NO_GPU, UNTESTED),
    ],
    4: [
        (CALLS, LIMITS),  # a launch is not a thread's latency
        (CALLS | {"product": None}, LIMITS),
        (CALLS | {"gpu_gain": 300.0}, LIMITS),
        (CALLS | {"gpu_gain": 2.0}, LIMITS),
        (CALLS | {"gpu_gain": 0.8}, REFUTED),
        (CALLS | {"gpu_price": 0.9}, REFUTED),
        (CALLS | {"gpu_price": None}, UNTESTED),
        (CALLS | {"gpu_price": None, "gpu_gain": None, "product": None}, UNTESTED),
    ],
    5: [
        (BOTH_FORMS, LIMITS),
        (BOTH_FORMS | {"different": 1}, REFUTED),
        (BOTH_FORMS | {"drawings": 2, "look_ups": 1}, REFUTED),
    ],
    7: [
        (LIBRARY, LIMITS),
        (LIBRARY | {"objects": 1.1}, HOLDS),
        (LIBRARY | {"objects": 1.1, "convolutions": 0.48}, LIMITS),
        (LIBRARY | {"objects": 1.1, "convolutions": None, "compiled": None}, HOLDS),
        (LIBRARY | {"gpu_products": 0.2}, REFUTED),
        (LIBRARY | {"loop": 1.1}, REFUTED),
        (LIBRARY | {"loop": None}, UNTESTED),
        (LIBRARY | {"gpu_products": None}, UNTESTED),
        (LIBRARY | {"gpu_products": None, "products": 0.2}, UNTESTED),
        (LIBRARY | {"gpu_products": None, "loop": 1.1}, REFUTED),
        (
            LIBRARY | {"gpu_products": None, "products": 0.2, "convolutions": 0.1},
            REFUTED,
        ),
    ],
    10: [
        (CORNERS, LIMITS),
        (CORNERS | {"wide": 2.0}, LIMITS),
        (CORNERS | {"wide": 2.0, "picture": 0.99, "moved_corners": None}, HOLDS),
        (CORNERS | {"different": 3}, REFUTED),
        (CORNERS | {"talk": 256}, REFUTED),
        (CORNERS | {"picture": 0.3}, REFUTED),
    ],
    11: [
        (ORDERS, LIMITS),
        (ORDERS | {"packing": 1.1}, HOLDS),
        (ORDERS | {"gpu_packing": 1.3}, LIMITS),
        (ORDERS | {"gpu_packing": 9.0}, HOLDS),
        (ORDERS | {"gpu_shuffled": 1e-4}, REFUTED),
        (ORDERS | NO_GPU, UNTESTED),
    ],
    12: [
        (TRAINING, LIMITS),
        (TRAINING | {"fits": None}, UNTESTED),
        (TRAINING | {"product": 1.6}, LIMITS),
        (TRAINING | {"activation_kept": 1.9e10}, REFUTED),
        (TRAINING | {"optimizer_kept": 1.2e10}, REFUTED),
        (TRAINING | {"memory": None}, UNTESTED),
    ],
}


@pytest.fixture(autouse=True)
def nothing_measured_yet():
    machines.memory_speed.cache_clear()
    yield
    machines.memory_speed.cache_clear()


@pytest.mark.parametrize("number", TURNS)
def test_a_verdict_turns_with_its_figures(number):
    assert_turns(number, *TURNS[number])


@pytest.mark.parametrize("number", TURNS)
def test_the_test_of_a_claim_runs_here(number, monkeypatch):
    monkeypatch.setenv("GPULESSONS_BUDGET", "0.02")
    figures = assert_measures_what_is_judged(number)
    json.dumps([vars(each) for each in figures.values()])  # plain numbers, fit for a file


@pytest.mark.parametrize("number", [3, 4, 7, 11])
def test_a_gpus_figure_that_no_gpu_made_decides_nothing(number):
    figures, word = TURNS[number][0]
    assert word in (HOLDS, LIMITS)
    assert verdict_of(number, of_gpu=False, **figures).word == UNTESTED


@pytest.mark.parametrize("number", TURNS)
def test_a_verdict_is_readable_aloud(number):
    figures, _ = TURNS[number][0]
    large = {name: 1234.5678 * value for name, value in figures.items()
             if isinstance(value, float)}  # fmt: skip
    for figures, _ in (*TURNS[number], (TURNS[number][0][0] | large, "")):
        why = verdict_of(number, **figures).why
        assert "`" not in why and "e+" not in why and "unknown" not in why
        digits = re.findall(r"\d+\.\d+", why)
        assert all(len(each.replace(".", "").lstrip("0")) <= 3 for each in digits), why


def test_bars_and_gains_are_weighed_in_words():
    assert "does not feed them all" in verdict_of(1, **MANY_CORES | {"relu_dealt": 4e10}).why
    two = {"cores": 2, "sigmoid": 1.9, "busy": 1.9, "relu_dealt": 1.9e10}
    assert "cannot show where memory stops" in verdict_of(1, **MANY_CORES | two).why
    assert "about an order" in verdict_of(4, **CALLS).why
    assert "more than an order" in verdict_of(4, **CALLS | {"gpu_gain": 50.0}).why
    assert "but only 48 % of a small AlexNet's" in verdict_of(7, **LIBRARY | {"convolutions": 0.48}
                                                              ).why  # fmt: skip
    half = verdict_of(4, **CALLS | {"gpu_gain": None}).why
    assert "is latency: holds" in half and "magnitude: not testable here" in half


# -- What a GPU would say, and what a recording of one does.


def timing(op, version, backend, size, seconds, waits=(), arithmetic=""):
    return Timing(op, version, backend, size, (seconds,), waits, calls=1, threads=None, first=1.0,
                  h2d=0.0, d2h=0.0, flops=1, bytes=1, error=0.0, cold=False,
                  stop="settled", arithmetic=arithmetic)  # fmt: skip


def recorded(op, *entries):
    return Comparison(op, entries, "a GPU of a test", "2026-01-01", "recorded")


RECORDED = Recording(
    Machine.from_json(machines.machine().to_json()),
    (
        recorded("relu", timing("relu", "NumPy", "host", 1_000, 1e-6),
                 timing("relu", "CUDA, a thread per element", "gpu", 1_000, 2e-6, (8e-6,)),
                 timing("relu", "NumPy", "host", 10_000_000, 4e-3)),
        recorded("matmul", timing("matmul", "NumPy", "host", 1024, 1e-2),
                 timing("matmul", "PyTorch on GPU", "torch_gpu", 1024, 2e-4),
                 timing("matmul", "PyTorch, TF32, GPU", "torch_gpu", 1024, 5e-5,
                        arithmetic="TF32")),
        recorded("shade", timing("shade", machines.ON_GPU, "gpu", 30_000, 3e-4)),
        recorded("shade_sorted", timing("shade_sorted", machines.ON_GPU, "gpu", 30_000, 1e-4)),
    ),
)  # fmt: skip


@pytest.mark.parametrize("number, word", [(3, HOLDS), (4, LIMITS), (11, LIMITS)])
def test_a_recording_from_a_gpu_decides_and_is_named(number, word, monkeypatch):
    monkeypatch.setenv("GPULESSONS_BUDGET", "0.02")
    # A busy machine may give two programs one core, or be noisy: that is not what this is about.
    monkeypatch.setattr("gpulessons.claims.evidence.TOO_NOISY", math.inf)
    monkeypatch.setattr(at_once, "at_work", lambda calls: 1.9)
    claim = CLAIMS[number]
    figures = dict(claim.measure(Given((RECORDED,))))
    of_gpu = {name: each for name, each in figures.items()
              if name.startswith("gpu") and name != "gpu_packing"}  # fmt: skip
    assert of_gpu and all(each.kind == "recorded" for each in of_gpu.values())
    verdict = decided(claim, figures)
    assert verdict.word == word
    assert "Decided by a recording: " in verdict.why
    assert "a GPU of a test, 2026-01-01" in verdict.why


def test_the_price_of_a_call_is_what_one_waits_for_the_smallest():
    relu, *_ = RECORDED.comparisons
    assert machines.price_of_a_call(relu) == pytest.approx(8.0)
    for entries in ((timing("relu", "NumPy", "host", 1_000, 1e-6),),
                    (Absent("relu", "CUDA", "gpu", 1_000, "no GPU"),), ()):  # fmt: skip
        with pytest.raises(LookupError):
            machines.price_of_a_call(recorded("relu", *entries))


def test_products_of_fewer_bits_are_no_gain_of_the_gpus():
    assert machines.gpu_over_cpu(RECORDED.comparisons[1]) == pytest.approx(50)


def test_what_a_busy_machine_took_for_a_pass_is_no_speed_of_its_memory(monkeypatch):
    steady = timing("relu", "NumPy", "host", 1_000, 1e-9)
    noisy = replace(steady, samples=(1e-9, 2e-9, 4e-9))
    for found, speed in ((steady, 1e9), (noisy, None), (Absent("relu", "", "", 1, "no"), None)):
        monkeypatch.setattr(machines, "compared", lambda *_, found=found, **__: recorded("", found))
        machines.memory_speed.cache_clear()
        assert machines.from_memory("ReLU", None).value == pytest.approx(speed)


def test_every_claim_of_one_table_has_the_same_speed_of_memory(monkeypatch):
    speeds = iter(range(1, 100))

    def never_the_same(op, *_, **__):
        return recorded(op.name, timing(op.name, "", "host", 1_000, 1 / next(speeds)))

    monkeypatch.setenv("GPULESSONS_BUDGET", "0.02")
    monkeypatch.setattr(machines, "compared", never_the_same)
    one, ten, twelve = (CLAIMS[number].measure(Given()) for number in (1, 10, 12))
    assert one["relu_dealt"].value == ten["moved_numbers"].value == twelve["activation"].value
    assert one["relu"].value != one["relu_dealt"].value


def test_packing_on_a_gpu_is_timed_for_both_orders_with_an_empty_room(monkeypatch):
    from gpulessons.backends import host
    from warplens import trace

    launched, clock = [], iter(range(100))

    class Fake(type(host)):
        def mark(self):
            return next(clock)

        def elapsed(self, start, stop):
            x, kept = launched[-1]
            assert kept == np.count_nonzero(x > 0)
            return 3e-4 if np.any(np.diff(x) < 0) else 1e-4

    class Watched:
        def __getitem__(self, grid):
            def launch(x, room, kept):
                trace(pack_kernel)[grid](x, room, kept)
                launched.append((x.copy(), int(kept[0])))

            return launch

    pack_kernel = pictures.pack_kernel
    monkeypatch.setattr(pictures, "gpu", Fake())
    monkeypatch.setattr(pictures, "pack_kernel", Watched())
    found = pictures.packing_on_gpu(size=1024, rounds=3)
    assert found.value == pytest.approx(3) and found.measured_on_gpu
    assert len(launched) == 8


# -- Clocks and systems that tell nothing.


def test_packing_is_timed_with_its_branch_and_without():
    for loop in (pictures.pack, pictures.pack_all):
        room = np.empty(4, np.float32)
        assert loop(np.float32([-1, 2, -3, 4]), room) == 2 and room[:2].tolist() == [2, 4]
    verdict = CLAIMS[11].judge(**ORDERS | {"gpu_packing": 1.3})
    assert "8 times as long as in order with a branch, and 1.1 times without" in verdict.why
    assert "with a branch" not in CLAIMS[11].judge(**ORDERS | {"packing_free": None}).why


def test_the_ruler_of_loads_and_stores_is_a_triad(monkeypatch):
    monkeypatch.setattr(machines, "machine", lambda: SimpleNamespace(
        ceiling=lambda *what: {("host", "triad"): 3e10, ("host", "copy"): 5e10}[what]))
    assert machines.triad_from_memory().value == 3e10


def test_a_clock_that_does_not_move_is_no_figure(monkeypatch):
    monkeypatch.setenv("GPULESSONS_BUDGET", "0.02")
    monkeypatch.setattr(at_once.time, "thread_time", lambda: 0.0)
    for number, names in ((1, ("sigmoid", "busy")), (3, ("alike", "different"))):
        figures = CLAIMS[number].measure(Given())
        assert all(figures[name].value is None for name in names)
        verdict = decided(CLAIMS[number], figures)
        assert verdict.word == UNTESTED and "clock" in verdict.why


def test_a_call_lasts_until_a_slow_clock_has_moved(monkeypatch):
    now, calls = [0.0], []

    def call():
        calls.append(now[0])
        now[0] += 0.004

    monkeypatch.delenv("GPULESSONS_BUDGET", raising=False)
    monkeypatch.setattr(at_once.time, "perf_counter", lambda: now[0])
    last = at_once.lasting(call)
    began = now[0]
    last()
    assert at_once.WHILE - 1e-9 <= now[0] - began < 2 * at_once.WHILE


def test_caches_that_a_system_does_not_tell_are_not_counted(monkeypatch):
    assert machines.in_the_last_cache(16).value or not machines.machine().caches
    hidden = replace(machines.machine(), caches={})
    monkeypatch.setattr(machines, "machine", lambda: hidden)
    assert machines.in_the_last_cache(16).value is None


# -- Faults planted in the thing itself.


def test_two_pictures_that_differ_refute_that_one_form_replaces_the_other(monkeypatch):
    assert decided(CLAIMS[5], pictures.two_forms(Given())).word == LIMITS
    exact = pictures.one_pixel
    monkeypatch.setattr(pictures, "one_pixel", lambda x, y: exact(x, y) + (x > 0))
    assert decided(CLAIMS[5], pictures.two_forms(Given())).word == REFUTED


def test_programs_that_take_turns_are_not_taken_for_mimd(monkeypatch):
    def one_by_one(calls):
        worked = [at_once.work(call) for call in calls]
        return worked, sum(worked)

    monkeypatch.setenv("GPULESSONS_BUDGET", "0.02")
    monkeypatch.setattr(at_once, "together", one_by_one)
    figures = machines.flynn(Given())
    assert figures["different"].value == pytest.approx(1)
    assert decided(CLAIMS[3], figures).word == UNTESTED
    figures["alike"] = Figure("copies of one program", 1.9)
    assert decided(CLAIMS[3], figures).word == REFUTED


def test_threads_that_tell_each_other_something_are_counted():
    from warplens import trace

    turns, bars = np.zeros(256, np.int32), np.zeros(65, np.int32)
    counting = trace(pictures.histogram_kernel)[1, 256](turns, bars)
    assert machines.shared(counting) == 256


def test_a_corner_turned_otherwise_than_a_layer_refutes_that_they_are_one(monkeypatch):
    monkeypatch.setenv("GPULESSONS_BUDGET", "0.02")
    monkeypatch.setattr(
        pictures, "from_memory", lambda what, *_, **__: Figure(what, None, why="a test")
    )
    figures = pictures.corners_and_layers(Given())
    assert figures["lanes"].value == 1  # no block is half empty
    assert decided(CLAIMS[10], figures).word == LIMITS
    honest = pictures.vertex_transform.inputs
    monkeypatch.setattr(
        pictures.vertex_transform, "inputs", lambda n: (2 * honest(n)[0], honest(n)[1])
    )  # w is 2: a layer's bias is added once
    assert decided(CLAIMS[10], pictures.corners_and_layers(Given())).word == REFUTED


def test_libraries_that_say_more_than_the_profiler_saw_are_not_believed(monkeypatch):
    said = {"seconds": 0.4}

    class Told:
        def __init__(self, seconds):
            self.seconds = seconds

        def kernels(self):
            return [self]

    monkeypatch.setattr(frameworks, "profile", lambda step, **_: Told(1.0))
    monkeypatch.setattr(frameworks, "library_calls", lambda step: [Told(said["seconds"])])
    assert frameworks.asked_share(None).value == pytest.approx(0.4)
    said["seconds"] = 1.3
    assert frameworks.asked_share(None).value is None
    said["seconds"] = 0.0
    assert frameworks.asked_share(None).value is None


def test_a_step_without_a_library_has_none_of_its_share():
    import torch

    x = torch.randn(300, 300)
    assert frameworks.library_share(lambda: x @ x) > 0.5
    assert frameworks.library_share(lambda: x + x) == 0
