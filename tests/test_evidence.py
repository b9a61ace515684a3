"""Published figures: each has a source, and a mistyped one breaks a relation between several."""

import math
import tomllib
from datetime import date
from difflib import get_close_matches
from itertools import pairwise
from math import prod

import pytest

from gpulessons.evidence import COLUMNS, HERE, TELLING, figures, figures_in, published, subjects
from gpulessons.plots.published import open_lines
from warplens.model.devices import devices
from warplens.model.published import TIMES
from warplens.model.value import LAUNCH, LAUNCH_RANGE

ROWS = figures()
OTHER_DEVICES = {
    "P100", "M40", "K20X", "GH200", "A100 40 GB", "A100 SXM", "A100 PCIe", "K80", "Ryzen 9 7950X",
    "Ryzen 7 7840HS", "Core i7-6700K", "GTX 580", "GTX 280", "Core i7-920",
    "H100 NVL", "Titan X", "Titan X Pascal", "GTX 1080", "GTX 1080 Ti",
    "Titan Xp", "MI25", "Vega FE", "MI350 series",
    "Blackwell", "GB200", "GB300", "MI250X", "MI300X", "MI355X", "TPU v1", "Xeon Phi 7250F",
    "RTX PRO 6000", "2 × Xeon E5-2630 v3", "a multicore CPU", "a CPU of 44 cores", "HGX server",
    "H800", "PC", "",
}  # fmt: skip

def values(subject, **where):
    return [row.value for row in published(subject, **where)]


def test_every_figure_has_a_source_that_says_who_when_and_where_it_was_read():
    for row in ROWS:
        source, year = row.source, row.source.measured[:4]
        assert all((source.title, source.address, source.licence, date.fromisoformat(source.read)))
        assert "2000" < year <= source.read if year else source.note == "No date is stated.", row
        assert f"{year} ({source.title})" in row.citation


def test_every_run_of_a_source_is_that_of_some_row():
    told = [{**vars(row.source), **{key: getattr(row, key) for key in TELLING}} for row in ROWS]
    for name, table in tomllib.loads((HERE / "sources.toml").read_text(encoding="utf-8")).items():
        for run in table.get("runs", []):
            assert any({"name": name, **run}.items() <= row.items() for row in told), run


def test_devices_dtypes_and_subjects_are_known_and_no_figure_stands_twice():
    assert {row.device for row in ROWS} - {*devices()} == OTHER_DEVICES
    assert {row.dtype for row in ROWS} == {
        "float64", "float32", "float16", "bfloat16", "float8", "float4", "int64", "int8", "int4",
        "uint8", "",
    }  # fmt: skip
    assert all(get_close_matches(name, subjects(), cutoff=0.85) == [name] for name in subjects())
    assert not {size for row in ROWS for size in row.sizes} & {*COLUMNS, "source"}
    told = [(row.source.name, row.where, row.what, row.size, row.device) for row in ROWS]
    assert len(told) == len(set(told))


def test_a_figure_has_its_value_in_si_units_its_sizes_and_a_citation():
    (row,) = published("dense", device="V100", dtype="float16", batch=16, source="deepbench")
    assert row.unit == "ms" and row.value == pytest.approx(float(row.figure) / 1000)
    assert row.sizes == {"batch": 16, "inputs": 4096, "outputs": 4096}
    assert row.citation == "V100, CUDA 10.1.243, cuDNN 7.6.2, 2019 (DeepBench)"
    assert published("all-reduce", device="P100")[0].citation == "P100, NCCL 2.0, 2017 (DeepBench)"


def test_what_is_not_there_is_answered_with_what_is():
    with pytest.raises(LookupError, match=r"Nothing is published of 'denes'.*dense \(\d+\), lstm"):
        published("denes")
    with pytest.raises(LookupError, match=r"dense has no device 'V10'\. There is: V100, T4, P100"):
        published("dense", device="V10")
    with pytest.raises(LookupError, match=r"dense has no batches 16\. .*batch, inputs, outputs"):
        published("dense", batches=16)


