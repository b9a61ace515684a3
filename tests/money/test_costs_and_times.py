"""What a step asks, rent or buy: sums by hand."""

import math

import pytest

from gpulessons.money.devices import FACTORS
from gpulessons.money.renting import HOURS, break_even, energy
from gpulessons.money.works import CACHED, LLAMA_7B, SIX, generating, networks, prefill


def test_a_network_s_step_has_its_products_and_moves_weights_six_times_and_outputs_eight():
    works = networks()
    first, (parameters, flops, outputs) = works[0], SIX["FCN-5"]
    wide = 26_752 * 2_048
    assert parameters == 2 * wide + 2 * 2_048**2 + 3 * 2_048 + 26_752
    assert flops == 3 * 2 * 64 * (2 * wide + 2 * 2_048**2)
    assert outputs == 64 * (2 * 3 * 2_048 + 26_752)
    assert [w.name for w in works] == list(SIX)
    assert first.moved["float32"] == 4 * (6 * parameters + 8 * outputs)
    assert first.moved["TF32"] == first.moved["float32"]
    assert first.moved["16 bits"] == first.moved["float32"] / 2 + 8 * parameters  # a copy in 32


def test_a_token_reads_each_weight_once_and_its_own_cache():
    assert pytest.approx(6.738e9, rel=1e-4) == LLAMA_7B
    bare = generating(context=0)
    assert bare.flops == 2 * LLAMA_7B
    assert [bare.intensity(bits) for bits in FACTORS] == [0.5, 0.5, 1, 2, 4]
    assert generating(8, context=0).intensity("16 bits") == 8
    three = generating(3, 5)
    assert three.moved["16 bits"] == 2 * (LLAMA_7B + 3 * 5 * CACHED)
    assert three.moved["4 bits"] == LLAMA_7B / 2 + 3 * 5 * CACHED  # a byte for a number in a cache
    assert three.flops == 3 * 2 * (LLAMA_7B + 5 * CACHED)
    # Each token attends to those before it: on average half of 6.
    prompt = prefill(6)
    assert prompt.flops == 6 * 2 * LLAMA_7B + 6 * 6 * CACHED
    assert prompt.moved["16 bits"] == 2 * (LLAMA_7B + 6 * CACHED)


# -- Rent or buy. 3 an hour rented; owned 1000 W at 1 a kWh: 1 an hour; a price of quarter years.


def test_break_even_is_where_both_have_cost_the_same():
    each = energy(1000, 1)
    share = break_even(0.25 * HOURS, 3, 2, each)
    assert each == 1 and share == 0.25 / 2 / 2
    hours = share * 2 * HOURS
    assert 0.25 * HOURS / hours + each == pytest.approx(3)
    assert break_even(0, 3, 2) == 0 and break_even(9 * HOURS, 3, 1) == 3  # longer than it lasts
    assert math.isinf(break_even(1000, 1, 2, each)) and math.isinf(break_even(1000, 0, 2))

