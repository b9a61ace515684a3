"""Where the GPU loses: each verdict turns when its figures do."""

from types import SimpleNamespace

import pytest
from turning import assert_measures_what_is_judged, assert_turns, verdict_of

from gpulessons.claims import CLAIMS, Given, trees
from gpulessons.claims.claim import HOLDS, LIMITS, REFUTED, UNTESTED
from gpulessons.claims.judging import decided
from gpulessons.hardware import machine
from gpulessons.measure.recordings import Recording
from gpulessons.measure.results import Absent, Comparison, Timing
from gpulessons.measure.turns import Spread

KERNELS = {"full": 20, "tree": 1.4, "path_few": 7.5, "path": 10.6, "kernels": 4, "faults": 0,
           "compiled": 4}  # fmt: skip
FOREST = {"forest": 2e-3, "found": 0.93, "brute": 1.5e-2}
HALVES = {"sparse": 1.4e-3, "dense": 1.2e-3, "journey": 524_288}
TURNS = {
    21: [
        (KERNELS, REFUTED),
        ({**KERNELS, "gpu_walk": 3.0, "others": 10}, REFUTED),
        ({**KERNELS, "faults": 1}, UNTESTED),
        ({**KERNELS, "faults": 1, "path": 240}, REFUTED),
        ({**KERNELS, "faults": None}, UNTESTED),
        ({**KERNELS, "compiled": None}, UNTESTED),
        ({**KERNELS, "compiled": 3}, UNTESTED),
    ],
    22: [
        (FOREST, UNTESTED),
        ({**FOREST, "gpu_brute": 1e-3, "gpu_ahead": 2e7}, LIMITS),
        ({**FOREST, "found": 0.5, "gpu_brute": 1e-3, "gpu_ahead": 2e7}, UNTESTED),
        ({**FOREST, "found": 0.5, "gpu_brute": 1e-6, "gpu_ahead": 4e9}, UNTESTED),
        ({**FOREST, "gpu_brute": 1e-5, "gpu_ahead": 9e8}, UNTESTED),
        ({**FOREST, "gpu_brute": 1e-6, "gpu_ahead": 4e9}, REFUTED),
    ],
    23: [
        (HALVES, UNTESTED),
        ({**HALVES, "link": 2e8}, UNTESTED),
        ({**HALVES, "link": 2e8, "gpu_hybrid": 3.0, "gpu_alone": None}, HOLDS),
        ({**HALVES, "link": 2e8, "gpu_hybrid": 3.0, "gpu_alone": 0.4}, LIMITS),
        ({**HALVES, "link": 2e8, "gpu_hybrid": 0.5, "gpu_alone": 0.4}, REFUTED),
        ({**HALVES, "link": 2e8, "gpu_hybrid": 1.05, "gpu_alone": 0.4}, UNTESTED),
    ],
}


@pytest.mark.parametrize("number", TURNS)
def test_a_verdict_turns_with_its_figures(number):
    assert_turns(number, *TURNS[number])


@pytest.mark.parametrize("number", TURNS)
def test_the_test_of_a_claim_runs_here(number, monkeypatch):
    monkeypatch.setenv("GPULESSONS_BUDGET", "0.02")
    assert_measures_what_is_judged(number)


def test_what_is_said_of_growth_follows_the_figures():
    both, slow, linear = (verdict_of(21, **{**KERNELS, **other}).why
                          for other in ({}, {"tree": 18}, {"path": 240}))  # fmt: skip
    assert both.startswith("Costs of n and of log n: holds. ")
    assert "a path has 1.4 times, 10.6 instead of 7.5 on average" in both
    assert "calls cost something too" in both
    assert "calls cost" not in verdict_of(21, **{**KERNELS, "full": 35}).why
    assert "Not on a GPU: refuted. 4 CUDA kernels" in both
    assert slow.startswith("Costs of n and of log n: holds with limits. ")
    assert linear.startswith("Costs of n and of log n: refuted. ")


def test_a_kernel_that_computes_something_else_proves_nothing(monkeypatch):
    right, learn = trees.kernels_run(), trees.tree_update_cuda
    monkeypatch.setattr(trees, "tree_update_cuda", lambda *a: learn(*a[:-1], 2 * a[-1]))
    wrong = trees.kernels_run()
    assert (len(right[0]), right[1], wrong[1]) == (4, 0, 1)
    assert verdict_of(21, **{**KERNELS, "faults": wrong[1]}).word == UNTESTED


def test_a_kernel_that_does_not_compile_is_no_figure(monkeypatch):
    def refuse(*arguments, **options):
        raise trees.CannotCompile("no compiler here")

    monkeypatch.setattr(trees, "assembly", refuse)
    launches, _ = trees.kernels_run()
    assert trees.compiled(launches).why == "no compiler here"


