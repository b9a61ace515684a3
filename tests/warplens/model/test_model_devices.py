"""GPUs to model times for: each figure has its source, and one's own are checked by name."""

import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import pytest
from numba import cuda

from warplens.model import devices as home
from warplens.model.devices import DATA, FIGURES, GPUS, KINDS, devices, named, present, sheet
from warplens.model.modelling import modelled
from warplens.model.occupancy import LIMITS

A100 = GPUS["A100"]


def test_every_figure_of_every_gpu_has_a_source_and_can_be_one():
    for gpu in GPUS.values():
        fields = {each.name for each in dataclasses.fields(gpu)} - {"name", "sources"}
        assert fields == set(FIGURES), "a new field needs a label"
        there = {each for each in FIGURES if getattr(gpu, each) is not None}
        assert there == set(gpu.sources)
        for each in there:
            home.check_figure(gpu.name, each, getattr(gpu, each))
            assert gpu.sources[each].kind in KINDS and len(gpu.sources[each].citation) > 10
        assert gpu.base <= gpu.boost and gpu.capability in LIMITS
    assert {"T4", "RTX 3090", "A100", "H100", "H200"} <= set(devices())


def test_what_a_data_sheet_promises_is_what_lanes_and_clock_give():
    for name, gpu in GPUS.items():
        promised, unlike = sheet(name), 0.08 if name == "B200" else 0.01  # its databases disagree
        peak = gpu.multiprocessors * gpu.fp32_lanes * 2 * gpu.boost
        assert promised.memory == gpu.dram_rate and promised.watts and promised.capacity >= 6e9
        assert promised.peaks["float32"] == pytest.approx(peak, rel=unlike)
    assert set(DATA["sheets"]) <= {*GPUS, "K80 board"}
    corners = sheet("H200").corners()
    assert {kind: round(at) for kind, at in corners.items()} == {
        "float32": 14, "TF32": 103, "bfloat16": 206, "float8": 412,
    }  # fmt: skip


def test_a_gpu_of_ones_own_has_its_figures_as_yours_and_the_rest_assumed():
    mine = GPUS["RTX 3090"].but("my card", multiprocessors=46, boost=1.73e9, dram_rate=448e9)
    assert (mine.name, mine.multiprocessors, mine.boost) == ("my card", 46, 1.73e9)
    assert mine.l2_bytes == GPUS["RTX 3090"].l2_bytes
    kinds = {each: source.kind for each, source in mine.sources.items()}
    yours = {each for each, kind in kinds.items() if kind == "yours"}
    assert yours == {"multiprocessors", "boost", "dram_rate"}
    assert set(kinds.values()) == {"yours", "assumed"}
    again = mine.but("my other card", base=1e9)
    assert again.sources["boost"].kind == "yours"
    assert named(mine) is mine


WRONG = (
    ({"boost": math.nan}, "boost is a number above 0"),
    ({"dram_rate": "fast"}, "dram_rate is a number above 0"),
    ({"int_lanes": 0}, "int_lanes is a number above 0"),
    ({"dram_rates": 448e9}, "no 'dram_rates'. Its figures are"),
)


def test_every_architecture_is_compiled_for():
    alike = {gpu.capability: gpu for gpu in GPUS.values()}
    for gpu in alike.values():
        found = modelled(fill_kernel, on=gpu)[4, 64](np.zeros(256, np.float32))
        assert found.counted_from == "machine code" and found.gpu == gpu.name
    assert len(alike) == len(DATA["chips"]) == 8


@cuda.jit
def fill_kernel(out):
    out[cuda.grid(1)] = 1


def test_what_depends_on_a_given_figure_changes_with_it_unless_it_is_given_too():
    half = A100.but("half", multiprocessors=54, boost=A100.boost / 2)
    assert half.l2_rate == pytest.approx(A100.l2_rate / 4)
    assert half.base == A100.base / 2 and half.dram_latency == A100.dram_latency / 2
    assert "0.25 times the A100's, as its multiprocessors and boost" in half.sources["l2_rate"]
    assert A100.but("half", multiprocessors=54, l2_rate=1e12).l2_rate == 1e12


def test_a_name_is_known_without_its_maker_and_never_taken_for_another_card():
    for told in ("GeForce RTX 4090", "NVIDIA GeForce RTX 4090", "rtx4090", "4090"):
        assert named(told) is GPUS["RTX 4090"]
    assert named("A100 40 GB") is A100 and named("A100-80GB") is GPUS["A100 80 GB"]
    for other in ("RTX 4080 Ti", "A1000", "L4S", "RTX 309", "RTX 6000", "Ada"):
        with pytest.raises(ValueError, match=f"No GPU is called '{other}'. There are T4, RTX 2060"):
            named(other)


def test_wrong_figures_and_names_are_refused_by_name():
    for wrong, words in WRONG:
        with pytest.raises(ValueError, match=words):
            A100.but("my card", **wrong)
    for name in ("A100", None):
        with pytest.raises(ValueError, match="a name of its own"):
            A100.but(name)


def test_the_gpu_that_is_here_is_known_by_name_and_multiprocessors(monkeypatch):
    drivers = {("NVIDIA A100-SXM4-40GB", 108): "A100", ("Tesla T4", 40): "T4",
               ("NVIDIA A100-SXM4-80GB", 108): "A100 80 GB", ("NVIDIA A100-PCIE-40GB", 108): "A100",
               ("NVIDIA A100 80GB PCIe", 108): "A100 80 GB", ("NVIDIA H100 PCIe", 114): "H100 PCIe",
               ("NVIDIA H100 80GB HBM3", 132): "H100", ("NVIDIA H100 NVL", 132): None,
               ("NVIDIA GeForce RTX 3090 Ti", 84): "RTX 3090 Ti", ("NVIDIA A10G", 72): None,
               ("NVIDIA GeForce RTX 4060 Laptop GPU", 24): None, ("", 0): None}  # fmt: skip
    for told, name in drivers.items():
        monkeypatch.setattr(home, "gpu_name", lambda told=told: told)
        found = present() or SimpleNamespace(name=None)
        assert found.name == name
