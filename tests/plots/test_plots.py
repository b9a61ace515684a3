"""Pictures say in words all that they show; titles are computed; whatever is missing, they draw."""

import base64
import re
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulessons import units
from gpulessons.measure.results import Absent, Comparison, ModelledTiming, Timing
from gpulessons.plots import images
from gpulessons.plots import timings as plots
from gpulessons.plots.picture import INK, thinned

SIZES = (1000, 100_000, 10_000_000)
ONE = Timing(
    op="relu", version="NumPy", backend="host", size=1000, samples=(1.0,), waits=(), calls=1,
    threads=1, first=0.25, h2d=2e-3, d2h=1e-3, flops=1, bytes=8, error=0.0, cold=False,
    stop="settled",
)  # fmt: skip


def timed(version, backend, *seconds, spread=0.02):
    """A version that took so long at each of the sizes."""
    return tuple(
        replace(ONE, version=version, backend=backend, size=size, bytes=8 * size, flops=size,
                samples=(took * (1 - spread), took, took * (1 + spread)))
        for size, took in zip(SIZES, seconds, strict=False)
    )  # fmt: skip


CPU = (*timed("Python loop", "host", 80e-6, 8e-3), *timed("NumPy", "host", 1e-6, 1e-5, 7e-3),
       *timed("Numba, every core", "host", 2e-6, 6e-6, 2e-3),
       *timed("PyTorch on CPU", "torch_cpu", 3e-6, 9e-6, 4e-3))  # fmt: skip
GPU = timed("CUDA, grid-stride", "gpu", 6e-6, 7e-6, 25e-6)
GONE = tuple(Absent("relu", "CUDA, grid-stride", "gpu", size, "no GPU here") for size in SIZES)
RECORDED = Comparison("relu", GPU, "a server", "2026-11-04", "recorded")
LIVE = Comparison("relu", (*CPU, *GONE), "a laptop", "2026-11-05")
BOTH = replace(LIVE, beside=(RECORDED,))
NOTHING = replace(LIVE, entries=GONE)
SCATTERED = "CUDA, scattered"


def modelled(gpu, *seconds):
    """What two versions would take on a GPU at each of the sizes; of one the lower end is known."""
    of = "DRAM", "latency", "machine code"
    entries = [
        ModelledTiming("relu", name, "gpu", size, gpu, t, 0.8 * t, None if name == SCATTERED
                       else 2 * t, *of, size, 8 * size, 8e12, 3e11)
        for name in ("CUDA, grid-stride", SCATTERED) for size, t in zip(SIZES, seconds, strict=True)
    ]  # fmt: skip
    return Comparison("relu", tuple(entries), gpu, "2026-11-22", "modelled")


T4, A100 = modelled("T4", 3e-6, 8e-6, 4e-4), modelled("A100", 3e-6, 4e-6, 8e-5)
ON_PAPER = replace(LIVE, modelled=(T4, A100))
EMPTY = replace(LIVE, entries=())


def texts(picture):
    """Every string drawn, axis labels and ticks included."""
    from matplotlib.text import Text

    picture.figure.draw_without_rendering()
    hidden = {label for axes in picture.figure.axes for label in undrawn_ticks(axes)}
    found = picture.figure.findobj(Text)
    return [t for t in found if t.get_text() and t.get_visible() and t not in hidden]


def undrawn_ticks(axes):
    """matplotlib keeps the labels of ticks beyond an axis's limits, and draws none of them."""
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            if not axes.axison or not low <= tick.get_loc() <= high:
                yield from (tick.label1, tick.label2)


def drawn(picture):
    return " | ".join(text.get_text() for text in texts(picture))


# -- Every picture.

DRAWINGS = {
    "scaling": lambda: plots.scaling(BOTH),
    "bars": lambda: plots.bars(BOTH),
    "scaling, modelled": lambda: plots.scaling(ON_PAPER),
    "bars, modelled": lambda: plots.bars(ON_PAPER),
    "bars, all modelled": lambda: plots.bars(replace(NOTHING, modelled=(T4,))),
    "ceiling": lambda: plots.ceiling(CPU[-1:] + GPU[-1:], 3e12),
    "stages": lambda: plots.stages(GPU[-1]),
    "crossover": lambda: plots.crossover(LIVE, {"a GPU": lambda n: 1e-5 + n / 1e12}),
    "images": lambda: images(
        {"before": np.zeros((4, 6)), "after": np.ones((4, 6))}, "One."
    ),
}


