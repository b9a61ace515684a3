"""Reports go to JSON and back and read as text and HTML; pictures tell what they show."""

import dataclasses
import re

import matplotlib
import numpy as np
import pytest
from numba import cuda, float32

import warplens
from warplens import (
    Banks,
    Coalescing,
    Divergence,
    Intensity,
    Races,
    Trace,
    Work,
    banks_picture,
    branch_picture,
    player,
    request_picture,
    source_picture,
    trace,
)

matplotlib.use("Agg")


@cuda.jit
def mixed(x, y):
    s = cuda.shared.array(64, float32)
    i, tid = cuda.grid(1), cuda.threadIdx.x
    s[tid] = x[2 * i]
    if i % 2:
        s[tid] += s[(tid + 1) % 64]
    cuda.syncthreads()
    y[i] = s[tid * 2 % 64]


@pytest.fixture(scope="module")
def traced():
    return trace(mixed)[2, 64](np.ones(256, np.float32), np.zeros(128, np.float32))


REPORTS = {
    "coalescing": Coalescing,
    "banks": Banks,
    "divergence": Divergence,
    "work": Work,
    "intensity": Intensity,
    "races": Races,
}


@pytest.mark.parametrize("name", REPORTS)
def test_every_report_is_a_frozen_value_with_text_html_and_json(traced, name):
    report = getattr(traced, name)()
    assert REPORTS[name].from_json(report.to_json()) == report
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.sites = ()
    bare = re.sub(r"<[^>]+>", " ", report._repr_html_())
    assert all(word in bare for word in report.headline().replace("<", "").split())
    assert report.headline() in repr(report)


def test_a_trace_goes_to_json_and_back_with_everything_but_single_requests(traced):
    again = Trace.from_json(traced.to_json())
    assert again == traced and repr(again) == repr(traced)
    assert again.per_line() == traced.per_line() and again.races() == traced.races()
    with pytest.raises(ValueError, match="read from JSON"):
        request_picture(again)
    with pytest.raises(dataclasses.FrozenInstanceError):
        again.kernel = "other"


def test_filters_name_what_is_there(traced):
    line = mixed.py_func.__code__.co_firstlineno + 4
    assert traced.coalescing(line=line).requests == traced.coalescing("x").requests == 4
    assert traced.coalescing(access="write").sites[0].array == "y"
    with pytest.raises(KeyError, match="no array 'z' in this trace; it has s, x, y"):
        traced.coalescing("z")
    with pytest.raises(ValueError, match='"read", "write" or "atomic"'):
        traced.banks(access="reads")


def test_counts_by_line_sum_to_the_whole(traced):
    lines = traced.per_line()
    assert sum(c.flops for c in lines) == traced.flops == 64
    assert sum(c.sectors for c in lines) == traced.coalescing().sectors
    assert sum(c.conflicts for c in lines) == traced.banks().conflicts == 4
    assert sum(c.divergent for c in lines) == traced.divergence().divergent == 4


def test_intensity_and_work(traced):
    assert traced.work().flops == 0.5 and traced.work().reads == 1
    assert traced.intensity().asked == 64 / (2 * 128 * 4)
    assert traced.intensity().moved == 64 / (32 * (4 * 8 + 4 * 4))


def test_pictures_have_alt_text_that_agrees_with_the_counts(traced):
    figures = [
        request_picture(traced, "x"),
        banks_picture(traced, "s", line=traced.first_line + 8),
        branch_picture(traced),
        source_picture(traced),
    ]
    assert all(figure.svg for figure in figures)
    request, banks, branches, source = (figure.alt for figure in figures)
    assert "32 active lanes" in request and "8 sectors of 32 bytes in 2 lines" in request
    assert "2 words to give" in banks
    assert "3 runs of code" in branches
    assert "8 sectors/request" in source and "2 of 4" not in source


def test_a_request_that_is_not_there_is_named(traced):
    with pytest.raises(ValueError, match="no request 4 of x in this trace"):
        request_picture(traced, "x", number=4)


def test_the_player_steps_with_its_slider_and_leaves_a_picture_on_static_pages(traced):
    p = player(traced)
    box = p.widget()
    slider, told, picture, *_ = box.children
    before = picture.value
    assert told.value.startswith(f"step 1 of {len(p.steps)}: warp 0 reaches line")
    slider.value = 1
    assert "32 lanes of warp 0 read x at line" in told.value and picture.value != before
    bundle = p._repr_mimebundle_()
    assert "<img" in bundle["text/html"] and "steps of mixed" in bundle["text/plain"]


def test_a_static_page_has_a_panel_for_each_array_and_way_of_access(traced):
    p = player(traced)
    still = p.multiples()
    titles = [axes.get_title(loc="left") for axes in still.figure.axes]
    kinds = {(s.array, s.access) for s in p.steps if s.array}
    assert len(kinds) == len(p.kinds()) == len([title for title in titles if title])
    assert all(f"{array}, line" in " ".join(titles) for array, _ in kinds)
    key = still.figure.get_supxlabel()
    assert "blue: read now" in key and "orange: written now" in key and "gray: earlier" in key
    assert still.alt.startswith(f"{len(kinds)} steps of mixed")


def test_the_player_tells_every_access_of_its_block(traced):
    steps = player(traced).steps
    writes = [s for s in steps if s.array == "y"]
    assert {c for s in writes for c in s.cells} == {(i,) for i in range(64)}
    assert {s.warp for s in steps} == {0, 1}


def test_importing_the_microscope_loads_no_heavy_library():
    import subprocess
    import sys

    program = (
        "import sys, warplens; "
        "print([m for m in ('torch', 'matplotlib', 'ipywidgets', 'numba') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
    assert warplens.__doc__
