"""What pictures compute by themselves: small models, each held against its law or brute force."""

import ast
import importlib
import math
import re
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace as Of

import numpy as np
import pytest
from test_pictures import Card, compared, modelled, timed

from gpulessons.evidence import published
from gpulessons.plots import film
from warplens.model.devices import devices, named


def of(module):
    return importlib.import_module(f"gpulessons.illustrations.{module}")


@pytest.mark.parametrize(("guests", "cooks"), [(1, 1), (1, 4), (3, 4), (7, 4), (12, 5)])
def test_littles_law_holds_in_the_kitchen_and_no_order_waits_beside_an_idle_cook(guests, cooks):
    shift = of("kitchen").lunch(guests, cooks, 6)
    assert shift.in_kitchen == pytest.approx(shift.throughput / 60 * shift.latency)
    assert shift.in_kitchen == pytest.approx(guests)
    assert shift.throughput == pytest.approx(min(guests, cooks) * 10)
    for n, dish in enumerate(shift.dishes):
        if dish.started > dish.ordered:
            busy = [d for d in shift.dishes[:n] if d.started <= dish.ordered < d.done]
            assert len(busy) == cooks


def test_a_guest_has_one_order_at_a_time_and_a_cook_one_dish():
    shift = of("kitchen").lunch(7, 4, 6)
    for who, begin in (("guest", "ordered"), ("cook", "started")):
        for one in {getattr(dish, who) for dish in shift.dishes}:
            own = [dish for dish in shift.dishes if getattr(dish, who) == one]
            assert all(a.done <= getattr(b, begin) for a, b in pairwise(own))


def test_what_chains_get_done_stands_beside_as_many_times_one_of_them():
    picture = of("latency_hiding").by_law({"far": {1: 1e7, 8: 4e7}}, ("chains", str), ("rate", str),
                                          "One.")
    assert [*picture.figure.axes[0].lines[1].get_ydata()] == [1e7, 8e7]
    assert picture.alt == "One. far: 10000000.0 at 1, 40000000.0 at 8."


def test_littles_law_holds_on_the_scheduler_and_so_many_warps_are_enough():
    hiding = of("latency_hiding")
    for work, latency in ((1, 10), (4, 36), (8, 9)):
        for warps in (1, 3, hiding.enough(work, latency)):
            issued, loads, flying = hiding.steady(warps, work, latency)
            assert flying == pytest.approx(loads * latency)
        assert issued == 1
        assert hiding.steady(hiding.enough(work, latency) - 1 or 1, work, latency)[0] < 1.001


def test_a_ring_leaves_everyone_with_the_sums_after_two_rounds_less_two_steps():
    vectors = np.arange(16).reshape(4, 4)
    *_, last = moments = list(of("ring_all_reduce").moments(vectors))
    assert (last.values == vectors.sum(axis=0)).all() and len(moments) == 7
    with pytest.raises(ValueError, match="pieces"):
        next(of("ring_all_reduce").moments(np.ones((2, 3))))


def test_a_ring_is_shown_after_its_first_step_and_counts_from_the_start(monkeypatch):
    monkeypatch.setattr(film, "moving", lambda controls, *_: repr(controls))
    controls = ast.literal_eval(of("ring_all_reduce").Ring(np.eye(2)).page(""))
    assert controls == [("step", ["0 of 2", "1 of 2", "2 of 2"], 1)]


def test_the_online_sum_is_that_of_the_softmax():
    scores = [1.0, 5.0, 2.0, 7.0, 0.0]
    last = of("online_softmax").taken_in(scores, 2)[-1]
    assert last.total == pytest.approx(sum(math.exp(score - 7) for score in scores))