@pytest.fixture(params=DRAWINGS)
def picture(request):
    return DRAWINGS[request.param]()


def test_a_picture_shows_itself_with_its_words_beside_it(picture):
    data = picture._repr_mimebundle_()
    assert 'alt="' in data["text/html"] and len(picture.alt) > 20
    assert data["text/plain"] == picture.alt == repr(picture)


def test_its_ink_is_the_pages_and_its_image_is_what_a_page_without_vectors_keeps(picture):
    page = picture._repr_html_()
    assert "currentColor" in page and INK not in page
    without = re.sub(r"<svg.*</svg>|<style>.*</style>", "", page, flags=re.DOTALL)
    assert re.search(r'<img src="data:image/(png|webp);base64,', without)
    assert not re.sub(r"<[^>]*>", "", without), "letters that a page strips of their outlines"


def test_the_title_begins_the_alt_text(picture):
    title = " ".join(picture.figure.get_suptitle().split())
    assert title and picture.alt.startswith(title)


def test_nothing_drawn_is_clipped_and_no_words_overlap(picture):
    """On the canvas, and apart from one another: what matters on a small screen."""
    words = texts(picture)
    page = picture.figure.bbox
    boxes = [(word.get_text(), word.get_window_extent()) for word in words]
    boxes = [(text, box) for text, box in boxes if box.width and box.height]
    for text, box in boxes:
        assert box.x0 >= -1 and box.y0 >= -1, f"{text!r} is clipped"
        assert box.x1 <= page.x1 + 1 and box.y1 <= page.y1 + 1, f"{text!r} is clipped"
    for i, (text, box) in enumerate(boxes):
        for other, place in boxes[:i]:
            lap = (
                min(box.x1, place.x1) - max(box.x0, place.x0),
                min(box.y1, place.y1) - max(box.y0, place.y0),
            )
            assert min(lap) < 2, f"{text!r} lies on {other!r}"


def test_words_are_legible_on_a_white_page_and_on_a_dark_one(picture):
    for text in texts(picture):
        assert text.get_fontsize() >= 9
        for page in ("#ffffff", "#111111"):
            assert contrast(text.get_color(), page) >= 4, text.get_text()


def contrast(one, other):
    """The contrast of two colors, as the Web Content Accessibility Guidelines define it."""
    from matplotlib.colors import to_rgb

    def luminance(color):
        linear = [
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)
        ]
        return np.dot(linear, (0.2126, 0.7152, 0.0722)) + 0.05

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return light / dark


def test_a_mark_in_the_alt_text_cannot_break_out_of_it():
    picture = plots.Picture(plots.blank()[0], '"><script>')
    assert 'alt="&quot;&gt;&lt;script&gt;"' in picture._repr_html_()


def test_the_page_shows_through():
    import io

    from matplotlib.image import imread

    packed = re.search(r"base64,([^\"]+)", plots.bars(LIVE).image)[1]
    corner = imread(io.BytesIO(base64.b64decode(packed)))[0, 0]
    assert corner[3] == 0


# -- Scaling and bars.


@pytest.mark.parametrize("draw", [plots.scaling, plots.bars])
def test_every_figure_is_in_the_alt_text_with_its_tier(draw):
    alt = draw(BOTH).alt
    for timing in (*CPU, *GPU):
        if draw is plots.scaling or timing.size == SIZES[-1]:
            assert f"{timing.version} at {units.count(timing.size)}: {timing.words}" in alt
    assert "live: a laptop, 2026-11-05" in alt and "recorded: a server, 2026-11-04" in alt


@pytest.mark.parametrize("draw", [plots.scaling, plots.bars])
def test_a_recording_is_marked_where_it_is_drawn_and_named_below(draw):
    words = drawn(draw(BOTH))
    assert "CUDA, grid-stride¹" in words
    assert "live: a laptop, 2026-11-05" in words
    assert "¹ recorded: a server, 2026-11-04" in words


