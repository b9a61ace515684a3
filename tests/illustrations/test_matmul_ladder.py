"""Ladders: shares of the right library, at the right size; what is published never looks live."""

import dataclasses
from itertools import pairwise

import pytest

from gpulessons.illustrations import matmul_ladder
from gpulessons.measure.results import Absent, Comparison, ModelledTiming, Timing

NO_GPU = "no GPU that CUDA can use"


def timed(version, backend, gflops, size=1024, **more):
    """A product of size × size at so many GFLOP/s."""
    fields = dict.fromkeys((field.name for field in dataclasses.fields(Timing)), 0)
    given = {"op": "matmul", "version": version, "backend": backend, "size": size, "waits": (),
             "arithmetic": ""}  # fmt: skip
    seconds = 2 * size**3 / (gflops * 1e9)
    given |= {"flops": 2 * size**3, "bytes": 12 * size**2, "samples": (seconds,)}
    return Timing(**{**fields, **given, **more})


def compared(*entries, **more):
    given = {"machine": "a machine", "date": "2026-11-21", "unit": "rows and columns"}
    return Comparison("matmul", entries, **{**given, **more})


def missing(version, why=NO_GPU):
    return Absent("matmul", version, "gpu", 1024, why)


CPU = (
    timed("Python loop", "host", 0.002, size=64),
    timed("Numba, blocked", "host", 80),
    timed("NumPy", "host", 100),
    timed("NumPy", "host", 50, size=64),
    timed("PyTorch on CPU", "torch_cpu", 90),
)
GPU = (
    timed("CUDA, naive", "gpu", 500),
    timed("CUDA, 2-D register tile", "gpu", 30_000),
    timed("PyTorch on GPU", "torch_gpu", 50_000),
)
HERE = compared(*CPU, missing("CUDA, naive"), missing("CUDA, vectorized loads"))
COUNTED = {"CUDA, naive": (2, 0), "CUDA, vectorized loads": (1 / 32, 1.125)}


def modelled(gpu="T4", *, size=1024, **gflops):
    """Versions at so many GFLOP/s of a GPU's 8,000: from half of that to twice."""
    made = []
    for version, rate in gflops.items():
        t, of = 2 * size**3 / (rate * 1e9), ("integer", "issue slots", "machine code")
        work = 2 * size**3, 12 * size**2, 8e12, 3.2e11
        made.append(ModelledTiming("matmul", f"CUDA, {version}", "gpu", size, gpu, t, t / 2, 2 * t,
                                   *of, *work))  # fmt: skip
    return compared(*made, machine=gpu, tier="modelled")


ON_PAPER = dataclasses.replace(HERE, modelled=(modelled(naive=400), modelled("A100", naive=800)))


def dots(axes):
    """(share, open) of every measured rung; where the rings of published ones are."""
    single = [line for line in axes.lines if len(line.get_xdata()) == 1]
    rings = [line for line in single if line.get_color() == "none"]
    measured = [line for line in single if line not in rings]
    return [(line.get_xdata()[0], line.get_markerfacecolor() == "none") for line in measured], [
        line.get_xdata()[0] for line in rings
    ]


def texts(axes):
    return [text.get_text().strip() for text in axes.texts]


def test_each_rung_is_compared_with_the_library_of_its_own_device():
    shares = {v: share for v, (share, *_) in matmul_ladder.standings(compared(*CPU, *GPU)).items()}
    assert shares == pytest.approx({
        "Python loop": 2e-5, "Numba, blocked": 0.8, "NumPy": 1, "PyTorch on CPU": 0.9,
        "CUDA, naive": 0.01, "CUDA, 2-D register tile": 0.6, "PyTorch on GPU": 1,
    })  # fmt: skip