def test_figures_show_what_sets_them_apart_under_what_they_share():
    shown = repr(published("dense", device=("V100", "T4"), dtype="float32", batch=(16, 7000)))
    title, head, *rows, source = shown.splitlines()
    assert title == "Published: dense, cuBLAS, float32, inputs 4,096, outputs 4,096"
    assert head.split() == ["on", "batch", "published"]
    assert [row.split() for row in rows] == [
        ["V100", "16", "0.11", "ms"], ["V100", "7,000", "15.894", "ms"],
        ["T4", "16", "0.301", "ms"], ["T4", "7,000", "56.537", "ms"],
    ]  # fmt: skip
    assert source == ("DeepBench, github.com/baidu-research/DeepBench, 2019-10-07, "
                      "CUDA 10.1.243, cuDNN 7.6.2, V100, T4")  # fmt: skip


def test_figures_as_lines_are_in_order_and_their_marks_are_open():
    rows = published("dense", device=("V100", "T4"), dtype="float32")
    (volta, batches, seconds, look), (turing, *_) = open_lines(tuple(reversed(rows)), "batch")
    assert {volta, turing} == {"V100 (published)", "T4 (published)"}
    assert batches == sorted(batches) and look["markerfacecolor"] == "none"
    assert seconds[0] < seconds[-1]


GOOD = "copy,a kernel,bytes=64,V100,float32,1.5,ms,page 3,"
SOURCE = '[own]\ntitle="t"\naddress="a"\nlicence="l"\nmeasured="2020"\nread="2026-11-23"\n'


@pytest.mark.parametrize(
    "good, bad, said",
    [
        ("1.5", "1,5", "a row has 9 cells"), ("3,", "3", "a row has 9 cells"),
        ("1.5", "about 2", "could not convert"), ("1.5", "nan", "nan is no figure"),
        ("1.5", "-1.5", "-1.5 is no figure"), (",ms", ",msec", "the unit 'msec' is none of s, "),
        ("=64", "", "could not"), ("copy", "", "a figure needs"), ("page 3", "", "a figure needs"),
    ],
)  # fmt: skip
def test_a_bad_row_is_refused_with_its_place(tmp_path, good, bad, said):
    (tmp_path / "sources.toml").write_text(SOURCE)
    with pytest.raises(ValueError, match="each source has a table and a file: own"):
        figures_in(tmp_path)
    file = tmp_path / "own.csv"
    file.write_text(f"what,subject\n{GOOD}\n")
    with pytest.raises(ValueError, match=r"own\.csv:1: the columns are subject,what,"):
        figures_in(tmp_path)
    file.write_text(f"{','.join(COLUMNS)}\n{GOOD}\n")
    assert figures_in(tmp_path)[0].value == 1.5e-3
    file.write_text(f"{','.join(COLUMNS)}\n{GOOD}\n{GOOD.replace(good, bad)}\n")
    with pytest.raises(ValueError) as refused:
        figures_in(tmp_path)
    assert str(refused.value).startswith(f"own.csv:3: {said}")


@pytest.mark.parametrize(("subject", "figure", "ends"), [
    ("gain", "98", (-math.inf, 98)), ("gain", "8.16", (8.16, 8.16)),
    ("text classification", "10", (-math.inf, 600)),
    ("interruptions", "60", (60 * 86400, math.inf)),
    ("hashing", "16.4", (16.4, math.inf)), ("hashing", "16.2", (16.2, 16.2)),
    ("all-reduce", "480", (4.8e11, 4.8e11)),
])  # fmt: skip
def test_a_figure_that_is_at_most_so_much_or_at_least_has_one_end(subject, figure, ends):
    (row,) = [each for each in published(subject) if each.figure == figure]
    assert row.ends == pytest.approx(ends)


