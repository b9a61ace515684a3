"""GPUs to model times for: each figure has its source, and a learner's own are checked by name."""

import dataclasses
import math

import pytest

import gpulessons
from gpulessons import devices
from gpulessons.money.devices import PUBLISHED
from warplens.model.devices import FIGURES, GPUS, KINDS, Source, named
from warplens.model.occupancy import LIMITS

A100 = devices()["A100"]
WHOLE = [each for each, figure in FIGURES.items() if figure.whole]
NUMBERS = [each for each in FIGURES if each not in ("capability", "sustained")]


@pytest.mark.parametrize("name", GPUS)
def test_every_figure_of_every_gpu_has_a_source(name):
    gpu = devices()[name]
    fields = {each.name for each in dataclasses.fields(gpu)} - {"name", "sources"}
    assert fields == set(FIGURES), "a new field needs words, and so a source"
    assert set(gpu.sources) == set(gpu.figures())
    for source in gpu.sources.values():
        assert source.kind in KINDS and len(source.citation) > 10
    assert not {source.kind for source in gpu.sources.values()} & {"yours", "driver", "fitted"}


@pytest.mark.parametrize("figure", NUMBERS)
def test_a_gpu_with_a_figure_of_no_source_cannot_be_made(figure):
    without = {each: source for each, source in A100.sources.items() if each != figure}
    with pytest.raises(ValueError, match=f"A100: {figure} has no source"):
        dataclasses.replace(A100, sources=without)
    with pytest.raises(ValueError, match=f"A100: {figure} has no source"):
        dataclasses.replace(A100, sources={**without, figure: Source("hearsay", "a friend")})


def test_a_clock_under_load_needs_a_source_only_where_there_is_one():
    assert A100.sustained is None and "sustained" not in A100.sources
    with pytest.raises(ValueError, match="A100: sustained has no source"):
        dataclasses.replace(A100, sustained=1.2e9)


def test_what_the_data_sheets_give_agrees_with_the_published_devices():
    published = {device.name: device for device in PUBLISHED}
    for name, here in (("T4", "T4"), ("A100 40 GB", "A100"), ("H200", "H200")):
        gpu, there = devices()[here], published[name]
        assert gpu.dram_rate == there.bandwidth
        peak = gpu.multiprocessors * gpu.fp32_lanes * 2 * gpu.boost
        assert math.isclose(peak, there.flop_rate, rel_tol=0.01)


def test_the_free_one_a_consumer_card_and_data_center_cards_are_there():
    assert {"T4", "RTX 3090", "A100", "H100", "H200"} <= set(devices())
    assert len(devices()) == len(GPUS) and "A100" in devices() and "Z80" not in devices()
    assert {gpu.capability for gpu in GPUS.values()} <= set(LIMITS)


def test_the_table_shows_each_figure_with_its_source():
    shown = repr(devices())
    table = devices().table()
    assert table.head == ["", *GPUS]
    notes = dict(note.split(" ", 1) for note in table.notes)
    for figure, row in zip(FIGURES, table.rows, strict=True):
        for gpu, cell in zip(GPUS.values(), row[1:], strict=True):
            if getattr(gpu, figure) is None:
                assert cell == "–"
                continue
            value, _, number = cell.rpartition(" ")
            kind, citation = gpu.sources[figure]
            assert value == gpu.told(figure) and notes[number] == f"{kind}: {citation}"
            assert cell in shown
    assert "1,555 GB/s" in shown and "1.695 GHz" in shown and "40 MiB" in shown
    assert "<table>" in devices()._repr_html_() and "te42kyfo/gpu-benches" in shown


def test_one_gpu_shows_its_sources_in_words():
    assert "574 clocks   latency of DRAM   " in repr(A100)
    assert "cuda-latency/a100_40.txt" in repr(A100)
    assert "<caption>A100: each figure and its source" in A100._repr_html_()


def test_a_card_of_one_s_own_has_its_figures_as_yours_and_the_rest_assumed():
    mine = devices()["RTX 3090"].but("my card", multiprocessors=46, boost=1.73e9, dram_rate=448e9)
    assert (mine.name, mine.multiprocessors, mine.boost, mine.dram_rate) == ("my card", 46, 1.73e9,
                                                                             448e9)  # fmt: skip
    assert mine.l2_bytes == devices()["RTX 3090"].l2_bytes
    yours = {each for each, source in mine.sources.items() if source.kind == "yours"}
    assert yours == {"multiprocessors", "boost", "dram_rate"}
    rest = {source.kind for each, source in mine.sources.items() if each not in yours}
    assert rest == {"assumed"}
    assert "as on the RTX 3090 (data sheet: " in mine.sources["l2_bytes"].citation
    again = mine.but("my other card", base=1e9)
    assert again.sources["boost"].kind == again.sources["base"].kind == "yours"
    assert again.sources["l2_bytes"] == mine.sources["l2_bytes"]
    assert named(mine) is mine and hash(mine) != hash(again)


@pytest.mark.parametrize("figure", NUMBERS)
@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, "fast", None, True, 1j, [1]])
def test_what_is_no_number_above_0_is_refused_by_name(figure, value):
    with pytest.raises(ValueError, match=rf"my card: {figure} is a number above 0 \(.*\), not "):
        A100.but("my card", **{figure: value})


@pytest.mark.parametrize("figure", WHOLE)
def test_half_a_multiprocessor_is_refused(figure):
    with pytest.raises(ValueError, match=f"my card: {figure} is a whole number .*, not 46.5"):
        A100.but("my card", **{figure: 46.5})


@pytest.mark.parametrize("wrong, words", [
    ({"dram_share": 1.2}, "dram_share is at most 1"),
    ({"fp32_share": 89}, "fp32_share is at most 1"),
    ({"base": 2e9}, "base is above boost, 2 GHz above 1.41 GHz: give both"),
    ({"boost": 1e9}, "base is above boost"),
    ({"sustained": 3e9}, "sustained is above boost"),
    ({"sustained": 0}, "sustained is a number above 0"),
    ({"capability": 8.6}, r"capability is two whole numbers, as \(8, 6\), not 8.6"),
    ({"capability": (8, -6)}, "capability is two whole numbers"),
    ({"dram_rates": 448e9}, "no 'dram_rates'. Did you mean 'dram_rate'"),
    ({"sources": {}}, "no 'sources'"),
])  # fmt: skip
def test_other_wrong_figures_are_refused_by_name(wrong, words):
    with pytest.raises(ValueError, match=words):
        A100.but("my card", **wrong)


@pytest.mark.parametrize("name, words", [
    ("A100", "give yours a name"), ("", "has a name"), (None, "has a name"), (["x"], "has a name"),
])  # fmt: skip
def test_a_card_of_one_s_own_has_a_name_of_its_own(name, words):
    with pytest.raises(ValueError, match=words):
        A100.but(name)


@pytest.mark.parametrize("name", ["RTX 309", ["A100"], None])
def test_an_unknown_gpu_is_refused_with_the_names_there_are(name):
    with pytest.raises(ValueError, match="There are T4, A100"):
        devices()[name]
    with pytest.raises(ValueError, match="Did you mean 'RTX 3090'"):
        named("RTX 309")


def test_devices_and_occupancy_are_public():
    assert gpulessons.devices is devices
    assert gpulessons.occupancy(threads=32).blocks == 32
