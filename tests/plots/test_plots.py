"""What is drawn is what was given; words stay apart; a page gets vectors, an image, and words."""

import dataclasses
import json
import re
import zlib
from base64 import b64decode

import numpy as np
import pytest

from gpulessons.plots import frames, images, timings
from gpulessons.plots.picture import COLORS, INK, Picture, blank, thinned
from gpulessons.plots.roofline import roof, roofline

SIZES = 1000, 100_000


def timed(version, backend, *seconds, **more):
    from gpulessons.measure.results import Timing

    fields = {field.name: 0 for field in dataclasses.fields(Timing)}
    return tuple(
        Timing(**{**fields, "op": "relu", "version": version, "backend": backend, "size": size,
                  "samples": (t,) * 3, "waits": (t,), "flops": size, "bytes": 8 * size,
                  "arithmetic": "", **more})
        for size, t in zip(SIZES, seconds, strict=False)
    )


def compared(*entries, **more):
    from gpulessons.measure.results import Comparison

    return Comparison(**{"op": "relu", "entries": entries, "machine": "here",
                         "date": "2026-11-05"} | more)


def modelled(t, high):
    from gpulessons.measure.results import ModelledTiming

    one = ModelledTiming("relu", "CUDA", "gpu", SIZES[1], "T4", t, t / 2, high, "DRAM", "latency",
                         "machine code", 1, 8, 8e12, 3e11)
    return compared(one, machine="T4", tier="modelled")


LOOP, NUMPY = timed("loop", "host", 1e-3, 8e-2), timed("NumPy", "host", 1e-5, 2e-3)
GPU = timed("CUDA", "gpu", 1e-4, 1e-4)
LIVE = compared(*LOOP, *NUMPY)


class Card:
    """A machine with made-up ceilings: 1 TFLOP/s and 100 GB/s."""

    name = "a card"

    def ceiling(self, backend, what):
        known = {"float32": 1e12, "read": 1e11, "copy": 9e10}
        return known.get(what) if backend == "host" else None

    def bandwidth(self, backend):
        return 1e11 if backend == "host" else None


def markers(axes):
    """{color: the (x, y) of each marked point}"""
    lines = [line for line in axes.lines if line.get_marker() not in ("None", None, "")]
    return [(x, y, line.get_color()) for line in lines for x, y in line.get_xydata()]


# -- Timings.


def test_bars_stand_at_how_many_times_as_fast_as_the_slowest_each_is():
    axes = timings.bars(LIVE).axes
    dots = [point[:2] for point in markers(axes)]
    assert dots == [(1, 0), (pytest.approx(40), 1)]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["loop", "NumPy"]
    assert any("2 ms, 40×" in text.get_text() for text in axes.texts)


def test_a_line_runs_through_a_version_s_medians_in_its_backend_s_color():
    picture = timings.scaling(dataclasses.replace(LIVE, entries=(*LOOP, *GPU)))
    loop, cuda = picture.axes.lines
    assert loop.get_xydata().tolist() == [[1000, 1e-3], [100_000, 8e-2]]
    assert (loop.get_color(), cuda.get_color()) == (COLORS["host"], COLORS["gpu"])
    only = timings.scaling(LIVE, versions=["NumPy"])
    assert len(only.axes.lines) == 1


def test_a_recording_is_dashed_and_its_footnote_says_where_it_is_from():
    recorded = compared(*GPU, machine="a server", tier="recorded")
    picture = timings.scaling(dataclasses.replace(LIVE, beside=(recorded,)))
    assert [line.get_linestyle() for line in picture.axes.lines] == ["-", "-", "--"]
    assert "¹" in picture.axes.get_xlabel() and "a server" in picture.axes.get_xlabel()


def test_a_modelled_time_is_named_as_such_and_has_no_factor():
    on_paper = dataclasses.replace(LIVE, modelled=(modelled(1e-3, 2e-3),))
    words = timings.bars(on_paper).alt
    assert "Modelled for T4: CUDA" in words
    assert "Modelled" not in timings.bars(on_paper, gpu=None).alt
    texts = [text.get_text() for text in timings.bars(on_paper).axes.texts]
    (own,) = (text for text in texts if "modelled on T4" in text)
    assert "×" not in own
    open_end = dataclasses.replace(LIVE, modelled=(modelled(1e-3, None),))
    assert "at least" in timings.bars(open_end).alt