def test_neighbours_in_a_series_are_not_ten_times_apart():
    def series(row):
        what = row.what.partition(",")[0] if row.subject == "conv2d" else row.what
        return row.subject, what, row.device, row.dtype, row.source.name, row.unit

    smooth = [row for row in ROWS if row.subject not in ("strides", "concurrency")
              and "and back" not in row.what]
    for one, two in pairwise(sorted(smooth, key=series)):
        if series(one) == series(two):
            steps = [two.sizes.get(name, number) / number for name, number in one.sizes.items()]
            most = max(5, 2 * prod(max(step, 1 / step) for step in steps))
            assert 1 / most < two.value / one.value < most, (one, two)


def test_a_rings_formula_holds_for_much_data_and_fails_for_little():
    def spread(card, floats):
        rows = published("all-reduce", device=card, floats=floats)
        rates = [(1 - 1 / row.sizes["cards"]) / row.value for row in rows]
        return max(rates) / min(rates)

    for card in ("Titan X", "P100", "M40"):
        assert spread(card, 64_500_000) < 1.04 and spread(card, 100_000) > 1.2
    switch, ring = values("all-reduce", device="H200", bytes=2**34)
    assert ring < 450e9 < switch, "a switch that adds up moves less than a ring does"


def test_dense_layers_wait_for_weights_before_they_wait_for_sums():
    for card in ("V100", "Titan X", "M40", "Titan X Pascal"):
        few, twice, *_, many = values("dense", device=card, dtype="float32")
        assert twice == pytest.approx(few, rel=0.02) and many > 20 * few
    for card in ("P100", "GTX 1080 Ti", "Titan Xp"):
        few, twice, *_ = values("dense", device=card, dtype="float32")
        assert few > 2 * twice
    for card in ("MI25", "Vega FE", "MI350 series"):
        assert values("dense", device=card) == sorted(values("dense", device=card))


def test_a_winograd_convolution_seems_to_do_more_than_any_product():
    (conv,) = published("conv2d", device="V100", dtype="float32", width=112)
    (dense,) = values("dense", device="V100", dtype="float32", batch=7000)
    counted = 9 * 64 * 128 * 112**2 * 8
    assert "WINOGRAD" in conv.what and counted / conv.value > 1.5 * 4096**2 * 7000 / dense


def test_products_are_the_shares_that_stand_beside_them():
    library = {row.device: row for row in published("matmul", source="learn_cuda", what="cuBLAS")}
    for row in published("matmul", source="learn_cuda"):
        share, _, of = row.note.partition(" % of ")
        if of == "cuBLAS":
            over = library[row.device].value / row.value
            assert over == pytest.approx(float(share) / 100, abs=1e-4)
        elif of:
            peak = 1e12 * float(of.split()[0])
            assert row.value / peak == pytest.approx(float(share) / 100, abs=1e-4)


def test_launches_loads_and_latencies():
    for card in ("H200", "A40", "L40"):
        in_a_row, graph = (values("launch", device=card, block=256, what=f"scale, {way}")
                           for way in ("in a stream", "a CUDA graph"))  # fmt: skip
        assert all(one < two for one, two in zip(in_a_row[:5], graph[:5], strict=True))
    first = published("launch", what="scale, in a stream", elements=4096, block=256)
    alone = [row.sizes["bytes"] / row.value for row in first]
    assert LAUNCH < min(alone) < max(alone) < LAUNCH_RANGE[1]  # with the kernel itself
    for stride in (1, 2, 3, 4, 6, 8, 12, 15, 16, 32):
        clocks, *counted = values("strides", device="A100", dtype="float32", stride=stride)
        assert clocks == pytest.approx(max(counted), rel=0.03)
        a40 = values("strides", device="A40", dtype="float32", stride=stride)
        assert a40 == pytest.approx([max(2, clocks)], rel=0.03)
    for card in ("V100", "A100", "H100 PCIe", "L40"):
        l1, l2, memory = values("latency", device=card)
        assert 5 * l1 < l2 < memory