def test_a_rung_too_slow_for_the_large_size_stands_at_its_own_and_says_so():
    picture = matmul_ladder.ladder(HERE)
    assert [label.get_text() for label in picture.axes.get_yticklabels()] == [
        "Python loop at 64", "Numba, blocked", "NumPy", "PyTorch on CPU", "CUDA, naive",
        "CUDA, vectorized loads",
    ]  # fmt: skip
    assert "0.002%, 2 MFLOP/s" in texts(picture.axes)


def test_versions_measured_at_a_smaller_size_join_the_ladder():
    whole = matmul_ladder.together(compared(CPU[0], CPU[3]), compared(*CPU[1:3], *CPU[4:]))
    assert matmul_ladder.standings(whole) == matmul_ladder.standings(compared(*CPU))
    assert whole.versions[0] == "Python loop"


def test_the_title_names_the_best_of_ours_and_says_what_is_only_published():
    assert repr(matmul_ladder.ladder(HERE)).startswith(
        "matmul, 1,024 rows and columns: Numba, blocked reaches 80% of NumPy here; "
        "CUDA, vectorized loads is published at 78.4% of cuBLAS."
    )
    assert "CUDA, 2-D register tile reaches 60% of PyTorch on GPU here." in repr(
        matmul_ladder.ladder(compared(*CPU, *GPU))
    )
    assert repr(matmul_ladder.ladder(compared(*CPU[:1]))).startswith(
        "matmul, 64 rows and columns: nothing was measured."
    )


def test_with_nothing_measured_and_nothing_published_every_rung_says_so():
    picture = matmul_ladder.ladder(compared(missing("CUDA, naive")), published={})
    assert texts(picture.axes) == ["not measured here"]


def test_what_was_not_measured_has_a_ring_or_words_and_never_a_dot():
    run = compared(*CPU, missing("CUDA, naive"), missing("CUDA, mine"), missing("PyTorch on GPU"))
    picture = matmul_ladder.ladder(run, {"CUDA, mine": (1 / 8, 2)})
    measured, published = dots(picture.axes)
    assert len(measured) == 4 and published == [0.013] and not picture.axes.patches
    assert {"published 1.3%", "not measured here"} <= set(texts(picture.axes))
    label = picture.axes.get_xlabel()
    assert "○ published: S. Boehm, SGEMM_CUDA (README), RTX A6000" in label
    assert f"not measured here: {NO_GPU}" in label
    assert "left out, not measured here: PyTorch on GPU" in label  # nothing is known of it
    assert len(picture.axes.get_yticks()) == 6


def test_a_measured_rung_keeps_the_published_ring_beside_its_dot():
    picture = matmul_ladder.ladder(compared(*CPU, *GPU))
    assert [len(each) for each in dots(picture.axes)] == [7, 2]
    assert not any(text.startswith("published") for text in texts(picture.axes))


def test_a_recording_fills_in_for_a_gpu_and_is_open_and_marked():
    their_cpu = timed("NumPy", "host", 900), timed("Numba, blocked", "host", 9)
    other = compared(*GPU, *their_cpu, machine="an H200", date="2026-11-20", tier="recorded")
    picture = matmul_ladder.ladder(dataclasses.replace(HERE, beside=(other,)))
    assert "80%, 80 GFLOP/s" in texts(picture.axes)  # live, whatever the other machine's CPU does
    assert [is_open for _, is_open in dots(picture.axes)[0]] == [False] * 4 + [True]
    assert "CUDA, naive¹" in [label.get_text() for label in picture.axes.get_yticklabels()]
    assert "¹ recorded: an H200, 2026-11-20" in picture.axes.get_xlabel()
    assert "CUDA, naive reaches 1% of PyTorch on GPU recorded." in repr(picture)


