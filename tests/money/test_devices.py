"""Devices: what can be typed in, what is read off a machine, what is published, and no price."""

from dataclasses import replace

import numpy as np
import pytest

from gpulessons.hardware import Machine
from gpulessons.money.devices import (
    NUMBERS,
    PUBLISHED,
    Device,
    load,
    of_machine,
    save,
    with_prices,
)

PRICES = {"price", "gpu_price", "price_per_hour"}
MACHINE = Machine(
    cpu="A CPU", cores=4, cores_total=8, simd="SIMD", simd_bits=256, caches={"L3": 2**20},
    memory=2**30, gpu=None, gpus=0, accelerator=None, system="", python="", libraries={},
    date="2001-02-03T04:05:06", commit=None,
    ceilings={"host float32": 1e11, "host copy": 2e10, "host triad": 3e10, "gpu float32": 1e13,
              "gpu copy": 5e11}, ceiling_threads={},
)  # fmt: skip
CARD = {"name": "A card", "memory": 2**30, "l2": 2**20}


def test_what_is_no_number_above_0_is_refused_by_name():
    for field in NUMBERS:
        for value in (-1, float("nan"), float("inf"), "fast", True):
            with pytest.raises(ValueError, match=rf"^my card: {field} is a number .* or None "):
                Device("my card", **{field: value})
        if field in PRICES:
            assert getattr(Device("free", **{field: 0}), field) == 0
        else:
            with pytest.raises(ValueError, match="above 0"):
                Device("free", **{field: 0})
    assert Device("my card", flop_rate=np.float32(2), cores=np.int64(3)).cores == 3
    for name in ("  ", None):
        with pytest.raises(ValueError, match="A device has a name"):
            Device(name)
    with pytest.raises(ValueError, match="a kind is one of live, recorded, published, typed in"):
        Device("a", kind="guessed")


def test_the_corner_is_where_both_limits_meet():
    assert Device("a", flop_rate=6e12, bandwidth=3e11).corner == 20
    assert Device("a", flop_rate=6e12).corner is None


def test_published_devices_cite_their_source_and_no_price_is_ours():
    for device in PUBLISHED:
        assert device.kind == "published" and "NVIDIA" in device.where
        assert device.price is None and device.price_per_hour is None


# -- Measured.


def test_a_machine_s_cpu_has_its_ceilings_and_its_lanes():
    (cpu,) = of_machine(MACHINE, price=7, gpu_price=8)
    assert (cpu.cores, cpu.lanes, cpu.flop_rate, cpu.bandwidth) == (4, 4 * 256 // 32, 1e11, 3e10)
    assert (cpu.name, cpu.kind, cpu.price) == ("A CPU, 4 cores", "live", 7)
    assert "2001-02-03" in cpu.where and "rough" not in cpu.where
    (rough,) = of_machine(replace(MACHINE, note="for 0.02 s: rough"))
    assert "rough" in rough.where


def test_a_gpu_is_a_device_of_its_own_whose_cores_nobody_told():
    cpu, card = of_machine(replace(MACHINE, gpu=CARD), price=7, gpu_price=8)
    assert (card.name, card.cores, card.lanes) == ("A card", None, None)
    assert (card.flop_rate, card.bandwidth, card.price, cpu.price) == (1e13, 5e11, 8, 7)


def test_a_gpu_s_lanes_are_those_of_its_multiprocessors():
    for capability, lanes in (("8.0", 6_912), ("9.0", 13_824), ("99.0", None)):
        a100 = CARD | {"compute_capability": capability, "multiprocessors": 108}
        assert of_machine(replace(MACHINE, gpu=a100))[1].lanes == lanes


def test_prices_are_given_by_name_and_the_rest_stays_as_it_was():
    few, many = Device("few", price=3), Device("many", cores=9)
    priced = with_prices([few, many], {"many": 5, "few": None})
    assert priced == [few, replace(many, price=5)]
    assert with_prices(iter([few]), {}) == [few] and with_prices([few], {"few": 0})[0].price == 0


def test_a_price_for_no_device_is_refused_with_the_names_of_all():
    boxes = [Device("T4"), Device("A100 40 GB")]
    with pytest.raises(ValueError, match=r"called 'A100'. There are: 'T4', 'A100 40"):
        with_prices(boxes, {"A100": 5})
    with pytest.raises(ValueError, match="T4: price is a number of at least 0"):
        with_prices(boxes, {"T4": -5})


def test_devices_come_back_from_a_file_as_they_were_but_no_longer_live(tmp_path):
    mine = Device("mine €", *range(1, 8), where="a shop")
    path = save([mine, *of_machine(MACHINE), *PUBLISHED], tmp_path / "devices.json")
    back = load(path)
    assert back[0] == mine and back[2:] == list(PUBLISHED)
    assert back[1] == replace(of_machine(MACHINE)[0], kind="recorded")


def test_what_is_no_file_of_devices_is_refused_in_a_sentence_with_its_name(tmp_path):
    path = tmp_path / "devices.json"
    for text, words in (
        ("{", "cannot be read: .* It should hold"), ("[1]", "cannot be read"),
        ('[{"name": "a", "memory": 1}]', "unexpected keyword argument 'memory'"),
        ('[{"cores": 1}]', "A device has a name"),
        ('[{"name": "a", "price": -1}]', "a: price is a number of at least 0"),
        ('[{"name": "a"}, {"name": "a"}]', "Two devices are called 'a'"),
    ):  # fmt: skip
        path.write_text(text)
        with pytest.raises(ValueError, match=f"devices.json.*{words}"):
            load(path)