@pytest.mark.parametrize("draw", [plots.scaling, plots.bars])
@pytest.mark.parametrize(
    "comparison",
    [LIVE, replace(LIVE, beside=(RECORDED, replace(RECORDED, machine="another"))),
     replace(RECORDED, beside=(LIVE,)), replace(NOTHING, beside=(RECORDED,)), NOTHING, EMPTY,
     replace(LIVE, entries=CPU[:1]), replace(LIVE, entries=(*CPU[:5], *GONE)), ON_PAPER,
     replace(BOTH, modelled=(A100,)), replace(NOTHING, modelled=(T4,)), T4],
)  # fmt: skip
def test_whatever_is_missing_it_draws(draw, comparison):
    picture = draw(comparison)
    assert picture.svg and "relu" in picture.alt


@pytest.mark.parametrize("draw", [plots.scaling, plots.bars])
@pytest.mark.parametrize("gpu", ["", "T4", "A100"])
def test_a_modelled_time_is_said_to_be_one_wherever_it_stands(draw, gpu):
    picture = draw(ON_PAPER, gpu=gpu)
    on, (shown, other) = gpu or "T4", (A100, T4) if gpu == "A100" else (T4, A100)
    best = next(t for t in shown.estimates if t.size == SIZES[-1])
    assert f"Modelled for {on}: CUDA, grid-stride, {best.words}." in picture.alt
    launch = "kernels + 2.5 µs assumed for each launch, without Python's share"
    assert f"modelled for {on}, not measured: {launch}: CUDA, grid-stride at" in picture.alt
    assert f"{best.version} at {units.count(best.size)}: {best.words}" in picture.alt
    words = drawn(picture)
    assert f"¹ modelled for {on}, not measured" in words and "CUDA, grid-stride¹" in words
    assert other.machine not in words + picture.alt


def test_none_for_a_gpu_draws_nothing_modelled():
    for draw in (plots.scaling, plots.bars):
        assert "odelled" not in draw(ON_PAPER, gpu=None).alt
        assert draw(ON_PAPER, gpu=None).alt == draw(LIVE).alt


def test_where_nothing_is_modelled_the_name_of_a_gpu_changes_nothing():
    assert plots.bars(BOTH, gpu="A100").alt == plots.bars(BOTH).alt


def test_a_modelled_dot_is_hatched_has_its_interval_and_no_factor():
    axes = plots.bars(ON_PAPER).axes
    assert not axes.patches, "a log axis has no zero that a bar could begin at"
    assert [bool(mark.get_hatch()) for mark in axes.collections].count(True) == 1
    assert not any(len(mark.get_facecolor()) for mark in axes.collections if mark.get_hatch())
    said = [text.get_text() for text in axes.texts]
    assert "≈ 400 µs, modelled on T4" in said and "at least 320 µs, modelled on T4" in said
    slowest = max(t.median for t in LIVE.timings if t.size == SIZES[-1])
    ends = [sorted(line.get_xdata()) for line in axes.lines if line.get_marker() == "|"]
    assert ends == [pytest.approx([slowest / 3.2e-4] * 2),
                    pytest.approx([slowest / 8e-4, slowest / 3.2e-4])][::-1]  # fmt: skip


def test_a_time_known_from_below_is_an_arrow_to_the_left_of_its_bound_and_no_dot():
    axes = plots.bars(ON_PAPER).axes
    (arrow,) = [line for line in axes.lines if line.get_marker() == "<"]
    head, bound = arrow.get_xdata()
    slowest = max(t.median for t in LIVE.timings if t.size == SIZES[-1])
    assert bound == pytest.approx(slowest / 3.2e-4) and axes.get_xlim()[0] < head < bound
    assert arrow.get_markevery() == [0], "the head alone is a mark"


def test_factors_are_of_the_slowest_that_was_measured():
    slow = replace(LIVE, modelled=(modelled("T4", 3e-6, 8e-6, 4.0),))
    said = [text.get_text() for text in plots.bars(slow).axes.texts]
    assert said == ["≈ 4 s, modelled on T4", "at least 3.2 s, modelled on T4",
                    "7 ms, 1×", "4 ms, 1.75×", "2 ms, 3.5×"]  # fmt: skip