def test_a_modelled_rung_is_hatched_and_a_share_of_its_gpus_peak():
    picture = matmul_ladder.ladder(ON_PAPER)
    (naive,) = picture.axes.collections
    assert naive.get_hatch() and not len(naive.get_facecolor())
    assert naive.get_offsets().tolist() == [[pytest.approx(0.05), 4]]
    assert "≈ 5%, 400 GFLOP/s, modelled" in texts(picture.axes)
    interval = next(line for line in picture.axes.lines if line.get_marker() == "|")
    assert sorted(interval.get_xdata()) == pytest.approx([0.025, 0.1])
    labels = [label.get_text() for label in picture.axes.get_yticklabels()]
    assert labels[4:] == ["CUDA, naive¹", "CUDA, vectorized loads"]
    below = picture.axes.get_xlabel()
    assert "¹ modelled for T4, not measured" in below
    assert "share of the library's FLOP/s; modelled: of the GPU's peak" in below
    said = "Modelled for T4: CUDA, naive reaches ≈ 5% (2.5% to 10%) of its peak."
    assert said in repr(picture)
    assert "≈ 5% of its peak, modelled for T4, published 0.781%" in repr(picture)
    assert matmul_ladder.standings(ON_PAPER) == matmul_ladder.standings(HERE)


def test_the_ladder_shows_the_gpu_that_is_named_or_none():
    assert "≈ 10%, 800 GFLOP/s, modelled" in texts(matmul_ladder.ladder(ON_PAPER, gpu="A100").axes)
    assert matmul_ladder.ladder(ON_PAPER, gpu=None).alt == matmul_ladder.ladder(HERE).alt


def test_a_measured_or_recorded_rung_wins_over_a_modelled_one():
    other = compared(*GPU, machine="an H200", date="2026-11-20", tier="recorded")
    for won in (compared(*CPU, *GPU, modelled=ON_PAPER.modelled),
                dataclasses.replace(ON_PAPER, beside=(other,))):  # fmt: skip
        picture = matmul_ladder.ladder(won)
        assert "odelled" not in picture.alt + picture.axes.get_xlabel()
        assert not picture.axes.collections


def test_modelled_rungs_of_smaller_sizes_join_the_ladder():
    small = dataclasses.replace(compared(CPU[0]), modelled=(modelled(size=64, mine=9),))
    whole = matmul_ladder.together(small, compared(CPU[3]), ON_PAPER)
    assert [t.version for t in whole.on_paper("T4").estimates] == ["CUDA, mine", "CUDA, naive"]
    assert whole.gpus == ["T4", "A100"]


def test_counted_loads_stand_beside_their_rungs():
    _, beside = matmul_ladder.ladder(HERE, COUNTED).figure.axes
    memory, shared = beside.lines
    assert list(memory.get_xdata()) == [2, 1 / 32] and list(memory.get_ydata()) == [4, 5]
    assert list(shared.get_xdata()) == [1.125] and list(shared.get_ydata()) == [5]
    assert texts(beside) == ["2", "1/32", "9/8"]


def test_the_alt_text_has_every_figure():
    alt = matmul_ladder.ladder(HERE, COUNTED).alt
    for words in (
        "Numba, blocked: 80% of the library",
        "CUDA, naive: published 1.3%, 2 loads a multiplication, 0 from shared memory",
        "Published figures: S. Boehm",
    ):
        assert words in alt


class Card:
    """A CPU of 200 GFLOP/s and 50 GB/s."""

    name = "a card"

    def ceiling(self, backend, what):
        return 2e11

    def bandwidth(self, backend):
        return 5e10


def test_on_the_roofline_every_timed_rung_is_a_point_at_its_own_intensity():
    picture = matmul_ladder.on_the_roofline(Card(), HERE)
    at = {tuple(line.get_xydata()[0]) for line in picture.axes.lines if len(line.get_xdata()) == 1}
    assert {(round(x, 2), round(y / 1e9, 4)) for x, y in at} == {
        (10.67, 0.002), (170.67, 80), (170.67, 100), (170.67, 90),
    }  # fmt: skip
    (loop,) = (t for t in picture.axes.texts if t.get_text() == "Python loop at 64")
    assert loop.xy == pytest.approx((64 / 6, 2e6))
    assert {"NumPy, 100 GFLOP/s", "PyTorch on CPU, 90 GFLOP/s"} <= set(texts(picture.axes))
    assert repr(picture).startswith(
        "matmul at 1,024: 171 FLOPs for each byte that must move, right of the corner at 4. "
        "NumPy reaches 50% of the flat roof. matmul"
    )