def test_a_grid_has_a_lane_for_each_thread_and_the_guard_sends_home_the_rest():
    grid = of("grid")
    for n, block in ((150, 64), (1, 32), (100, 48), (256, 256)):
        rows = grid.warps(n, block)
        assert sum(working for *_, working, _ in rows) == n
        assert sum(lanes for _, _, _, lanes, *_ in rows) == -(-n // block) * block
    assert "100 < 150" in grid.grid_picture(150, 64, 100).alt
    assert "160 ≥ 150" in grid.grid_picture(150, 64, 160).alt


def step_of(milliseconds, batch, hidden=2048):
    return Of(value=milliseconds / 1000, dtype="float32", citation="a card, 2020 (somebody)",
              device="V100", sizes={"hidden": hidden, "batch": batch, "steps": 10})


def test_a_step_of_an_lstm_waits_for_its_longer_bound_and_far_above_both_for_latency():
    lstm = of("lstm")
    far = lstm.bounds(16, 2048, "float32", "V100")["bytes"]
    near = lstm.bounds(16, 512, "float32", "V100")["bytes"]  # 4 MiB of u are in a cache of 6
    assert far == pytest.approx(4 * 4 * 2048**2 / 9e11)
    assert near == pytest.approx(4 * 4 * 512**2 / named("V100").l2_rate) and near < far / 40
    few, many, lone = step_of(1, 16), step_of(4, 128), step_of(0.2, 16, hidden=256)
    for rows, told in (
        ([many, few, lone], "256 units for latency; 2,048 units for bytes (16 to 16 examples), "
                            "then arithmetic (128 to 128 examples)."),
        ([few, step_of(40, 128)], "2,048 units for bytes (16 to 16 examples), then latency (128"),
        ([few, step_of(1, 16, 256)], "256 units for latency; 2,048 units for bytes."),
    ):
        alt = lstm.steps_published(rows).alt
        assert alt.startswith(f"What a step waits for: {told}") and "2020 (somebody)" in alt


def test_the_pictures_of_an_lstm_number_its_ticks_and_shapes():
    lstm = of("lstm")
    assert re.findall(r"tick (\d)", lstm.waiting().svg) == ["0", "1", "2", "3", "4"]
    assert "(32, 128)" in lstm.cell(32, 16, 128).svg
    drawn = lstm.chain({1: (4e-3, 1e-3), 8: (5e-3, 5e-3)}, 3e-3).alt
    assert drawn.startswith("Step by step takes 4× as long with 1 text, 1× with 8.")
    picture = lstm.fading({"bias 0": [1, 0.5, 2e-9], "bias 1": [1, 0.5, 0.25]})
    assert picture.alt.endswith("arrives at the farthest letter: bias 0: 2e-09; bias 1: 2e-01.")
    assert [*picture.axes.lines[0].get_xdata()] == [0, 1, 2]
    assert (picture.axes.get_xscale(), picture.axes.get_yscale()) == ("linear", "log")


def attending(speed, tokens, what, depth=64, unit="TFLOP/s"):
    sizes = {"queries": tokens, "keys": tokens, "depth": depth, "batch": 2, "heads": 3}
    return Of(value=speed, unit=unit, device="a card", what=f"{what} kernel", sizes=sizes,
              source=Of(name="somebody"), citation="a card, 2020 (somebody)")


def test_the_title_of_tiling_says_between_what_its_gain_lies_and_where_the_room_ends():
    attention = of("attention")
    speeds = {"Flash, one fused": {64: 3e12, 128: 1e12, 256: 1e12},
              "PyTorch, separate": {64: 1e12, 128: 2e12}}  # fmt: skip
    rows = [attending(speed, n, what) for what in speeds for n, speed in speeds[what].items()]
    assert attention.tiling(rows).alt.startswith(
        "Published: one kernel is 0.5× to 3× as fast as separate ones, which run out of ")
    assert "memory" not in attention.tiling([*rows, attending(1e12, 256, "PyTorch, separate")]).alt
    three, one = Of(seconds=3.0, low=2.0, high=6.0), Of(seconds=2.0, low=1.0, high=4.0)
    assert attention.tiling(rows, {64: (three, one), 128: (three, one)}).alt.startswith(
        "Ours, modelled: 1.5× to 1.5× (hatched: 0.5× to 6×). Published: one kernel is 0.5× to 3×")
    assert attention.pair(rows[0]) == 4 * 64 / 3e12
    assert attention.pair(attending(6e-3, 10, "one", unit="ms")) == 6e-3 / 600
    heads = [attending(speed, 64, what) for what, speed in (("one", 64e10), ("separate", 32e10))]
    drawn = attention.binding(heads, {64: {"trips": 4e-10, "products": 1e-10, "exps": 3e-10}}).alt
    assert drawn.startswith("a card, heads of 64: trips are 50% of the time of separate kernel; "
                            "products and exps are 100% of the time of one kernel.")


def test_the_tiles_in_the_drawings_are_those_of_the_kernels():
    from gpulessons.ops import matmul

    words = of("tiles").tile("2-D register tile").alt
    assert f"{matmul.BM} × {matmul.BN} results" in words
    assert "1/16 fetch" in (shared := of("tiles").tile("shared tile").alt) and 2 / 32 == 1 / 16
    assert "32 × 32 results" in shared  # of the page's own kernel
    assert "1/64 fetch" in words and 2 / matmul.BM == 1 / 64


def test_a_round_trip_each_moves_the_numbers_once_for_each_layer():
    transfers = of("transfers")
    each, stay = (transfers.steps(10**6, trips, "pinned") for trips in ([1] * 4, [4]))
    assert [sum(step.what == "transfers" for step in row) for row in (each, stay)] == [8, 2]
    assert each[-1].end - stay[-1].end == pytest.approx(
        3 * sum(4e6 / rate for rate in transfers.link("pinned")))
    assert max(transfers.link("pageable")) < min(transfers.link("pinned"))


def test_layers_whose_data_stay_pass_the_cpu_where_their_curve_does_or_not_at_all():
    rising = {memory: {n: first * n for n in range(1, 5)}
              for memory, first in {"pageable": 0.4, "pinned": 0.2}.items()}
    picture = of("transfers").by_layers(rising, {1: 0.5, 4: 3})
    assert "from layer 3 on (pageable), not before layer 5 (pinned)" in picture.alt
    flat = next(line for line in picture.axes.lines if set(line.get_ydata()) == {0.4})
    assert list(flat.get_xdata()) == [1, 4] and "your curve: 0.5× at 1, 3× at 4" in picture.alt
    assert "your curve" not in of("transfers").by_layers(rising, {}).alt


def test_a_speed_up_is_at_most_a_median_over_the_floor_of_a_card_and_says_both():
    rivals, t4 = of("rivals"), devices()["T4"]
    nbytes = t4.l2_bytes + 1e-3 * t4.dram_rate  # a millisecond, beyond what its cache holds
    cpu, loop = timed("NumPy", "host", 1, 0.04)[1], (2, 2.5, 3, 3.5, 4)
    picture = rivals.rivals(compared(cpu, modelled=(modelled("T4", 2e-3),)), nbytes, loop)
    for told in ("at most 40 times as fast as this CPU's best (40 ms / 1 ms) and 3,",
                 "T4: ≈ 2 ms, modelled", "T4: at least 1 ms, bounded"):
        assert told in picture.alt
    assert rivals.at_most(compared(cpu), nbytes)[1] > 39 and not rivals.at_most(compared(), 1)
    noisy = replace(cpu, samples=(0.01, 0.04, 0.2))  # late, which leaves "at most" true
    said = rivals.rivals(compared(noisy), nbytes, loop).alt
    assert "this CPU's best: 40 ms, live, too noisy" in said
    assert "CPU's best" not in rivals.rivals(compared(), nbytes, loop).alt


def test_a_reading_is_too_long_or_too_short_or_right():
    samples = of("samples")
    assert samples.off(0.004) == "250× too short" and samples.off(3) == "3× too long"
    assert samples.off(0.95) == samples.off(1.05) == "right within 10 %"


def test_the_roof_keeps_out_what_is_noisy_absent_or_warm():
    shares = of("roof_shares")
    fast = timed("fast", "host", 1, 8e-5, op="total")[1]  # 10 GB/s of 100
    noisy = timed("fast", "host", 1, 1, op="relu", samples=(1e-5, 8e-5, 9e-4))[1]
    warm = timed("fast", "host", 1, 8e-5, op="copy", cold=False)[1]
    runs = [compared(one, op=one.op) for one in (fast, noisy, warm)]
    kept, left = shares.sorted_out(runs, Card())
    assert [t.op for t in kept] == ["total"]
    assert any("relu" in why for why in left) and any("copy" in why for why in left)


def test_rungs_stand_at_their_share_of_their_own_library():
    ladder = of("matmul_ladder")
    cublas, plain = timed("PyTorch on GPU", "torch_gpu", 1.0), timed("CUDA, coalesced", "gpu", 4.0)
    here = compared(*cublas, *plain, op="matmul", unit="rows")
    assert ladder.shares_here(here) == {"coalesced": 1 / 4} and ladder.shares_here(None) == {}
    assert "25% here" in ladder.rungs({}, here).alt
    assert [ladder.fraction(load) for load in (2, 1 / 8, 9 / 8, 0.3)] == ["2", "1/8", "9/8", "0.3"]


def test_every_rung_is_published_on_one_card_and_modelled_as_it_was_published():
    ladder = of("matmul_ladder")
    shares = ladder.of_cublas(ladder.published_on())
    assert list(shares) == list(ladder.RUNGS)
    assert shares["coalesced"] == pytest.approx(1_986.5 / 23_249.6) and shares["cuBLAS"] == 1
    for rung, said in ladder.levels().items():
        assert said.low < 2 * 4_096**3 / ladder.published_on()[rung].value < said.high, rung
    picture = ladder.rungs({"coalesced": 0.08})
    drawn = {float(x) for line in picture.axes.lines for x in line.get_xdata()}
    assert {shares["coalesced"], 4.77 / 8.92, 0.08} <= drawn
    assert "gpu-gemm" in picture.alt and "its loads allow 8%" in picture.alt


def test_batches_on_cards_are_drawn_beside_a_bound_and_named_with_where_they_grow():
    dense, rows = of("dense"), published("dense", device=("T4", "V100", "Xeon Phi 7250F"))
    picture = dense.on_cards(rows, {"float16": lambda batch: batch * 1e-6})
    drawn = {float(y) for line in picture.axes.lines for y in line.get_ydata()}
    assert {0.301e-3, 0.146e-3, 16e-6} <= drawn
    assert "128 examples take 1.2 to 3.7 times as long as 16" in picture.alt
    for told in ("V100, float32, from 64:", "V100, float16, from 128:", "7250F, float32, from 32:"):
        assert told in picture.alt
    assert dense.grows({1: 3.0, 2: 2.0, 4: 2.4, 8: 2.6}) == 8  # against the least before it


def test_which_way_a_library_took_is_counted_for_each_kind_of_numbers():
    conv, rows = of("conv2d"), published("conv2d", device="V100")
    alt = conv.taken(rows, {"float32": 15.7e12, "float16": 125e12}).alt
    assert "implicit GEMM in 6 of 6 layers in float16, Winograd in 5 of 6 layers in float32" in alt
    assert "112 pixels: float32 151% by Winograd, float16 64% by implicit GEMM" in alt
    (row,) = published("conv2d", device="V100", dtype="float32", width=112)
    assert conv.operations(row) == 2 * 9 * 64 * 128 * 112**2 * 8


def test_a_tile_and_columns_are_told_apart_each_by_its_own_two_ratios():
    read = dict(zip("abcd", [(n, "") for n in (4, 6, 0.04, 0.12)], strict=True))
    alt = of("conv2d").tile_or_columns(read, "").alt
    assert "by 100 and 50; columns multiply it by 1.5 and 3." in alt


def test_what_warps_read_is_the_published_curve_beside_the_law_and_ones_own():
    alt = of("microbenchmarks").by_warps("A100", {2: 100, 64: 1_000}).alt
    assert "for 23 warps" in alt and "1,042 GB/s at 32" in alt
    assert "your curve: 100 GB/s at 2, 1,000 GB/s at 64" in alt


def test_the_longest_bound_so_far_is_told_and_no_later_one():
    alt = of("published_times").climbed({"a": 1e-3, "b": 3e-3}).alt
    assert alt == "So far at least 3 ms: b. a: 1 ms; b: 3 ms."


def test_a_form_says_what_it_draws():
    from gpulessons.plots import forms

    shares = 0, 0.00034, 0.05, 0.25, 0.996, 0.9999, 1
    assert [*map(forms.percent, shares)] == ["0%", "0.034%", "5%", "25%", "99.6%", "99.9%", "100%"]
    named = [("a", [1, 2], [3, 4], {"marker": "o"}), ("model", [1, 2], [5, 6], {})]
    alt = forms.log_lines(named, ("x", str), ("y", "{} s".format), title="A title.").alt
    assert alt == "A title. a: 3 s at 1, 4 s at 2."
    rows = {"a day": {"Ann": [(0, 2, "red", "")], "Bob": [(1, 3, "red", 7)]}}
    _, axes = forms.timetables(rows, "hours", title="A title.")
    spans = [(bar.get_x(), bar.get_width(), round(bar.get_y() + 0.4)) for bar in axes.patches]
    assert spans == [(0, 2, 0), (1, 3, 1)]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["Ann", "Bob"]
