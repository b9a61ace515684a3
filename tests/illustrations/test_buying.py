"""What the pictures for a buyer say: every title follows from its figures, and would turn."""

from dataclasses import replace

import pytest

from gpulessons.evidence import published
from gpulessons.illustrations import buying
from gpulessons.money.devices import FACTORS, Device, card
from gpulessons.money.works import Work, dense

BOX = Device("box", {"float32": 1e13, "TF32": 1e14}, 1e12, memory=1e9, price=100, rent=2)
CHIP = Device("chip", {"float32": 1e13}, 1e11, memory=1e8, price=10, rent=1)


def work(name, intensity, held=1e6):
    return Work(name, intensity * 1e9, dict.fromkeys(FACTORS, 1e9), dict.fromkeys(FACTORS, held))


def test_a_box_s_largest_number_is_its_sparse_one_and_what_was_reached_is_published():
    said = buying.box("H200").alt
    (best,) = published("matmul", device="H100", source="ml_engineering")
    assert said.startswith("One box, 5 numbers: the H200's largest is 59 times its float32.")
    assert "float8, half of the factors zero: 3.96 PFLOP/s" in said
    assert f"{best.value / 1e12:.3g} TFLOP/s" in said


def test_what_fits_is_counted():
    small, large = work("small", 1, 1e8), work("large", 1, 1e9 + 1)
    title = buying.fits([BOX, CHIP], [small, large]).alt
    assert title.startswith("Of 2 cards, so many have room: 2 for small, 0 for large.")


def test_the_title_counts_the_steps_left_of_the_ridge_points():
    steps = [work("five", 5), work("fifty", 50)]  # ridge points: 10 and 100; 100 in TF32
    said = buying.ridges({"steps": steps, "more": [work("one", 1)]}, [BOX, CHIP]).alt
    assert said.startswith("How many of 2 steps wait for memory: 1 to 2 in float32, 2 in TF32.")
    assert "16 bits" not in said and "one: 1" in said
    quick = replace(BOX, rates={"float32": 1e15, "TF32": 1e15})
    said = buying.ridges({"steps": steps}, [quick]).alt
    assert said.startswith("How many of 2 steps wait for memory: 2 in float32, 2 in TF32.")


def test_the_cheapest_is_named_for_each_work_and_how_it_is_paid():
    product, large = work("product", 1e3), work("large", 1e3, 5e8)
    said = buying.prices([product, large], [BOX, CHIP], "float32").alt
    assert said.startswith("Cheapest bought: chip for product; box for large.")
    said = buying.prices([product], [BOX, replace(CHIP, rent=9)], "float32", "rented").alt
    assert said.startswith("Cheapest rented: box for product.")
    assert "No card that fits has a price" in buying.prices([product], [Device("a")], "float32").alt


def test_a_published_time_s_share_is_its_roof_over_it():
    (row,) = published("dense", device="T4", dtype="float16", batch=7000, source="deepbench")
    roof = 2 * 7000 * 4096**2 / 65e12  # its FLOP/s are the limit
    assert f"batch 7,000, float16, T4: {roof / row.value:.0%}" in buying.reached().alt
    for _, share, _ in (*buying.layers_reached(), *buying.products_reached()):
        assert 0.4 < share < 1
    _, share, lstm = buying.lstm_reached()
    assert share == pytest.approx(8 * 512**2 * 16 * 25 / 15.7e12 / lstm.value)
    assert dense(7000).limit(card("T4"), "16 bits") == "FLOP/s"


def test_renting_is_cheaper_up_to_the_break_even():
    for hours_a_week, cheaper in ((1, "renting"), (100, "buying")):
        said = buying.renting(1_000, 1, hours_a_week, years=1).alt
        assert said.startswith("Break-even after 1,000 hours") and f"{cheaper} is cheaper" in said
    assert buying.renting(1_000, 0, 40).alt.startswith("Break-even never")
