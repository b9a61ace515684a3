"""Pictures of placements: the winner and the break-even that they name are those of the model."""

from dataclasses import replace

import pytest

from gpulessons import units
from gpulessons.illustrations import placement as draw
from gpulessons.models.hybrid import Run, Task
from gpulessons.models.placement import Step

STEP = Step(
    rows=1e6, width=10, per_example=5, examples=100, hot=0.5, cpu_bandwidth=1e9, cpu_flops=1e9,
    gpu_bandwidth=1e10, gpu_flops=1e11, gpu_memory=4 * 11 * 2e6, link_bandwidth=1e8,
    link_latency=1e-5, flops=1e4,
)  # fmt: skip


def test_the_title_names_the_link_from_which_the_hybrid_pays_and_a_line_marks_it():
    picture = draw.placements(STEP)
    told = picture.alt
    assert told.startswith("Modelled, 1,000,000 rows: the hybrid beats all CPU from a link of "
                           "8 MB/s on.")  # fmt: skip; 8,000 bytes in 1 ms
    assert "hybrid: 38 µs at 1 GB/s, 30.8 µs at 10 GB/s" in told
    assert "all CPU: 1.03 ms at 1 GB/s, 1.03 ms at 10 GB/s" in told
    slow = draw.placements(replace(STEP, flops=1e3, cpu_flops=1e11))
    dotted = [line for line in slow.axes.lines if line.get_linestyle() == ":"]
    assert f"of {units.rate(dotted[0].get_xdata()[0], 'B/s')} on" in slow.alt


def test_a_table_without_room_leaves_all_gpu_out():
    picture = draw.placements(replace(STEP, rows=3e6))
    assert picture.alt.startswith("Modelled, 3,000,000 rows: the hybrid beats")
    assert "all GPU: no room" in picture.alt and "room for 2,000,000 rows" in picture.alt
    assert any("all GPU: no room" in text.get_text() for text in picture.axes.texts)


def test_where_nobody_has_room_the_title_says_so():
    picture = draw.placements(replace(STEP, rows=3e9, cpu_memory=4 * 11 * 1e9))
    assert picture.alt.startswith("Modelled, 3,000,000,000 rows: neither the CPU nor the GPU has "
                                  "room. all CPU")  # fmt: skip
    assert "all CPU: no room; all GPU: no room; hybrid: no room." in picture.alt
    assert len([text for text in picture.axes.texts if "no room" in text.get_text()]) == 3
    told = draw.placements(replace(STEP, cpu_memory=4 * 11 * 5e5)).alt
    assert "the CPU has room for 500,000." in told


def test_a_link_that_answers_late_never_pays():
    assert "no link is fast enough" in draw.placements(replace(STEP, link_latency=1.0)).alt


def test_a_timetable_names_the_most_examples_per_second_and_says_what_computed():
    tasks = (Task("sparse", "gather", 0, 0, 1), Task("dense", "dense", 0, 1, 3),
             Task("sparse", "update", 0, 3, 4))  # fmt: skip
    slow = Run("hybrid", True, "two CPU threads; no GPU here", 8, tasks, (0.5,), 0.0, False)
    fast = replace(slow, examples=80)
    told = draw.timetable({"slow": slow, "fast": fast}).alt
    assert told.startswith("Examples per second: fast 20; slow 2.")
    assert told.count("two CPU threads; no GPU here") == 2
    assert "gather 1 s, dense 2 s, update 1 s" in told


@pytest.mark.parametrize("sends", [True, False])
def test_the_legend_names_the_stages_that_are_drawn(sends):
    tasks = (Task("sparse", "gather", 0, 0, 1), Task("dense", "dense", 0, 2, 3))
    tasks += (Task("dense", "send", 0, 1, 2),) * sends
    run = Run("hybrid", True, "two CPU threads", 8, tasks, (0.5,), 0.0, False)
    (legend,) = draw.timetable({"hybrid": run}).figure.legends
    named = [text.get_text() for text in legend.get_texts()]
    assert named == ["gather", "dense", *["send, fetch"] * sends]
