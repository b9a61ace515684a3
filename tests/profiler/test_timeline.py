"""The picture of a step: well-formed, small, legible on white and on dark, no words over words."""

import base64
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from gpulessons.plots.picture import INK
from gpulessons.profiler.result import Profile
from gpulessons.profiler.spans import KINDS, Event, phases, spans
from gpulessons.profiler.timeline import FILLS, LARGE, LEFT, SMALL, WORDS, drawn, page

MAIN = 100
SVG = "{http://www.w3.org/2000/svg}"


def busy(count):
    """A step of very many operators, short ones and long ones, on the CPU and on a GPU."""
    events = [
        Event("Optimizer.step#Adam.step", 0.7, 0.95, MAIN, annotation=True),
        Event("Memcpy HtoD (Pageable -> Device)", 0.01, 0.1, 7, on_gpu=True),
    ]
    for n in range(count):
        start, long = n / count, (0.2 + 0.7 * (n % 3 == 0)) / count
        events += [
            Event("aten::linear", start, start + long, MAIN),
            Event("aten::addmm", start + 0.1 * long, start + 0.9 * long, MAIN),
            Event("cudaLaunchKernel", start + 0.2 * long, start + 0.3 * long, MAIN),
            Event("ampere_sgemm_128x64_tn", start + 0.4 * long, start + 1.1 * long, 7, on_gpu=True),
        ]
    events.append(Event("cudaDeviceSynchronize", 0.999, 1.0, MAIN))
    return Profile(spans(events, MAIN), 1.0, plain=0.8)


def words(svg):
    """(x from, x to, y, size, words) of every text."""
    found = []

    def walk(element, anchor):
        anchor = element.get("text-anchor", anchor)
        if element.tag == f"{SVG}text":
            x, y, size = (float(element.get(k, SMALL)) for k in ("x", "y", "font-size"))
            wide = 0.58 * size * len(element.text)  # about that of DejaVu Sans, a wide face
            left = x - wide / 2 if anchor == "middle" else x
            found.append((left, left + wide, y, size, element.text))
        for child in element:
            walk(child, anchor)

    walk(ElementTree.fromstring(svg), "start")
    return found


def training(*more):
    """One step of training: what autograd calls, and around it the lines of Python."""
    return spans([
        Event("Optimizer.zero_grad#SGD.zero_grad", 0.0, 0.1, MAIN, annotation=True),
        Event("aten::linear", 0.12, 0.2, MAIN), Event("aten::addmm", 0.14, 0.19, MAIN),
        Event("aten::mse_loss", 0.22, 0.3, MAIN), Event("aten::ones_like", 0.35, 0.36, MAIN),
        Event("autograd::engine::evaluate_function: MseLossBackward0", 0.4, 0.5, MAIN),
        Event("autograd::engine::evaluate_function: AddmmBackward0", 0.55, 0.7, MAIN), *more,
        Event("Optimizer.step#SGD.step", 0.8, 1.0, MAIN, annotation=True),
        Event("aten::add_", 0.9, 0.95, MAIN),
    ], MAIN)  # fmt: skip


def test_the_lines_of_a_training_step_are_told_from_its_spans_and_drawn_above_it():
    assert phases(training()) == [
        ("zero_grad", 0.0, 0.1), ("forward", 0.12, 0.3), ("backward", 0.35, 0.7),
        ("update", 0.8, 1.0),
    ]  # fmt: skip
    svg = Profile(training(), 1.0, plain=0.8).timeline().svg
    said = [text for *_, text in words(svg)]
    lines = said[said.index("your lines") + 1 :]
    assert lines[:4] == ["zero_grad", "forward", "backward", "update"]


def test_what_is_no_single_training_step_has_no_such_lines():
    between = Event("aten::linear", 0.52, 0.53, MAIN)  # a second micro-batch
    assert phases(training(between)) == [] == phases(busy(3).spans)
    assert "your lines" not in busy(3).timeline().svg


@pytest.mark.parametrize("count", [1, 7, 40, 900])
@pytest.mark.parametrize("width", [600, 1000])
def test_no_words_lie_over_words_and_all_are_inside(count, width):
    svg = busy(count).timeline(width=width).svg
    height = float(ElementTree.fromstring(svg).get("height"))
    found = words(svg)
    assert all(left >= 0 and right <= width and y <= height for left, right, y, *_ in found), found
    for number, (left, right, y, size, text) in enumerate(found):
        for left2, right2, y2, size2, text2 in found[number + 1 :]:
            apart = right <= left2 or right2 <= left or abs(y - y2) >= 0.9 * max(size, size2)
            assert apart, f"{text!r} lies over {text2!r}"


