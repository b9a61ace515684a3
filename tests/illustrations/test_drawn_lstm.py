"""Pictures of recurrence say what was counted and measured; the model has three regimes."""

import dataclasses

import numpy as np
import pytest

from gpulessons import units
from gpulessons.illustrations import lstm as draw
from gpulessons.measure.results import ModelledTiming, Timing
from gpulessons.ops.lstm_cell import lstm_cell

GPU = {"launches": 3, "launch": 1e-5, "bandwidth": 4e12, "peak": 3e13}


def timed(seconds, flops):
    fields = dict.fromkeys((field.name for field in dataclasses.fields(Timing)), 0)
    return Timing(**{**fields, "backend": "host", "samples": (seconds,), "flops": flops})


def test_the_cells_title_has_the_share_that_the_op_counts():
    inputs = lstm_cell.inputs(256)
    products = 2 * len(inputs[0]) * (inputs[3].size + inputs[4].size)
    share = products / lstm_cell.flops(*inputs)
    picture = draw.cell(32, 256, 256)
    assert repr(picture).startswith(f"One step: {share:.1%} of its operations")
    assert "u (4·256, 256)" in picture.alt


@pytest.mark.parametrize("steps, layers", [(1, 1), (5, 1), (5, 2), (100, 3)])
def test_a_wavefront_takes_a_tick_a_step_and_one_for_each_layer_above(steps, layers):
    assert max(draw.ticks(steps, layers).values()) + 1 == steps + layers - 1


def test_no_box_is_done_before_those_it_waits_for():
    done = draw.ticks(6, 3)
    for (step, layer), tick in done.items():
        assert tick > done.get((step - 1, layer), -1)
        assert tick > done.get((step, layer - 1), -1)


def test_the_chain_is_said_in_the_title_and_drawn_in_the_boxes():
    assert repr(draw.waiting(5)).startswith(
        "5 steps are 10 products: 5 wait for nothing, 5 stand in a row."
    )
    picture = draw.waiting(5, 2)
    assert "a chain of 10; side by side, of 6 ticks." in repr(picture)
    assert "tick 5" in [text.get_text() for text in picture.axes.texts]


def test_rungs_are_compared_by_the_step_and_what_is_missing_is_said_once():
    rows = [("slow", timed(64e-3, 4e6), 64), ("fast", timed(64e-4, 4e6), 64),
            ("one", "no GPU", 64), ("two", "no GPU", 64)]  # fmt: skip
    picture = draw.rungs(rows, limit=1e9)
    assert repr(picture).startswith("From “slow” to “fast”: 10× as fast, 6% of the product's ")
    assert "fast: 100 µs, 62% of the ceiling; one: not measured here" in repr(picture)
    assert picture.axes.get_xlabel().count("not measured here: no GPU") == 1
    assert repr(draw.rungs(rows[2:], limit=1e9)).startswith("0 rungs of 0 steady enough")


def test_a_rung_above_the_ceiling_is_explained():
    rows = [("slow", timed(64e-3, 4e6), 64), ("fast", timed(64e-4, 4e6), 64)]
    assert "more than 100%" in draw.rungs(rows, limit=5e8).axes.get_xlabel()
    assert "more than 100%" not in draw.rungs(rows, limit=1e9).axes.get_xlabel()


def test_a_modelled_rung_is_hatched_and_makes_no_claim():
    of = "latency", "launch", "machine code", 4_000_000, 8, 8e12, 3e11
    times = 64e-5, 32e-5, 128e-5
    paper = ModelledTiming("lstm_sequence", "CUDA", "gpu", 256, "T4", *times, *of)
    rows = [("slow", timed(64e-3, 4e6), 64), ("fast", timed(64e-4, 4e6), 64), ("GPU", paper, 64)]
    picture = draw.rungs(rows, limit=1e9)
    assert repr(picture).startswith("From “slow” to “fast”: 10× as fast")
    assert "GPU: ≈ 10 µs, modelled on T4" in repr(picture)
    *_, bar = picture.axes.patches
    assert bar.get_hatch() and bar.get_width() == pytest.approx(1e-5)
    assert sorted(picture.axes.lines[0].get_xdata()) == pytest.approx([5e-6, 2e-5])
    assert draw.rungs([*rows[:2], ("GPU", dataclasses.replace(paper, high=None), 64)],
                      limit=1e9).alt.endswith("GPU: at least 5 µs, modelled on T4.")  # fmt: skip


