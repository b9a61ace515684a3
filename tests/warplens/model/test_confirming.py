"""Modelled against measured, as a value; its files; which GPU a machine's card stands for."""

import json
from dataclasses import replace

import pytest

from gpulessons import hardware
from warplens.model import confirming
from warplens.model.confirming import (
    NOT_YET,
    Confirmation,
    Confirmed,
    Row,
    Turnover,
    Unjudged,
    confirmed,
    load,
)
from warplens.model.devices import GPUS
from warplens.model.modelling import modelled
from warplens.model.present import present

GIB = 1e9


def row(measured, modelled=1e-3, limiter="DRAM", high=2e-3, **changes):
    told = Row(
        "copy", "CUDA", 1000, measured, (measured, measured), 1e-5, modelled, 0.9e-3, high, limiter,
        "latency", "machine code", {"DRAM": 1e-3, "latency": 5e-4},
    )  # fmt: skip
    return replace(told, **changes)


@pytest.fixture
def one():
    rows = (
        row(1e-3), row(1.25e-3), row(4e-3), row(2e-3, limiter="FP32"),
        row(1e-3, high=None, limiter="atomics"), row(1.5e-5), Unjudged("dot", "x", 10, "no bound"),
    )  # fmt: skip
    turnover = (Turnover("nothing", 128, 2112, 640.0, (600.0, 700.0)),)
    card = {"gpu": {"name": "NVIDIA H200"}, "libraries": {"numba-cuda": "0.2"}}
    return Confirmation(card, "2030-01-02", "0.1", "H200", "As it is.", rows, turnover, ("Note.",))


# -- The value.


def test_errors_are_summed_up_limiter_by_limiter_without_what_the_launches_hide(one):
    dram, fp32, atomics, everything = one.summaries
    assert (dram.limiter, dram.number, dram.held) == ("DRAM", 3, pytest.approx(2 / 3))
    assert dram.error == pytest.approx(0.2)  # of 0, 0.2 and 0.75
    assert (fp32.number, fp32.error, fp32.held) == (1, 0.5, 1)
    assert (atomics.error, atomics.held) == (None, 1)  # "at least" has no error
    assert (everything.limiter, everything.number) == ("all of them", 5)
    assert everything.error == pytest.approx(0.35)


def test_a_measured_time_on_either_end_of_the_interval_is_held():
    assert row(0.9e-3).holds and row(2e-3).holds and row(9.0, high=None).holds
    assert not (row(0.89e-3).holds or row(2.01e-3).holds or row(0.89e-3, high=None).holds)


def test_a_page_gets_a_sentence_with_gpu_and_date(one):
    assert one.words("DRAM") == (
        "On NVIDIA H200 the model was off by 20% for kernels that wait for DRAM (the median of 3; "
        "recorded 2030-01-02)."
    )
    assert "for all kernels" in one.words()
    assert "nothing was found out about kernels that wait for L2" in one.words("L2")


def test_text_and_html_say_the_same(one):
    told = repr(one)
    for words in ("DRAM", "67%", "Note.", "As it is.", "1 more took hardly longer",
                  "1 more have no measured", "640 clocks (600 to 700)"):  # fmt: skip
        assert words in told and words in one._repr_html_()
    details = repr(one.details())
    assert "no bound" in details and "launches" in details and "-75%" in details


def test_nothing_is_made_up_where_no_kernel_was_judged(one):
    empty = replace(one, rows=(), turnover=None)
    assert empty.summaries == [] and "nothing was found out" in empty.words()
    assert "2030-01-02" in repr(empty)


# -- Files.


def test_it_survives_its_file_exactly(one, tmp_path):
    path = tmp_path / "h200.json"
    path.write_text(one.to_json())
    assert load(path) == one
    path.write_text(replace(one, turnover=None).to_json())
    assert load(path).turnover is None


@pytest.mark.parametrize(
    "change, words",
    [
        ({"format": 2}, "upgrade"),
        ({"rows": [{"op": "copy", "measured": 1}]}, "is no Row"),
        ({"rows": [3]}, "is no comparison"),
        ({"stranger": 1}, "is no Confirmation"),
    ],
)
def test_another_file_is_refused_in_a_sentence(one, tmp_path, change, words):
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(json.loads(one.to_json()) | change))
    with pytest.raises(ValueError, match=words):
        load(path)


@pytest.mark.parametrize("text", ["", "[]", "{}", "3", '{"format": 1}'])
def test_what_is_no_such_file_is_refused_in_a_sentence(tmp_path, text):
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="is no comparison of modelled times"):
        load(path)


def test_without_a_file_every_page_says_that_no_gpu_has_confirmed_it(monkeypatch, tmp_path):
    monkeypatch.setattr(confirming, "SHIPPED", tmp_path)
    found = confirmed()
    assert not found and repr(found) == found.words("DRAM") == NOT_YET
    assert "No GPU has confirmed it" in found._repr_html_()


