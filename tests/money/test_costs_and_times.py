"""What a step asks, what it costs at least, rent or buy: sums by hand."""

import math
from dataclasses import replace

import pytest

from gpulessons.evidence import published
from gpulessons.money.chain import stages
from gpulessons.money.devices import FACTORS, Device, card
from gpulessons.money.renting import HOURS, break_even, energy
from gpulessons.money.works import (
    COMPILED,
    EAGER,
    LLAMA_7B,
    SIX,
    Model,
    Work,
    generating,
    launch,
    networks,
    prefill,
)

# -- What a step asks, and how long it takes at least.

# Ridge points: 100 operations a byte, and 1.
FAST = Device("fast", {"float32": 1e12}, 1e10, memory=1e9)
THICK = Device("thick", {"float32": 1e11, "16 bits": 4e11}, 1e11)


def work(name, flops, nbytes, held=1e6):
    return Work(name, flops, dict.fromkeys(FACTORS, nbytes), dict.fromkeys(FACTORS, held))


STREAM, PRODUCT = work("stream", 1e6, 1e9), work("product", 1e12, 1e6)


def test_a_time_is_the_largest_of_three_and_says_which():
    for each, seconds, limit in ((STREAM, 0.1, "bytes/s"), (PRODUCT, 1, "FLOP/s")):
        assert each.seconds(FAST, "float32") == pytest.approx(seconds)
        assert each.limit(FAST, "float32") == limit
    slow = replace(STREAM, launched=0.2)  # longer than its bytes
    assert slow.seconds(FAST, "float32") == 0.2 and slow.limit(FAST, "float32") == "launches"
    assert work("even", 1e12, 1e10).seconds(FAST, "float32") == 1  # and not their sum
    assert STREAM.seconds(FAST, "16 bits") is None and STREAM.limit(FAST, "16 bits") == ""
    assert STREAM.seconds(Device("half", {"float32": 1e12}), "float32") is None


def test_what_does_not_fit_takes_no_time():
    for held, fits in ((1e9, True), (1e9 + 1, False)):
        each = work("large", 1e12, 1e6, held)
        assert each.fits(FAST, "float32") is fits
        assert (each.seconds(FAST, "float32") is None) is not fits
    assert work("large", 1, 1, 1e15).fits(THICK, "float32")  # its memory is not known


def test_a_network_s_step_has_its_products_and_moves_weights_six_times_and_outputs_eight():
    works = networks()
    first, (parameters, flops, outputs, layers) = works[0], SIX["FCN-5"]
    wide = 26_752 * 2_048
    assert parameters == 2 * wide + 2 * 2_048**2 + 3 * 2_048 + 26_752
    assert flops == 3 * 2 * 64 * (2 * wide + 2 * 2_048**2) and layers == 4 + 3  # and the sigmoids
    assert outputs == 64 * (2 * 3 * 2_048 + 26_752)
    assert [w.name for w in works] == list(SIX) and first.launched == 2 * 7 * launch()
    assert first.moved["float32"] == 4 * (6 * parameters + 8 * outputs)
    assert first.moved["TF32"] == first.moved["float32"]
    assert first.moved["16 bits"] == first.moved["float32"] / 2 + 8 * parameters  # a copy in 32


def test_a_launch_is_the_least_published_and_less_in_a_graph():
    rows = published("launch", what="scale, in a stream", elements=4096)
    assert {row.device for row in rows} >= {"A40", "L40", "H200"}
    assert launch() == min(row.sizes["bytes"] / row.value for row in rows)
    assert 5e-7 < launch(COMPILED) < launch() < 5e-6


def test_a_stage_s_published_step_is_of_all_its_tokens():
    eager, compiled, many, prompt = stages()
    took = [each.seconds for each in stages()]
    assert took == pytest.approx([1 / 25.5, 1 / 107, 64 / 4154.81, 0.139])
    assert (many.work.tokens, prompt.work.tokens) == (64, 2048)
    assert many.work.moved["16 bits"] == generating(64, 65).moved["16 bits"]
    assert eager.work.launched > compiled.work.launched
    a100 = card("A100 80 GB")
    assert [each.limit(a100) for each in stages()] == ["overhead", "bytes/s", "bytes/s", "FLOP/s"]
    assert all(max(each.work.parts(a100, "16 bits").values()) < each.seconds for each in stages())


def test_a_bound_explains_a_time_within_twice_the_sum_of_all():
    each = replace(stages()[0], work=replace(STREAM, moved=dict.fromkeys(FACTORS, 4e10)))
    assert sum(each.work.parts(THICK, "16 bits").values()) == pytest.approx(0.4, rel=1e-4)
    for seconds, limit in ((0.79, "bytes/s"), (0.81, "overhead")):
        row = replace(stages()[3].row, figure=f"{seconds}")
        assert replace(each, row=row).limit(THICK) == limit


def test_a_model_has_its_parameters_and_a_token_reads_each_weight_once():
    assert LLAMA_7B.parameters == pytest.approx(6.738e9, rel=1e-4)
    bare = generating(context=0)
    assert bare.flops == 2 * LLAMA_7B.parameters
    assert [bare.intensity(bits) for bits in FACTORS] == [0.5, 0.5, 1, 2, 4]
    assert generating(8, context=0).intensity("16 bits") == 8
    small, many = Model(2, 8, 3, 10), 2 * 13 * 64 + 160  # 4 + 3 × 3 squares
    one = generating(3, 5, small)
    assert small.parameters == many and small.cached(5) == 2 * 2 * 8 * 5
    assert one.moved["16 bits"] == one.held["16 bits"] == 2 * (many + 3 * 160)
    assert one.moved["4 bits"] == many / 2 + 3 * 160  # a number in a cache takes a byte
    assert one.flops == 3 * 2 * (many + 160)
    assert generating(how=EAGER).launched == 12 * 32 * launch()
    assert generating().launched == 6 * 32 * launch(COMPILED) and one.tokens == 3
    # Each token attends to those before it: on average half of 6.
    prompt = prefill(6, small)
    assert prompt.flops == 6 * 2 * many + small.cached(6) * 6 and prompt.tokens == 6
    assert prompt.moved["16 bits"] == 2 * (many + small.cached(6))


# -- Rent or buy. 3 an hour rented; owned 1000 W at 1 a kWh: 1 an hour; a price of quarter years.


def test_break_even_is_where_both_have_cost_the_same():
    each = energy(1000, 1)
    share = break_even(0.25 * HOURS, 3, 2, each)
    assert each == 1 and share == 0.25 / 2 / 2
    hours = share * 2 * HOURS
    assert 0.25 * HOURS / hours + each == pytest.approx(3)
    assert break_even(0, 3, 2) == 0 and break_even(9 * HOURS, 3, 1) == 3  # longer than it lasts
    assert math.isinf(break_even(1000, 1, 2, each)) and math.isinf(break_even(1000, 0, 2))