def test_a_modelled_line_is_thin_broken_and_its_band_hatched():
    axes = plots.scaling(ON_PAPER).axes
    thin = [line for line in axes.lines if line.get_linewidth() == 1]
    assert [line.get_linestyle() for line in thin] == ["--"] * 2  # matplotlib's word for a pattern
    assert {line.get_markerfacecolor() for line in thin} == {"none"}
    hatched = [band for band in axes.collections if band.get_hatch()]
    assert len(hatched) == 2 and all(len(band.get_facecolor()) == 0 for band in hatched)


def test_a_modelled_time_never_makes_a_claim_of_the_measured_ones():
    measured = plots.fastest(LIVE)
    assert plots.fastest(ON_PAPER) == measured
    assert plots.fastest(ON_PAPER, gpu="").startswith(measured)
    paper = replace(NOTHING, modelled=(T4,))
    nothing = "relu, 10,000,000 elements: nothing was measured. Modelled for T4: CUDA, grid-stride"
    assert plots.fastest(paper, gpu="").startswith(nothing)


def test_a_recorded_line_is_dashed_and_a_live_one_solid():
    axes = plots.scaling(BOTH).axes
    styles = {line.get_color(): line.get_linestyle() for line in axes.lines}
    assert styles[plots.COLORS["host"]] == "-" and styles[plots.COLORS["gpu"]] == "--"


def test_only_the_asked_versions_are_drawn():
    assert len(plots.scaling(BOTH, versions=["NumPy", "CUDA, grid-stride"]).axes.lines) == 2


def test_bars_compare_at_the_size_asked_for():
    picture = plots.bars(LIVE, 100_000)
    assert "8 ms, 1×" in drawn(picture) and "6 µs, 1,330×" in drawn(picture)
    assert "10,000,000" not in picture.alt


CLOSE = replace(LIVE, entries=(*timed("NumPy", "host", 1, 1, 4e-3, spread=0.2),
                               *timed("PyTorch", "torch_cpu", 1, 1, 3e-3, spread=0.4)))  # fmt: skip


@pytest.mark.parametrize("comparison", [LIVE, CLOSE, replace(CLOSE, entries=CLOSE.entries[:3])])
def test_bars_have_room_around_every_mark_and_words_stand_right_of_the_noise(comparison):
    axes = plots.bars(comparison).axes
    (low, high), rows = axes.get_ylim(), axes.get_yticks()
    assert low <= min(rows) - 0.5 and high >= max(rows) + 0.5, "half a row below and above"
    ends = {}
    for line in axes.lines:
        y = line.get_ydata()[0]
        ends[y] = max(ends.get(y, 0), *line.get_xdata())
    assert {note.xy[1]: note.xy[0] for note in axes.texts} == pytest.approx(ends)


@pytest.mark.parametrize("comparison", [BOTH, CLOSE, ON_PAPER, NOTHING])
def test_at_least_two_factors_are_numbered(comparison):
    axes = plots.bars(comparison).axes
    axes.figure.draw_without_rendering()
    left, right = axes.get_xlim()
    numbered = [t for t in axes.xaxis.get_major_ticks() if left <= t.get_loc() <= right]
    assert len({tick.label1.get_text() for tick in numbered} - {""}) >= 2


def test_a_bar_s_noise_is_said():
    noisy = replace(LIVE, entries=(*CPU, *timed("loud", "host", 1, 1, 5e-3, spread=0.5)))
    assert "(too noisy)" in drawn(plots.bars(noisy))


# -- Titles are computed.