def test_rungs_above_each_other_are_named_at_the_edge_in_the_order_of_their_rates():
    whole = compared(*CPU, timed("Numba, plain", "host", 79))
    texts = matmul_ladder.on_the_roofline(Card(), whole).axes.texts
    edge = [text for text in texts if text.get_position()[0] == 1.06]
    heights = [text.get_position()[1] for text in edge]
    assert [text.get_text().rpartition(", ")[0] for text in edge] == [
        "Numba, plain", "Numba, blocked", "PyTorch on CPU", "NumPy",
    ]  # fmt: skip
    assert heights == sorted(heights) and min(b - a for a, b in pairwise(heights)) > 0.06


def test_under_the_roof_of_a_gpu_on_paper_stand_the_shortest_and_the_longest_of_its_times():
    whole = dataclasses.replace(HERE, modelled=(modelled(naive=400, tile=900, square=5_000),))
    picture = matmul_ladder.on_the_roofline(Card(), whole, gpu="T4")
    said = set(texts(picture.axes))
    assert {"CUDA, naive, 400 GFLOP/s", "CUDA, square, 5 TFLOP/s"} <= said
    assert not any("tile" in words for words in said)
    assert "Hatched: modelled for T4, not measured." in repr(picture)
    alone = matmul_ladder.on_the_roofline(Card(), whole)
    assert repr(alone) == repr(matmul_ladder.on_the_roofline(Card(), HERE))


def test_a_rung_above_the_roof_is_an_error_to_explain():
    picture = matmul_ladder.on_the_roofline(Card(), compared(timed("Numba, blocked", "host", 230)))
    assert "The roof is what NumPy's product reached, and this rung beat it." in repr(picture)


@pytest.mark.parametrize(
    "load, words",
    [(2, "2"), (1.125, "9/8"), (0.125, "1/8"), (3 / 64, "3/64"), (0.53125, "0.531"), (0, "0")],
)
def test_loads_are_written_as_people_say_them(load, words):
    assert matmul_ladder.fraction(load) == words


@pytest.mark.parametrize(
    "share, words",
    [(1, "100%"), (0.784, "78%"), (0.0951, "10%"), (0.013, "1.3%"), (2e-5, "0.002%")],
)
def test_shares_have_two_digits_down_to_the_smallest(share, words):
    assert matmul_ladder.percent(share) == words


def test_rungs_that_are_only_published_get_rows_behind_the_last_published_one():
    run = compared(*CPU, missing("CUDA, vectorized loads"), missing("PyTorch on GPU"))
    picture = matmul_ladder.ladder(run, above=matmul_ladder.ABOVE)
    rows = [label.get_text() for label in picture.axes.get_yticklabels()]
    assert rows[4:] == ["CUDA, vectorized loads", *matmul_ladder.ABOVE]
    assert {"published 84.8%", "published 93.7%"} <= set(texts(picture.axes))
    assert "is published at 78.4% of cuBLAS" in picture.alt  # the headline's rungs are ours


def noisy(timing):
    (sample,) = timing.samples
    return dataclasses.replace(timing, samples=(sample, 1.5 * sample, 2 * sample))


def test_a_noisy_time_is_neither_in_the_headline_nor_on_the_roofline():
    fast = noisy(timed("Numba, fast", "host", 99))
    title = repr(matmul_ladder.ladder(compared(*CPU, fast)))
    assert "Numba, blocked reaches 80% of NumPy here" in title
    library = noisy(timed("NumPy", "host", 100))
    assert "too noisy here to say" in repr(matmul_ladder.ladder(compared(CPU[1], library)))
    same = dict.fromkeys(("ceiling", "bandwidth"), lambda *_: 1e11)
    card = type("Card", (), {"name": "a card", **same})()
    picture = matmul_ladder.on_the_roofline(card, compared(CPU[1], fast))
    assert "Left out as noisy: Numba, fast." in picture.alt and "99 GFLOP/s" not in picture.alt
    assert "Every time is noisy" in matmul_ladder.on_the_roofline(card, compared(fast))