SPREADS = {"forest": Spread((2e-3,) * 3, 1), "brute": Spread((1e-2,) * 3, 1)}


def recorded(op, version, seconds, size=trees.POINTS, backend="gpu"):
    """A recording with one timing in it, which nobody measured."""
    one = Timing(op.name, version, backend, size, (seconds,), (), 1, None, 0.0, 0.0, 0.0, 0, 0,
                 0.0, False, "settled")  # fmt: skip
    return Recording(machine(), (Comparison(op.name, (one,), "a GPU", "2026-01-01", "recorded"),))


@pytest.mark.parametrize(("seconds", "word"), [(1e-2, LIMITS), (1e-9, REFUTED)])
def test_a_recording_of_brute_force_on_a_gpu_decides(monkeypatch, seconds, word):
    monkeypatch.setenv("GPULESSONS_BUDGET", "0.02")
    monkeypatch.setattr(trees, "forest_and_brute", lambda: (SPREADS, 0.9))
    given = Given((recorded(trees.neighbours, "PyTorch on GPU", seconds, backend="torch_gpu"),))
    figures = trees.index_or_all(given)
    assert (figures["gpu_brute"].value, figures["gpu_brute"].of_gpu) == (seconds, True)
    assert figures["gpu_ahead"].kind == "modelled"
    verdict = decided(CLAIMS[22], figures)
    assert verdict.word == word
    assert ("a GPU, 2026-01-01" in verdict.why) == (word == LIMITS)


def test_a_recording_of_other_sizes_or_without_the_gpu_is_no_reading():
    elsewhere = recorded(trees.neighbours, "PyTorch on GPU", 1e-3, size=1_000)
    nobody = Absent("neighbours", "PyTorch on GPU", "torch_gpu", trees.POINTS, "no GPU")
    for entries in (elsewhere.comparisons[0].entries, (nobody,)):
        with pytest.raises(LookupError):
            trees.best_on_gpu(Comparison("neighbours", entries, "a GPU", "2026-01-01", "recorded"))


def test_the_slower_the_forest_the_more_points_it_takes_until_it_is_ahead():
    assert trees.ahead_from(1) == trees.POINTS * trees.WIDTH
    ahead = [trees.ahead_from(slower) for slower in (0.1, 1, 10, 100)]
    assert ahead == sorted(ahead)
    assert ahead[2] > 10 * ahead[1]  # its trees grow deeper meanwhile


@pytest.mark.parametrize(
    ("cpu", "alone", "word"), [(4.0, 3.0, HOLDS), (4.0, 0.5, LIMITS), (0.5, 0.5, REFUTED)]
)
def test_with_a_gpu_the_hybrid_is_measured_against_both(monkeypatch, cpu, alone, word):
    """Made up: batches of so many seconds all on the CPU and all on the GPU, the hybrid's of 1."""

    def measure(placement, task):
        took = {"all CPU": cpu, "hybrid": 1.0, "all GPU": alone}[placement]
        stages = dict.fromkeys(("gather", "dense", "update"), took / 3)
        return SimpleNamespace(medians=stages, seconds=20 * took, losses=[0.7] * 20)

    monkeypatch.setattr(trees, "torch_gpu", SimpleNamespace(why_not=lambda: ""))
    monkeypatch.setattr(trees.hybrid, "measure", measure)
    figures = trees.two_halves(Given())
    assert figures["gpu_hybrid"].value == pytest.approx(cpu)
    assert figures["gpu_alone"].value == pytest.approx(alone)
    assert figures["gpu_hybrid"].measured_on_gpu
    assert decided(CLAIMS[23], figures).word == word


def test_the_model_of_a_step_takes_on_the_cpu_what_its_halves_took():
    task = trees.hybrid.problem(rows=50, examples=4, batches=1)
    step = trees.modelled_step(task, sparse=2.0, dense=3.0)
    assert trees.placement.step_seconds(step)["all CPU"] == pytest.approx(5.0)


@pytest.mark.parametrize(("link", "words"), [(2e8, "over a link faster than some 200 MB/s"),
                                             (None, "over no link")])  # fmt: skip
def test_what_the_model_says_of_links_is_said(link, words):
    assert words in verdict_of(23, **{**HALVES, "link": link}).why


def test_the_gpu_of_the_model_is_the_published_one():
    task = trees.hybrid.problem(rows=50, examples=4, batches=1)
    step = trees.modelled_step(task, sparse=2.0, dense=3.0)
    assert (step.gpu_flops, step.gpu_bandwidth) == (trees.T4.flop_rate, trees.T4.bandwidth)
    assert trees.T4.kind == "published"