@pytest.mark.parametrize("count", [1, 40, 900, 4000])
def test_the_picture_is_small_and_says_what_it_shows(count):
    profile = busy(count)
    picture = profile.timeline()
    root = ElementTree.fromstring(picture.svg)
    assert len(picture.svg.encode()) < 60_000
    assert root.find(f"{SVG}title").text == profile.title
    assert root.find(f"{SVG}desc").text == profile.message == picture.alt


def test_a_picture_that_would_be_large_is_drawn_more_coarsely():
    streams = [
        Event("k", (n + 0.1) / 200, (n + 0.9) / 200, stream, on_gpu=True)
        for stream in range(30) for n in range(200)
    ]  # fmt: skip
    profile = Profile(spans(streams, MAIN), 1.0)
    finest = page(profile.spans, profile.parts, 1.0, "", "", 1000, 3)
    assert len(finest.encode()) > 60_000 > len(profile.timeline().svg.encode())


def test_short_spans_are_drawn_together_and_counted():
    texts = [text for *_, text in words(busy(900).timeline().svg)]
    assert any(re.fullmatch(r"\d+ short", text) for text in texts)
    assert sum(text.startswith("linear") for text in texts) == 0
    texts = [text for *_, text in words(busy(7).timeline().svg)]
    assert sum(text == "linear" for text in texts) >= 2  # the wide ones carry their names


def test_lanes_are_named_and_the_time_has_a_scale():
    texts = [text for *_, text in words(busy(7).timeline().svg)]
    for lane in ("the split", "Python", "operators", "GPU", "GPU copies", "time", *KINDS):
        assert lane in texts
    assert "0 s" in texts and "1 s" in texts and "200 ms" in texts


def test_bars_stand_where_their_times_are():
    (span,) = spans([Event("aten::mm", 0.25, 0.75, MAIN)], MAIN)
    profile = Profile((span,), 1.0)
    svg = drawn((span,), profile.parts, 1.0, "t", "a", width=LEFT + 1000 + 12).svg
    bars = re.findall(r"M([\d.]+) [\d.]+h([\d.]+)v15", svg)
    assert (f"{LEFT + 250:.1f}", "499.6") in bars


def test_a_short_bar_with_room_beside_it_has_its_name_there():
    events = [
        Event("Optimizer.zero_grad#SGD.zero_grad", 0.1, 0.11, MAIN, annotation=True),
        Event("Optimizer.step#SGD.step", 0.5, 0.51, MAIN, annotation=True),
        Event("Optimizer.step#SGD.step", 0.52, 0.53, MAIN, annotation=True),
    ]
    texts = [text for *_, text in words(Profile(spans(events, MAIN), 1.0).timeline().svg)]
    assert texts.count("SGD.zero_grad") == 1 and texts.count("SGD.step") == 1


def test_deep_rows_of_hairs_are_left_out():
    def rows(length):
        events = [Event("aten::linear", 0.1, 0.9, MAIN), Event("aten::t", 0.2, 0.2 + length, MAIN)]
        svg = Profile(spans(events, MAIN), 1.0).timeline().svg
        return len(set(re.findall(r"M[\d.]+ ([\d.]+)h[\d.]+v15", svg)))

    assert rows(0.05) == rows(0.001) + 1


def test_a_page_shows_it_as_an_image_with_its_words():
    picture = busy(3).timeline()
    data = picture._repr_mimebundle_()
    html = data["text/html"]
    assert "<svg" not in html, "where scripts and vectors are refused, its words would remain"
    packed = re.search(r"base64,([^\"]+)", html)[1]
    assert base64.b64decode(packed).decode() == picture.svg
    assert data["text/plain"] == picture.alt == repr(picture)
    assert f'alt="{picture.alt}"' in html


def test_names_with_signs_of_html_stay_words():
    (span,) = spans([Event("void <a & b>::k", 0.0, 1.0, 7, on_gpu=True)], MAIN)
    svg = Profile((span,), 1.0).timeline().svg
    assert "void <a & b>::k" in [text for *_, text in words(svg)]


def luminance(color):
    parts = [int(color[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return light / dark


def test_bars_stand_out_on_white_and_on_dark_and_words_on_bars():
    for kind, fill in FILLS.items():
        assert contrast(fill, "#ffffff") >= 3 and contrast(fill, "#111111") >= 3
        assert contrast(WORDS[kind], fill) >= 4.5
    assert contrast(INK, "#ffffff") >= 4.5
    assert set(FILLS) < set(KINDS) == set(WORDS)
    assert LARGE > SMALL >= 11


def test_too_narrow_a_picture_is_refused():
    with pytest.raises(ValueError, match="600 pixels wide or more"):
        busy(1).timeline(width=400)


def test_rows_of_a_lane_do_not_overlap():
    tops = sorted({float(y) for y in re.findall(r"M[\d.]+ ([\d.]+)h", busy(7).timeline().svg)})
    assert all(two - one >= 15 for one, two in pairwise(tops))