def test_a_noisy_comparison_is_made_again_until_it_is_steady_or_three_times():
    steady, shaken = compared(CPU[1]), compared(noisy(CPU[1]), CPU[2])
    worse = compared(noisy(CPU[1]), noisy(CPU[2]))
    made = iter([shaken, steady, worse])
    assert matmul_ladder.steadily(lambda: next(made)) is steady
    made = iter([worse, shaken, worse, steady])
    assert matmul_ladder.steadily(lambda: next(made)) is shaken and next(made) is steady


def test_two_libraries_are_compared_only_by_steady_times_and_named():
    ours, theirs = timed("NumPy", "host", 100, threads=2), timed("PyTorch on CPU", "torch_cpu", 49)
    words = matmul_ladder.libraries({"NumPy": ours, "PyTorch on CPU": theirs})
    assert words.startswith("PyTorch reaches 49% of NumPy's rate. NumPy calls ")
    shaken = matmul_ladder.libraries({"NumPy": ours, "PyTorch on CPU": noisy(theirs)})
    assert shaken.startswith("Too noisy here")
    assert "no PyTorch" in matmul_ladder.libraries({"NumPy": ours})


def test_a_gain_is_of_rungs_that_were_timed_and_not_too_noisily():
    rungs = {timing.version: timing for timing in CPU[:3]}
    times, why = matmul_ladder.gain(rungs, "Python loop", "NumPy")
    assert (times, why) == (pytest.approx(50_000), "")
    assert matmul_ladder.gain(rungs, "CUDA, naive", "NumPy") == (None, "not timed: CUDA, naive")
    rungs["NumPy"] = noisy(rungs["NumPy"])
    assert matmul_ladder.gain(rungs, "Python loop", "NumPy") == (None, "too noisy: NumPy")


def test_beside_modelled_rungs_the_published_ones_are_shares_of_a_peak_as_well():
    picture = matmul_ladder.ladder(ON_PAPER)
    assert dots(picture.axes)[1] == pytest.approx([0.013 * 0.60077, 0.784 * 0.60077], rel=1e-4)
    assert "RTX A6000, as shares of its peak" in picture.axes.get_xlabel()
    assert "cuBLAS" not in picture.alt  # a share of another hundred than what is drawn
    assert "of its peak" not in matmul_ladder.ladder(HERE).axes.get_xlabel()


def test_each_step_is_told_at_the_largest_size_that_both_rungs_have():
    loop, blocked = timed("Python loop", "host", 0.002, size=64), timed("blocked", "host", 80)
    small = timed("NumPy", "host", 50, size=64), timed("blocked", "host", 10, size=64)
    run = compared(loop, *small, timed("NumPy", "host", 100), blocked)
    lines = matmul_ladder.step_by_step(run, ["Python loop", "NumPy", "blocked"], 2).splitlines()
    assert lines == ["Python loop → NumPy, n = 64: 25,000×", "NumPy → blocked, n = 1,024: 0.8×"]
    alone = compared(loop, blocked)
    steps = ["Python loop", "blocked"]
    assert "not timed at one size" in matmul_ladder.step_by_step(alone, steps, 2)


def test_cores_that_brought_nothing_are_remarked():
    run = compared(timed("one core", "host", 57.8), timed("every core", "host", 57))
    steps = ["one core", "every core"]
    assert "more than one brought nothing" in matmul_ladder.step_by_step(run, steps, 2)
    assert "brought" not in matmul_ladder.step_by_step(run, steps, 1)
    faster = compared(timed("one core", "host", 50), timed("every core", "host", 99))
    assert "brought" not in matmul_ladder.step_by_step(faster, steps, 2)
