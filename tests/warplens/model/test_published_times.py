"""Published times: each with its source, its kernel and its GPU; a model judged by them."""

from dataclasses import replace

import pytest

from gpulessons.illustrations.published_times import published_times
from warplens.code import sass
from warplens.code.linking import CannotCompile
from warplens.model.devices import GPUS
from warplens.model.published import (
    KERNELS,
    TIMES,
    Judged,
    by_machine_code,
    by_source,
    engine,
    judged,
    kendall,
)
from warplens.model.value import Modelled


def test_every_time_names_a_kernel_a_gpu_and_a_place_to_read_it():
    for one in TIMES:
        assert one.kernel in KERNELS and one.gpu in GPUS
        assert one.source.count("/") >= 1 and ", " in one.source and one.note
        assert 0 < one.within < 0.06
    assert len({(one.kernel, one.gpu) for one in TIMES}) == len(TIMES)
    assert {one.kernel for one in TIMES} == set(KERNELS)


@pytest.mark.parametrize(
    "kernel, gpu, milliseconds",
    [
        ("product, naive", "RTX A6000", 444.786),  # 2 · 4096³ FLOPs at 309.0 GFLOP/s
        ("product, vectorized, 16 deep", "RTX 6000 Ada", 3.280),  # at 41.9 TFLOP/s
        ("transpose, naive", "H100", 18.0645),
        ("copy, 16 bytes", "A100", 0.19270),  # 2²⁸ bytes at 1393 GB/s
        ("copy, 1 byte", "H100", 0.39768),  # at 675 GB/s
    ],
)
def test_a_figure_becomes_seconds(kernel, gpu, milliseconds):
    (one,) = (one for one in TIMES if (one.kernel, one.gpu) == (kernel, gpu))
    assert one.seconds * 1e3 == pytest.approx(milliseconds, rel=1e-4)


def test_no_kernel_was_timed_faster_than_its_gpu_can_compute_or_move():
    for one in TIMES:
        gpu, pair = GPUS[one.gpu], KERNELS[one.kernel]
        peak = 2 * gpu.multiprocessors * gpu.fp32_lanes * gpu.boost
        assert one.seconds > max(pair.flops / peak, pair.bytes / gpu.dram_rate)


def test_a_ladder_is_what_one_source_measured_on_one_gpu():
    ladders = {one.ladder for one in TIMES}
    assert ladders == {
        "siboehm/SGEMM_CUDA, RTX A6000",
        "yencal/gpu-gemm, A100",
        "yencal/gpu-gemm, RTX 6000 Ada",
        "yencal/gpu-matrix-transpose, H100",
        "yencal/gpu-bandwidth-benchmark, A100",
        "yencal/gpu-bandwidth-benchmark, H100",
    }


def off_by(factor, limiter="DRAM", low=0.8, high=1.25, at_least=False,
           counted="machine code"):  # fmt: skip
    """A model that knows the truth and answers `factor` times it."""
    true = {(one.kernel, one.gpu): one.seconds for one in TIMES}

    def model(pair, gpu):
        seconds = factor * true[pair.name, gpu.name]
        bounds = {"DRAM": seconds / 3, "issue": seconds / 4} | {limiter: seconds / 2}
        ends = low * seconds, None if at_least else high * seconds
        return Modelled(pair.name, gpu.name, seconds, *ends, bounds, 1.0, "warps", 1.0, counted)

    return model


def test_the_truth_itself_is_judged_to_be_perfect():
    found = judged(off_by(1))
    assert found.median_error == pytest.approx(0)
    assert found.within(0.01) == found.held == 1
    assert found.width == pytest.approx(1.25 / 0.8)
    assert not found.failures
    assert [one.tau for one in found.ladders] == [1] * 6
    assert sum(one.rungs for one in found.ladders) == len(TIMES)


def test_errors_are_shares_of_the_published_time_on_either_side():
    assert judged(off_by(1.3)).median_error == pytest.approx(0.3)
    assert judged(off_by(0.7)).median_error == pytest.approx(0.3)
    assert judged(off_by(1.3)).within(0.25) == 0
    assert judged(off_by(1.3)).within(0.35) == 1


def test_an_interval_fails_on_either_side_and_the_worst_is_named_first():
    assert judged(off_by(0.7)).held == 0  # up to 0.7 × 1.25, below 1
    assert judged(off_by(1.3)).held == 0  # from 1.3 × 0.8, above 1
    assert judged(off_by(1.2)).held == 1
    rows = judged(off_by(1)).rows
    quick = replace(
        rows[0], modelled=off_by(1 / 3)(KERNELS[rows[0].published.kernel], GPUS["RTX A6000"])
    )
    slow = replace(
        rows[1], modelled=off_by(2)(KERNELS[rows[1].published.kernel], GPUS["RTX A6000"])
    )
    assert Judged((slow, quick, rows[2])).failures == (quick, slow)


