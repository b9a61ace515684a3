"""The corners of a GPU's rooflines, by its data sheet."""

from gpulessons.illustrations.data_sheet import H200
from gpulessons.money.devices import PUBLISHED
from warplens.model.devices import GPUS


def test_the_corners_are_where_bytes_and_arithmetic_take_equally_long():
    assert {kind: round(at) for kind, at in H200.corners().items()} == {
        "float32": 14, "TF32": 103, "bfloat16": 206,
    }  # fmt: skip


def test_one_card_has_one_sheet_in_the_course():
    (priced,) = (device for device in PUBLISHED if device.name == "H200")
    assert (H200.peaks["float32"], H200.memory) == (priced.flop_rate, priced.bandwidth)
    assert H200.memory == GPUS["H200"].dram_rate
