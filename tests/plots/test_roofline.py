"""The roofline: every point where its FLOPs and bytes put it, names that never meet."""

import dataclasses
import random

import pytest

from gpulessons.measure.results import ModelledTiming, Timing
from gpulessons.plots.roofline import roof, roofline


class Card:
    """A machine with made-up ceilings: 1 TFLOP/s and 100 GB/s, ten times that on its GPU."""

    name = "a card"

    def __init__(self, **ceilings):
        self.ceilings = ceilings or {
            "host float32": 1e12, "host copy": 9e10, "host triad": 1e11,
            "gpu float32": 1e13, "gpu copy": 1e12,
        }  # fmt: skip

    def ceiling(self, backend, what):
        place = {"torch_cpu": "host", "torch_gpu": "gpu"}.get(backend, backend)
        return self.ceilings.get(f"{place} {what}")

    def bandwidth(self, backend):
        found = [self.ceiling(backend, what) for what in ("copy", "triad")]
        return max(filter(None, found), default=None)


def timed(op, flops, nbytes, seconds, backend="host", cold=True):
    fields = dict.fromkeys((field.name for field in dataclasses.fields(Timing)), 0)
    given = {"op": op, "version": "fast", "flops": flops, "bytes": nbytes, "backend": backend}
    given["cold"] = cold
    return Timing(**{**fields, **given, "samples": (seconds,)})


COPY = timed("copy", 0, 8e6, 1e-4)
RELU = timed("relu", 1e6, 8e6, 1e-4)
PRODUCT = timed("product", 2e9, 1e6, 4e-3)


def points(picture):
    return [
        line.get_xydata()[0].tolist() for line in picture.axes.lines if len(line.get_xydata()) == 1
    ]


def test_a_point_stands_at_its_intensity_and_its_rate():
    assert points(roofline(Card(), [RELU, PRODUCT])) == [[1 / 8, 1e10], [2000, 5e11]]


def test_an_op_without_arithmetic_is_as_far_below_the_roof_as_its_bytes():
    picture = roofline(Card(), [COPY, RELU])
    (x, y), _ = points(picture)
    assert x == picture.axes.get_xlim()[0]
    assert y / (x * 1e11) == pytest.approx(COPY.bandwidth / 1e11)


def test_the_roof_is_the_better_stream_and_bends_where_arithmetic_ends():
    left, corner, right = roofline(Card(), [RELU]).axes.lines[0].get_xydata()
    assert corner.tolist() == [10, 1e12]
    assert left[1] == pytest.approx(left[0] * 1e11) and right[1] == 1e12


def test_the_roof_is_the_cards_whatever_was_timed():
    x, y = roofline(Card(), [timed("copy", 0, 2e7, 1e-4, cold=True)]).axes.lines[0].get_xydata()[0]
    assert y / x == pytest.approx(1e11)
    assert roof(Card(), "host") == (1e12, 1e11)


def test_what_is_too_noisy_to_be_quoted_is_left_out_and_named():
    loud = dataclasses.replace(timed("loud", 1e6, 8e6, 1e-4), samples=(1e-5, 1e-4, 1e-3))
    picture = roofline(Card(), [loud, RELU], names=["so loud", "relu"])
    assert "Left out, too noisy: so loud." in repr(picture)
    assert "so loud" not in [text.get_text() for text in picture.axes.texts]
    assert "Left out, too noisy: relu." in repr(roofline(Card(), [
        dataclasses.replace(loud, op="relu"), RELU]))
    with pytest.raises(ValueError, match="not too noisy"):
        roofline(Card(), [loud])
    same = roofline(Card(), [loud], modelled=[ON_PAPER], names=["layer", "layer"])
    assert "layer" in [text.get_text() for text in same.axes.texts], "the modelled one has its name"


def test_the_title_counts_what_memory_limits():
    title = repr(roofline(Card(), [COPY, RELU, PRODUCT]))
    assert title.startswith(
        "2 of 3 points lie left of the corner at 10 FLOPs per byte, at 80% of their slanted roof."
    )
    assert "relu, fast: 0.12 FLOPs a byte, 10 GFLOP/s, 80% of its roof" in title
    assert "copy, fast: 0 FLOPs a byte, no arithmetic, 80% of its roof" in title