@pytest.mark.parametrize(
    "entries, title",
    [
        (CPU, "relu, 10,000,000 elements: Numba, every core is fastest, 2× PyTorch on CPU, the "
         "next, and 3.5× NumPy."),
        ((*CPU, *timed("level", "host", 1, 1, 2.01e-3)), "relu, 10,000,000 elements: Numba, every "
         "core and level are fastest, too close to tell apart."),
        ((*CPU, *timed("restless", "host", 1, 1, 1.7e-3, spread=0.2)), "relu, 10,000,000 elements: "
         "restless and Numba, every core are fastest, too close to tell apart."),
        ((*CPU, *timed("loud", "host", 1, 1, 1e-2, spread=0.5)), "relu, 10,000,000 elements: "
         "Numba, every core is fastest, 2× PyTorch on CPU, the next."),
        (CPU[:1], "relu, 1,000 elements: Python loop takes 80 µs."),
        ((*CPU, *timed("loud", "host", 1, 1, 1e-3, spread=0.5)),
         "relu, 10,000,000 elements: loud looks fastest, on a machine too noisy to say by how "
         "much."),
        (GONE, "relu, 0 elements: nothing was measured."),
    ],
)  # fmt: skip
def test_the_title_is_the_message_and_claims_nothing_of_noise(entries, title):
    assert plots.fastest(replace(LIVE, entries=entries)) == title


def test_at_a_size_where_nothing_was_measured_the_title_says_so():
    assert plots.fastest(LIVE, 5) == "relu, 5 elements: nothing was measured."


# -- Ceilings, stages, crossovers, images.


def test_a_ceiling_names_the_share_of_the_best_and_every_rate():
    fast, slow = CPU[-1], CPU[4]
    picture = plots.ceiling([slow, fast], 40e9)
    assert picture.alt == (
        "PyTorch on CPU: 50% of this machine's copy ceiling. "
        "NumPy, 11.4 GB/s; PyTorch on CPU, 20 GB/s; copy ceiling, 40 GB/s."
    )
    assert "copy ceiling, 40 GB/s" in drawn(picture)


def test_timings_of_two_ops_can_be_named():
    picture = plots.ceiling(CPU[-2:], 40e9, names=["ReLU", "GELU"], name="triad")
    assert picture.alt.startswith("ReLU: 222% of this machine's triad ceiling.")
    assert "ReLU, 88.9 GB/s" in drawn(picture) and "GELU, 20 GB/s" in drawn(picture)


def test_rates_under_a_ceiling_may_have_names_of_their_own():
    rates = {"NumPy": 5e9, "Numba": 8e9}
    assert plots.ceiling(rates, 10e9).alt.startswith("Numba: 80% of this machine's copy ceiling.")
    assert plots.ceiling(rates, 10e9, about="NumPy").alt.startswith("NumPy: 50% of")
    for nothing, about in (({}, ""), (rates, "PyTorch"), ([], "")):
        with pytest.raises(ValueError, match="at least one rate"):
            plots.ceiling(nothing, 1e9, about=about)


def test_what_is_absent_has_no_bar_under_a_ceiling_and_the_title_says_why():
    gone = Absent("relu", "gone", "host", 1000, "not here")
    both = plots.ceiling([gone, CPU[-1]], 40e9, names=["first", "second"])
    assert both.alt.startswith("second: 50% of") and len(both.axes.patches) == 1
    assert plots.ceiling([gone], 40e9, title="Not here.").alt == "Not here. copy ceiling, 40 GB/s."


def test_bars_under_a_ceiling_begin_at_zero_and_every_line_stands_at_its_rate():
    axes = plots.ceiling({"a": 5e9, "b": 12e9}, 10e9, marks={"two thirds": 20e9 / 3}).axes
    assert [bar.get_width() for bar in axes.patches] == [5e9, 12e9]
    assert axes.get_xlim()[0] == 0 and axes.get_xlim()[1] > 12e9
    assert [line.get_xdata()[0] for line in axes.lines] == [20e9 / 3, 10e9]
    assert [line.get_linestyle() for line in axes.lines] == [":", "-"]


def test_no_line_runs_through_the_words_of_another():
    axes = plots.ceiling({"a": 5e9}, 10e9, marks={"two thirds": 20e9 / 3}).axes
    ends = {line.get_xdata()[0]: line.get_ydata()[1] for line in axes.lines}
    for words in axes.texts:
        rate, height = words.get_position()
        assert all(height < end for other, end in ends.items() if other < rate)