def test_with_a_file_every_page_says_how_far_off_it_was(monkeypatch, tmp_path, one):
    monkeypatch.setattr(confirming, "SHIPPED", tmp_path)
    (tmp_path / "h200.json").write_text(one.to_json())
    found = confirmed()
    assert found and found == Confirmed((one,))
    assert "off by 20% for kernels that wait for DRAM" in found.words("DRAM")
    assert NOT_YET not in found.words() + repr(found) + found._repr_html_()


def test_what_ships_can_be_read():
    confirming.confirmed()


# -- Which GPU it is.


def card(name, capability, multiprocessors, l2=None):
    return {"name": name, "compute_capability": capability, "multiprocessors": multiprocessors,
            "l2": l2, "memory": 0, "driver": None}  # fmt: skip


@pytest.mark.parametrize(
    "name, capability, multiprocessors, memory, known",
    [
        ("NVIDIA H200", "9.0", 132, 4814 * GIB, "H200"),
        ("Tesla T4", "7.5", 40, 320 * GIB, "T4"),
        ("NVIDIA A100-SXM4-40GB", "8.0", 108, 1555 * GIB, "A100"),
        ("NVIDIA H100 80GB HBM3", "9.0", 132, 3352 * GIB, "H100"),
        ("NVIDIA GeForce RTX 3090", "8.6", 82, 936 * GIB, "RTX 3090"),
        ("NVIDIA RTX A6000", "8.6", 84, 768 * GIB, "RTX A6000"),
        ("NVIDIA RTX 6000 Ada Generation", "8.9", 142, 960 * GIB, "RTX 6000 Ada"),
    ],
)
def test_a_gpu_whose_figures_are_kept_is_known_by_its_drivers_name(
    name, capability, multiprocessors, memory, known
):
    gpu, words = present(card(name, capability, multiprocessors), {"memory": memory})
    assert gpu is GPUS[known] and words == f"{name} is modelled as the {known}."
    assert present(card(name, capability, multiprocessors), {})[0] is GPUS[known]


def test_one_name_with_another_memory_is_another_gpu():
    told = card("NVIDIA A100-SXM4-80GB", "8.0", 108, 40 * 2**20)
    gpu, words = present(told, {"memory": 2039e9, "clock": 1.41e9})
    assert (gpu.dram_rate, gpu.l2_bytes, gpu.boost) == (2039e9, 40 * 2**20, 1.41e9)
    told = {each for each, source in gpu.sources.items() if source.kind == "driver"}
    assert told == {"multiprocessors", "dram_rate", "l2_bytes", "boost"}
    assert {source.kind for source in gpu.sources.values()} == {"driver", "assumed"}
    assert (gpu.base, gpu.l2_rate) == (GPUS["A100"].base, GPUS["A100"].l2_rate)
    assert "as the A100, but with" in words and "2,039 GB/s" in words


@pytest.mark.parametrize(
    "name, capability, memory, like",
    [
        ("NVIDIA GeForce RTX 3090 Ti", "8.6", 1008e9, "RTX 3090"),
        ("NVIDIA GeForce RTX 5090", "12.0", 1792e9, "RTX 6000 Ada"),
        ("NVIDIA B200", "10.0", 8000e9, "H200"),
        ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "8.0", 1555e9, "A100"),
        ("NVIDIA T400", "7.5", 80e9, "T4"),
    ],
)
def test_an_unknown_gpu_is_made_of_the_nearest_and_what_its_driver_tells(
    name, capability, memory, like
):
    gpu, words = present(card(name, capability, 14), {"memory": memory, "clock": 3e9})
    assert gpu.multiprocessors == 14 and gpu.dram_rate == memory and gpu.boost == 3e9
    assert ".".join(map(str, gpu.capability)) == capability
    assert f"as the {like}, but with" in words and gpu.name not in GPUS
    known = GPUS[like]
    assert gpu.base / gpu.boost == pytest.approx(known.base / known.boost)
    each = gpu.l2_rate / gpu.multiprocessors / gpu.boost
    assert each == pytest.approx(known.l2_rate / known.multiprocessors / known.boost)
    for computed in ("base", "l2_rate"):
        assert gpu.sources[computed].kind == "assumed" and "grown" in gpu.sources[computed].citation


def test_a_gpu_of_which_nothing_is_known_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"compute capability 6\.1; times are modelled for 7\.5"):
        present(card("GTX 1080", "6.1", 20), {})


@pytest.mark.parametrize(
    ("capability", "name", "gpu"),
    [("7.5", "Tesla T4", "T4"), ("6.1", "GTX 1080", "A100"), (None, "", "A100")],
)
def test_a_kernel_is_modelled_for_the_gpu_that_is_here_and_else_for_an_a100(
    capability, name, gpu, monkeypatch
):
    here = capability and card(name, capability, 40)
    monkeypatch.setattr(hardware, "gpu", lambda: here)
    monkeypatch.setattr(hardware, "gpu_rates", lambda: {"memory": 320e9})
    assert modelled(None).gpu is GPUS[gpu]
    assert modelled(None, on="RTX 3090").gpu is GPUS["RTX 3090"]