def test_at_least_has_a_lower_end_only():
    found = judged(off_by(0.3, at_least=True))
    *_, interval, ratio, holds, _ = found.table().rows[0]
    assert interval.endswith("– …") and ratio == "" and holds == "at least", "no time to be right"
    assert found.held == 1 and found.width is None
    assert judged(off_by(1.3, at_least=True)).held == 0
    assert "…" in repr(found)


def test_an_open_interval_is_not_counted_among_those_that_hold():
    def model(pair, gpu):
        scattered = pair.name == "transpose, naive"
        return (off_by(0.3, at_least=True) if scattered else off_by(1.1))(pair, gpu)

    closed = len(TIMES) - 1
    found = judged(model)
    told = f"of {closed} intervals with two ends {closed} hold the published time (in the median "
    assert f"{told}1.6× wide)" in found.message
    assert found.message.endswith("; 1 has no upper end.")
    picture = published_times(found)
    (arrow,) = (one for one in picture.axes.texts if getattr(one, "arrow_patch", None))
    assert arrow.xy[0] == 1 and arrow.xyann[0] == pytest.approx(0.3 * 0.8)
    assert picture.axes.get_xlim()[0] < arrow.xyann[0]


def test_what_comes_from_the_source_alone_says_so():
    assert "from the source alone" in judged(off_by(1, counted="source")).message


def test_without_a_disassembler_the_source_alone_is_judged(monkeypatch):
    def none_here():
        raise CannotCompile("no nvdisasm")

    engine.code_of.cache_clear()
    monkeypatch.setattr(sass, "disassembler", none_here)
    times = [one for one in TIMES if one.kernel == "copy, 4 bytes"]
    found = judged(times=times)
    assert found.counted_from == "source" and "from the source alone" in found.message
    assert found.median_error == judged(by_source, times).median_error
    with pytest.raises(CannotCompile):
        judged(by_machine_code, times)


def test_errors_are_told_for_each_limiter():
    def model(pair, gpu):
        return (off_by(1.5, "latency") if "naive" in pair.name else off_by(1.1))(pair, gpu)

    found = judged(model)
    assert {name: len(rows) for name, rows in found.by_limiter.items()} == {
        "DRAM": len(TIMES) - 2, "latency": 2,
    }  # fmt: skip
    assert "Limited by latency: 2, median error 50%." in repr(found)


def test_kendalls_tau_counts_pairs():
    assert kendall([1, 2, 3], [10, 20, 30]) == 1
    assert kendall([1, 2, 3], [30, 20, 10]) == -1
    assert kendall([1, 2, 3], [10, 30, 20]) == pytest.approx(1 / 3)
    assert kendall([1, 2, 3], [10, 20, 20]) == pytest.approx(2 / 3)
    assert kendall([2, 2], [1, 2]) is None


def test_pairs_that_the_figures_do_not_tell_apart_are_left_out():
    assert kendall([1.00, 1.05, 2], [11, 10, 20]) == pytest.approx(1 / 3)
    assert kendall([1.00, 1.05, 2], [11, 10, 20], [0.03] * 3) == 1
    assert kendall([1.00, 1.05], [11, 10], [0.01] * 2) == -1


def test_the_table_has_a_row_for_each_time_and_says_which_fail():
    def model(pair, gpu):
        return off_by(0.33 if pair.name == "transpose, naive" else 1.1)(pair, gpu)

    found = judged(model)
    assert f"Of {len(TIMES)} published times" in found.message
    assert f"of {len(TIMES)} intervals with two ends {len(TIMES) - 1} hold" in found.message
    assert "no upper end" not in found.message and "source" not in found.message
    (line,) = (line for line in repr(found).splitlines() if line.startswith("transpose, naive"))
    assert "0.33" in line and " no " in line
    assert found._repr_html_().count("<tr>") == len(TIMES) + 1


def test_nothing_to_judge_by_is_refused():
    with pytest.raises(ValueError, match="give at least one"):
        judged(off_by(1), times=())


def test_the_picture_crosses_what_fails_and_names_it():
    def model(pair, gpu):
        return off_by(0.33 if pair.name == "transpose, naive" else 1.1)(pair, gpu)

    found = judged(model)
    picture = published_times(found)
    marks = [line for line in picture.axes.lines if len(line.get_xdata()) == 1]
    crosses = [line for line in marks if line.get_marker() == "X"]
    assert len(marks) == len(TIMES)
    assert [float(line.get_xdata()[0]) for line in crosses] == [pytest.approx(0.33)]
    assert "The interval fails for: transpose, naive (H100) at 0.33." in picture.alt
    assert picture.axes.get_xscale() == "log"
    assert picture._repr_html_()


def test_the_picture_of_a_model_without_failures_says_so():
    assert "The interval fails for: none." in published_times(judged(off_by(1.1))).alt