def test_how_many_times_faster_one_was_and_figures_of_one_thing_agree():
    whole, loop = "forward and backward", "PyTorch, a loop over experts: forward"
    eager, fused = "attention of one token, Eager", "Triton: forward"
    for subject, slow, fast, times, where in (
        ("conv2d", "Caffe, im2col: forward", "fbfft, FFT: forward", 5, {"width": 64}),
        ("conv2d", "Caffe, im2col: forward", "fbfft, FFT: forward", 3, {"kernel": 3, "width": 13}),
        ("networks", f"VGG-16, Torch: {whole}", f"VGG-16, Torch, cuDNN 5.1.05: {whole}", 66, {}),
        ("rms_norm", "PyTorch, an op at a time: forward", fused, 10.75, {"columns": 8192}),
        ("mixture of experts", loop, "Triton, experts grouped: forward", 51, {"tokens": 128}),
        ("layer_norm", "Triton: backward", "PyTorch: backward", 2, {"columns": 1024}),
        ("histogram", "Global Atomic", "Shared Atomic", 180, {}),
        ("attention", "06_batched", "FlashAttention-2", 0.92, {"queries": 8192}),
        ("attention", "FlashAttention-3, one fused kernel", "PyTorch, separate kernels", 6.8,
         {"queries": 8192, "depth": 64, "device": "H100"}),
        ("optimizer step", "AdamW, a tensor at a time", "AdamW, fused", 1.84, {"device": "A100"}),
        ("decoding", eager, eager.replace("Eager", "torch.compile"), 2.1, {"device": "H200"}),
    ):
        one, other = (values(subject, what=what, **where)[0] for what in (slow, fast))
        assert one / other == pytest.approx(times, rel=0.05), (subject, where)
    for card, gain in (("H100", 0.0069), ("H200", 0.0459)):  # printed beside the two
        graph, one = values("decoding", source="megakernels", device=card)
        assert graph / one - 1 == pytest.approx(gain, abs=5e-5), card
    again = {row.figure for row in TIMES if row.source.startswith("siboehm/SGEMM_CUDA")}
    assert again and again <= {f"{r.figure} {r.unit}" for r in published("matmul", n=4096)}
    whole, efficiency, one = values("model parallel")
    assert whole == pytest.approx(512 * efficiency * one, rel=0.01)


def test_users_their_speed_and_a_cards_tokens_agree_and_a_gain_is_the_product_of_its_parts():
    for row in published("served at a speed", what="tokens of MiniMax-M2.5, read and written"):
        size = row.sizes  # nine tokens are read and written for each that is written
        most = size["concurrency"] * size["speed"] * 9 / size["cards"]
        assert row.value < most and (row.value > 0.9 * most or size["concurrency"] > 64), row
    for speed in (22, 110):
        whole, *parts = (row.value for row in published("gain", source="inferencex", speed=speed))
        assert prod(parts) == pytest.approx(whole, rel=0.004)


def test_printed_gains_are_the_quotients_of_what_stands_beside_them():
    gains = {what: published("gain", what=f"GB300 over H200, by the {what}")[0].value
             for what in ("GPU", "dollar")}  # fmt: skip
    old, new = (row.value for row in published("cost of an hour"))
    assert gains["GPU"] * old / new == pytest.approx(gains["dollar"], rel=0.02)
    r1 = {(row.device, row.sizes["speed"]): row.value
          for row in published("served at a speed", what="tokens of DeepSeek-R1, 8 bits")}
    for speed, more in ((42, 16.99), (71, 12.9), (100, 20.39)):  # printed as "1699% more"
        assert r1["B200", speed] / r1["H100", speed] == pytest.approx(1 + more, rel=0.003)


def test_what_pages_15_and_16_say_of_rows_in_words_is_so():
    (rack,), (server,) = (published(subject, device=card) for subject, card in (
        ("owning", "GB200"), ("cost of an hour", "H200")))  # fmt: skip
    assert rack.value / server.value == pytest.approx(1.57, abs=0.005)
    steps = {row.device: row.value for row in published("step of a request", source="inferencex")}
    assert [round(1 / steps[card]) for card in ("H200", "GB200")] == [9, 27]
    short, long = (published("concurrency", what="Llama 3.3 70B: time to first token",
                             prompt=prompt, concurrency=1)[0].value for prompt in (5000, 20000))
    assert long / (4 * short) == pytest.approx(1.1, abs=0.05)