def test_stages_follow_one_another():
    picture = plots.stages(replace(GPU[-1], waits=(1e-3, 1e-3)), label="(compiling)")
    bars = picture.axes.patches
    assert [bar.get_x() for bar in bars] == pytest.approx([0, 2e-3, 3e-3])
    assert [bar.get_width() for bar in bars] == pytest.approx([2e-3, 1e-3, 1e-3])
    assert picture.alt == (
        "Of one use of 'CUDA, grid-stride', 25% is computing. host to device, 2 ms; compute, 1 ms; "
        "device to host, 1 ms; first call, once: 250 ms (compiling)."
    )


@pytest.mark.parametrize(
    "time, when",
    [
        (lambda n: 1.0, "never, at these sizes"),
        (lambda n: 0.0, "at every size"),
        (lambda n: 6e-6, "from 100,000"),
    ],
)
def test_a_crossover_says_from_which_size_on_the_model_is_faster(time, when):
    picture = plots.crossover(LIVE, {"a GPU": lambda n: max(time(n), 1e-12)})
    assert picture.alt.startswith(f"Where the GPU gets ahead. A GPU: {when}.")
    assert "NumPy at 1,000: 1 µs; Numba, every core at 100,000: 6 µs" in picture.alt
    assert "a GPU, modelled" in drawn(picture) and "this CPU, measured" in drawn(picture)


def test_a_crossover_passes_over_sizes_without_a_cpu_figure():
    gap = replace(LIVE, entries=tuple(e for e in LIVE.entries if e.size != 100_000 or e in GONE))
    assert plots.crossover(gap, {"a GPU": lambda n: 1e-5}).svg


def test_images_keep_their_proportions():
    wide = images({"a": np.zeros((10, 40))}, "Wide.")
    tall = images({"a": np.zeros((40, 40)), "b": np.zeros((40, 40))}, "Two.")
    assert wide.figure.get_figheight() < tall.figure.get_figheight()
    assert tall.alt == "Two. Side by side: a, b."


def test_blocks_of_pixels_become_their_mean():
    image = np.arange(24.0).reshape(4, 6)
    assert thinned(image, across=3).tolist() == [[3.5, 5.5, 7.5], [15.5, 17.5, 19.5]]
    assert thinned(np.ones((1, 1000)), across=200).shape == (1000,), "lower than a block"


def test_colors_stay_apart_and_a_small_picture_keeps_its_pixels():
    image = np.zeros((4, 4, 3))
    image[..., 0], image[..., 2] = 1, 0.5
    assert (thinned(image, across=2) == [1, 0, 0.5]).all()
    assert np.array_equal(thinned(image, across=200), image)


def test_few_pixels_are_shown_under_the_message():
    image = np.random.default_rng(0).random((300, 512, 3))
    picture = images({"noise": image, "more": 2 * image}, "Noise.", across=128)
    shown = [axes.images[0].get_array() for axes in picture.figure.axes]
    assert all(array.shape[1] == 128 and array.max() <= 1 for array in shown)
    assert repr(picture) == "Noise. Side by side: noise, more."


@pytest.mark.parametrize(
    "named", [{}, {"a": np.zeros((2, 2)), "b": np.zeros((3, 2))}, {"a": np.zeros(5)}]
)
def test_nothing_rows_and_pictures_of_several_shapes_are_refused(named):
    with pytest.raises(ValueError, match="one shape"):
        images(named)


# -- Labels apart.


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12).map(sorted))
def test_labels_are_moved_apart_no_further_than_need_be(places):
    moved = plots.apart(places, 0.1)
    assert all(b - a >= 0.1 - 1e-9 for a, b in pairwise(moved))
    assert np.mean(moved) == pytest.approx(np.mean(places))
    if all(b - a >= 0.1 for a, b in pairwise(places)):
        assert moved == pytest.approx(places)


def test_one_backend_is_one_color_and_one_marker_everywhere():
    assert len(set(plots.COLORS.values())) == len(set(plots.MARKERS.values())) == 4
    assert set(plots.COLORS) == set(plots.MARKERS)


def test_a_plain_object_with_the_fields_of_a_timing_draws_as_well():
    """A recording is plotted by its attributes, whatever made it."""
    plain = SimpleNamespace(**vars(CPU[-1]), bandwidth=CPU[-1].bandwidth)
    assert plots.ceiling([plain], 40e9).svg