def test_a_rung_whose_samples_disagree_stands_in_no_headline():
    noisy = dataclasses.replace(timed(1e-6, 4e6), samples=(1e-6, 9e-6, 1e-6, 9e-6, 2e-6))
    assert noisy.noise == "too noisy"
    rows = [("slow", timed(64e-3, 4e6), 64), ("wild", noisy, 64), ("fast", timed(64e-4, 4e6), 64)]
    assert repr(draw.rungs(rows, limit=1e9)).startswith("From “slow” to “fast”")
    assert repr(draw.rungs(rows[:2], limit=1e9)).startswith("1 rung of 2 steady enough")
    assert "“slow” is the quickest rung: 6%" in repr(draw.rungs([rows[0], *rows[:1]], limit=1e9))


@pytest.mark.parametrize("steps", [1, 5, 6, 7, 128])
def test_the_way_back_keeps_what_the_op_keeps(steps):
    """z of four gates, and h and c before each step: the arrays of ops/lstm_backward.py."""
    kept = draw.kept_bytes(steps, 32, 256)
    z, h = np.empty((steps, 32, 4 * 256), np.float32), np.empty((steps, 32, 256), np.float32)
    assert kept == {"z": z.nbytes, "h": h.nbytes, "c": h.nbytes}
    picture = draw.through_time(steps)
    assert units.size(sum(kept.values())) in repr(picture) and "192 KiB" in repr(picture)
    said = [text.get_text() for text in picture.axes.texts]
    assert said.count(f"step {steps - 1}") == 2 and f"dz[{steps - 1}]" in said
    assert ("…" in said) == (steps > draw.DRAWN)


def test_gradients_go_the_other_way():
    arrows = [text for text in draw.through_time(3).axes.texts if not text.get_text()]
    flat = [(a.xyann, a.xy) for a in arrows if a.xyann[1] == a.xy[1]]
    assert all(start[0] < end[0] for start, end in flat if start[1] > 1)
    assert all(start[0] > end[0] for start, end in flat if start[1] < 1)
    assert len(flat) == 4


@pytest.mark.parametrize(
    "batch, hidden, longest",
    [(1, 256, "launches"), (1, 4096, "bytes"), (1024, 4096, "arithmetic")],
)
def test_each_regime_has_its_place(batch, hidden, longest):
    waits = draw.step_waits(batch, hidden, **GPU)
    assert max(waits, key=waits.get) == longest
    assert f"it waits for {longest}" in repr(draw.regimes([(1, 1e-4)], batch, hidden, **GPU))


def test_a_step_s_waits_are_its_launches_its_arrays_and_what_the_op_counts():
    """Of a cell whose input products are done before: neither x nor w nor b is touched."""
    x, h, c, w, u, _ = inputs = lstm_cell.inputs(64)
    waits = draw.step_waits(*h.shape, launches=3, launch=1e-5, bandwidth=1, peak=1)
    sums = 4 * h.nbytes
    assert waits["launches"] == pytest.approx(3e-5)
    assert waits["bytes"] == u.nbytes + sums + 2 * (h.nbytes + c.nbytes)
    assert waits["arithmetic"] == lstm_cell.flops(*inputs) - 2 * len(x) * w.size


def test_a_step_fetches_its_weights_once_whatever_the_batch():
    few, many = (draw.step_waits(batch, 1024, **GPU)["bytes"] for batch in (1, 2))
    assert many / few < 1.01