def test_a_tie_and_a_noisy_machine_have_no_winner():
    tie = compared(*NUMPY, *timed("other", "host", 1e-5, 2e-3))
    assert "too close to tell apart" in timings.fastest(tie)
    wild = timed("other", "host", 1, 1, samples=(1e-5, 1e-4, 9e-3))
    assert "too noisy" in timings.fastest(compared(*NUMPY, *wild))
    assert "nothing was measured" in timings.fastest(compared())
    assert "40× loop" in timings.fastest(LIVE)


# -- Roofline.


def test_points_stand_at_their_intensity_and_rate_under_the_roof_of_their_card():
    one, two = timed("a", "host", 1e-6, 1e-3)
    picture = roofline(Card(), [one, two])
    dots = [point[:2] for point in markers(picture.axes)]
    assert dots == [(1 / 8, pytest.approx(1e9)), (1 / 8, pytest.approx(1e8))]
    assert roof(Card(), "host") == (1e12, 1e11) and roof(Card(), "host", "copy") == (1e12, 9e10)
    assert "2 of 2 points lie left of the ridge point, 10" in picture.alt
    with pytest.raises(ValueError, match="no ceilings"):
        roofline(Card(), GPU)
    noisy = timed("a", "host", 1, samples=(1e-5, 1e-4, 9e-3))
    assert "Left out, too noisy: relu" in roofline(Card(), [one, *noisy]).alt


def test_no_two_names_on_a_roofline_meet():
    from matplotlib.text import Text

    many = [timed("a", "host", 1e-6 * (1 + n / 4), op=f"an op {n}")[0] for n in range(9)]
    picture = roofline(Card(), many)
    picture.figure.draw_without_rendering()
    boxes = [Text.get_window_extent(text) for text in picture.axes.texts]  # without their lines
    assert sum(a.overlaps(b) for n, a in enumerate(boxes) for b in boxes[:n]) == 0


# -- Pages.


def shown(words="A line."):
    figure, axes = blank(title=words)
    axes.plot([1, 2], color=INK)
    return Picture(figure, words)


def test_text_stays_text_and_ink_is_the_page_s_own():
    svg = shown("Nine of ten.").svg
    assert ">Nine of ten.</text>" in svg and INK not in svg and 'stroke="currentColor"' in svg
    assert svg == shown("Nine of ten.").svg  # nothing of the clock, nothing random


def test_a_page_gets_vectors_an_image_for_those_that_refuse_them_and_words():
    page = shown("“Nine” < ten.")._repr_mimebundle_()
    assert page["text/plain"] == "“Nine” < ten."
    html = page["text/html"]
    assert 'alt="“Nine” &lt; ten."' in html and "data:image/png;base64," in html and "<svg" in html
    assert 'aria-hidden="true"' in html


def test_a_saved_page_holds_every_frame_and_no_tag_twice(monkeypatch):
    pictures = [shown(f"{n} of three.") for n in range(3)]
    page = frames.moving([("n", ["0", "1", "2"], 1)], list(map(frames.frame, pictures)), "still")
    packed = re.search(r'text/plain">([^<]+)<', page)[1]
    kept = json.loads(zlib.decompress(b64decode(packed)))
    assert len(set(kept["tags"])) == len(kept["tags"])
    for (places, words), picture in zip(kept["frames"], pictures, strict=True):
        assert "<".join(kept["tags"][place] for place in places) == picture.drawing
        assert words == picture.alt
    assert kept["controls"] == [{"name": "n", "values": ["0", "1", "2"], "start": 1}]
    monkeypatch.setenv(frames.SAVING, "1")
    assert "text/plain" in shown()._repr_html_()
    assert frames.fitting(["x" * 999_999, "small"]) == "small"


def test_pictures_side_by_side_are_thinned_to_the_means_of_squares():
    image = np.arange(16.0).reshape(4, 4)
    assert thinned(image, 2).tolist() == [[2.5, 4.5], [10.5, 12.5]]
    assert len(images({"a": image / 16, "b": image / 16}).figure.axes) == 2
    with pytest.raises(ValueError, match="one shape"):
        images({"a": image, "b": image[:2]})