def test_each_kind_of_traffic_has_a_slope_and_all_have_one_name():
    card = Card(**{"host float32": 1e12, "host read": 8e10, "host copy": 1e11})
    kinds = {"copy": "copy", "total": "read"}.get
    total = timed("total", 1e6, 8e6, 1.25e-4)
    picture = roofline(card, [COPY, total], traffic=kinds)
    assert "CPU: copy 100 GB/s, read 80 GB/s" in [t.get_text() for t in picture.axes.texts]
    assert [len(line.get_xydata()) for line in picture.axes.lines].count(3) == 2
    title = "2 of 2 points lie left of the corner at 10 to 12 FLOPs per byte, at 80% of their"
    assert repr(picture).startswith(title)
    unknown = roofline(card, [total], traffic=lambda op: "triad")
    assert "CPU: 100 GB/s" in [text.get_text() for text in unknown.axes.texts]


def test_each_device_has_its_own_roof_and_shares_it_among_its_backends():
    gpu, torch = (timed("relu", 1e6, 8e6, 1e-5, b) for b in ("gpu", "torch_gpu"))
    picture = roofline(Card(), [RELU, gpu, torch])
    assert [len(line.get_xydata()) for line in picture.axes.lines].count(3) == 2
    words = [text.get_text() for text in picture.axes.texts]
    assert "GPU: 10 TFLOP/s" in words and "CPU: 100 GB/s" in words


def estimate(op, flops, nbytes, seconds, gpu="T4"):
    """Modelled for a GPU of 8 TFLOP/s and 320 GB/s: from half as long to twice as long."""
    times = seconds, seconds / 2, 2 * seconds
    of = "DRAM", "latency", "machine code", int(flops), int(nbytes), 8e12, 3.2e11
    return ModelledTiming(op, "CUDA", "gpu", 1, gpu, *times, *of)


ON_PAPER = estimate("relu", 1e6, 8e6, 1e-4)


def test_a_modelled_point_stands_open_with_its_interval_under_its_own_gpus_roof():
    picture = roofline(Card(), [RELU], modelled=[ON_PAPER])
    cpu, sheet, live, interval = picture.axes.lines
    assert sheet.get_xydata()[1].tolist() == [25, 8e12]
    assert sheet.get_linewidth() < cpu.get_linewidth() and sheet.get_linestyle() != "-"
    assert interval.get_xydata().tolist() == [[1 / 8, 2e10], [1 / 8, 5e9]]
    (mark,) = picture.axes.collections
    assert mark.get_offsets().tolist() == [[1 / 8, 1e10]]
    assert mark.get_hatch() and not len(mark.get_facecolor())
    assert live.get_xydata().tolist() == [[1 / 8, 1e10]], "what was measured stands as before"


def test_a_roofline_says_what_is_modelled_and_does_not_count_it():
    picture = roofline(Card(), [RELU, PRODUCT], modelled=[ON_PAPER])
    assert repr(picture).startswith(
        "1 of 2 points lie left of the corner at 10 FLOPs per byte, at 80% of its slanted roof. "
        "Hatched: modelled for T4, not measured."
    )
    said = "relu, CUDA: 0.12 FLOPs a byte, 10 GFLOP/s, 25% of its roof, modelled for T4"
    assert said in repr(picture)
    words = [text.get_text() for text in picture.axes.texts]
    assert "T4, data sheet: 8 TFLOP/s, 320 GB/s" in words and "relu, modelled" in words


def test_modelled_points_stand_alone_where_nothing_was_measured():
    two = [ON_PAPER, estimate("copy", 0, 8e6, 1e-4)]
    picture = roofline(None, [], modelled=two, names=["a", "b"])
    assert repr(picture).startswith(
        "2 of 2 points lie left of the corner at 25 FLOPs per byte, at 25% of their slanted roof."
    )
    left, lowest = picture.axes.get_xlim()[0], picture.axes.get_ylim()[0]
    assert [left, left * 8e10] in [m.get_offsets()[0].tolist() for m in picture.axes.collections]
    assert lowest < left * 4e10 and not apart(picture)


def test_what_cannot_be_drawn_is_said():
    with pytest.raises(ValueError, match="at least one timing"):
        roofline(Card(), [])
    with pytest.raises(ValueError, match="no ceilings for host"):
        roofline(Card(**{"host float32": 1e12}), [RELU])


def apart(picture):
    """Pairs of words in the picture that cover each other once it is laid out."""
    picture.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in picture.axes.texts]
    return [(a, b) for i, a in enumerate(boxes) for b in boxes[:i] if a.overlaps(b)]


@pytest.mark.parametrize("seed", range(6))
def test_names_never_meet(seed):
    """Ten ops where the course's are: a few intensities, shared by many, close under the roof."""
    rng = random.Random(seed)
    timings = [RELU, PRODUCT]
    for n in range(8):
        flops = 1e6 * rng.choice([0, 0.125, 0.25, 0.43, 1.25, 17])
        timings.append(timed(f"op {n}", flops, 1e6, 1e-5 / rng.uniform(0.05, 1)))
    assert not apart(roofline(Card(), timings))
