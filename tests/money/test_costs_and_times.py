"""What a step asks, what it costs at least, rent or buy, a core: sums by hand."""

import math
from dataclasses import fields, replace

import pytest

from gpulessons.evidence import published
from gpulessons.hardware import Machine
from gpulessons.money import cores
from gpulessons.money.chain import dearer, pairs, stages
from gpulessons.money.cores import K80_CORES, K80_FLOPS, K80_MULTIPROCESSORS, Cores
from gpulessons.money.devices import FACTORS, Device, card
from gpulessons.money.renting import HOURS, break_even, energy, owned_hour
from gpulessons.money.works import (
    COMPILED,
    EAGER,
    LAYERS,
    Work,
    filling,
    generating,
    launch,
    networks,
    prefill,
    training,
)

# -- What a step asks, how long it takes at least, and what that costs.

# Ridge points: 100 operations a byte, and 1.
FAST = Device("fast", {"float32": 1e12}, 1e10, memory=1e9, rent=9, rent_most=18)
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


def test_what_does_not_fit_takes_no_time_and_costs_nothing():
    for held, fits in ((1e9, True), (1e9 + 1, False)):
        each = work("large", 1e12, 1e6, held)
        assert each.fits(FAST, "float32") is fits
        assert (each.seconds(FAST, "float32") is None) is not fits
        assert (each.cost(FAST, "float32") is None) is not fits
    assert work("large", 1, 1, 1e15).fits(THICK, "float32")  # its memory is not known


def test_a_step_costs_the_rent_of_its_time():
    assert PRODUCT.cost(FAST, "float32") == pytest.approx((9 / 3600, 18 / 3600))
    assert STREAM.cost(FAST, "float32") == pytest.approx((9 * 0.1 / 3600, 18 * 0.1 / 3600))
    tenth = replace(PRODUCT, tokens=10).cost(FAST, "float32")
    assert tenth == pytest.approx((0.9 / 3600, 1.8 / 3600))
    assert STREAM.cost(THICK, "float32") is None
    assert STREAM.cost(replace(THICK, rent=0, rent_most=0), "float32") == (0, 0)


def test_a_network_s_step_has_its_products_and_moves_weights_six_times_and_outputs_eight():
    from gpulessons.models.six_networks import KINDS, cost

    works = networks()
    first, size = works[0], "FCN-5"
    assert [w.name for w in works] == list(KINDS) and first.flops == cost(size).flops
    assert cost(size).layers == 7 and first.launched == 2 * 7 * launch()  # 4 products, 3 sigmoids
    parameters = cost(size).parameters
    outputs = cost(size).memory / 16 - parameters / 2
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
    a100, h100 = card("A100 80 GB"), card("H100")
    assert [each.limit(a100) for each in stages()] == ["overhead", "bytes/s", "bytes/s", "FLOP/s"]
    assert all(max(each.work.parts(a100, "16 bits").values()) < each.seconds for each in stages())
    gains = [each.worth(a100, h100)[1] for each in stages()]
    assert gains == pytest.approx([1, 3352 / 2039, 3352 / 2039, 989 / 312], rel=1e-3)
    least = [each.worth(a100, h100)[0] for each in stages()]
    assert least == pytest.approx([1, 1.445, 1.445, 5506 / 3044], rel=1e-3)
    words = [each.verdict(a100, h100, dearer(a100.name, h100.name)) for each in stages()]
    assert words == ["A100 80 GB", *3 * ["undecided"]]


def test_a_pair_gains_what_was_published_and_its_boxes_promise_more():
    *trained, prompts, answers = pairs()
    assert len(trained) == 23 and {each.limit for each in trained} == {"FLOP/s"}
    assert min(each.gain for each in trained) == pytest.approx(5506 / 3044)  # 1b, 65536
    assert all(each.promised == pytest.approx(3.17, rel=1e-3) for each in trained)
    for pair, gain, promised in ((prompts, 1.0255, 1), (answers, 1.2584, 1.432)):
        assert (pair.gain, pair.promised) == pytest.approx((gain, promised), rel=1e-3)


def test_a_bound_explains_a_time_within_twice_the_sum_of_all():
    each = replace(stages()[0], work=replace(STREAM, moved=dict.fromkeys(FACTORS, 4e10)))
    assert sum(each.work.parts(THICK, "16 bits").values()) == pytest.approx(0.4, rel=1e-4)
    for seconds, limit in ((0.79, "bytes/s"), (0.81, "overhead")):
        row = replace(stages()[3].row, figure=f"{seconds}")
        assert replace(each, row=row).limit(THICK) == limit


def test_rents_are_compared_within_one_guide():
    assert dearer("A100 80 GB", "H100") == pytest.approx((5 / 3, 1.99 / 0.8))


def test_a_transformer_holds_16_bytes_a_parameter_and_a_token_reads_each_weight_once():
    small = training(tokens=10, layers=2, width=3)
    parameters, kept = 12.0625 * 2 * 9 + 64_000 * 3, 16 * 2 * 3 * 10
    assert small.flops == 6 * parameters * 10
    assert small.held == {"float32": 16 * parameters + 4 * kept, "TF32": 16 * parameters + 4 * kept,
                          "16 bits": 16 * parameters + 2 * kept}  # fmt: skip
    assert small.moved["16 bits"] == 34 * parameters + 4 * kept
    assert small.moved["float32"] == 40 * parameters + 8 * kept
    bare = generating(context=0)
    assert bare.flops == pytest.approx(2 * 6.738e9, rel=1e-4)  # Llama 2 7B
    assert bare.intensity("16 bits") == 1 and bare.intensity("float32") == 0.5
    assert generating(8, context=0).intensity("16 bits") == 8
    one, many = generating(3, 5, 2, 7), 12.0625 * 2 * 49 + 64_000 * 7  # 2 × 2 × 7 × 5 in caches
    assert one.moved["16 bits"] == one.held["16 bits"] == 2 * (many + 3 * 140)
    assert one.flops == 3 * 2 * (many + 140)
    assert generating(how=EAGER).launched == 12 * LAYERS * launch()
    assert generating().launched == 6 * LAYERS * launch(COMPILED) and one.tokens == 3
    assert small.launched == 12 * 2 * launch(COMPILED) and small.tokens == 10
    # Each token attends to those before it: on average half, 4 × 2 layers × 7 for each pair.
    prompt = prefill(6, 2, 7)
    assert prompt.flops == 6 * 2 * many + 4 * 2 * 7 * 6 * 6 / 2 and prompt.tokens == 6
    assert prompt.moved["16 bits"] == 2 * (many + 2 * 2 * 7 * 6)
    assert generating(1024).intensity("16 bits") < 30  # each brings its own
    full = filling(card("A100 80 GB"))
    assert full == generating(123) and generating(124).held["16 bits"] > 80e9
    assert filling(card("T4"), "float32") == filling(Device("bare")) == generating(1)


# -- Rent or buy. 3 an hour rented; owned 1000 W at 1 a kWh: 1 an hour; a price of quarter years.


def test_break_even_is_where_both_have_cost_the_same():
    each = energy(1000, 1)
    share = break_even(0.25 * HOURS, 3, 2, each)
    assert each == 1 and share == 0.25 / 2 / 2
    assert owned_hour(0.25 * HOURS, share * 2 * HOURS, each) == pytest.approx(3)
    assert break_even(0, 3, 2) == 0 and break_even(9 * HOURS, 3, 1) == 3  # longer than it lasts
    assert math.isinf(break_even(1000, 1, 2, each)) and math.isinf(break_even(1000, 0, 2))


# -- The K80's cores. Here are two of 35 GFLOP/s: each as fast as 20 of its own.

CPU = Cores(cores=2, core_flops=20 * K80_FLOPS / K80_CORES, flops=7e10, bandwidth=2.4e10,
            simd_bits=256)  # fmt: skip


def test_a_core_is_worth_what_its_rate_says():
    # 2 FLOPs for each core at each tick of its boost clock of 875 MHz.
    assert pytest.approx(K80_FLOPS, rel=1e-3) == 2 * K80_CORES * 875e6
    assert K80_CORES == 192 * K80_MULTIPROCESSORS
    assert CPU.worth == pytest.approx(20) and CPU.lanes == 8
    assert CPU.ratios() == pytest.approx({
        "cores, as on the box": 2496, "multiprocessors over cores": 13,
        "lanes, of one unit a core": 312, "lanes, of two units a core": 156,
        "FLOP/s": 8.74e12 / 7e10, "bytes/s": 20,
    })  # fmt: skip
    assert "lanes" not in repr(replace(CPU, simd_bits=None))


def test_a_core_that_others_used_gives_no_result_but_a_reason():
    for flops in (4.9 * CPU.core_flops, CPU.core_flops / 2):  # of two cores; a busy day
        assert "No result" in repr(replace(CPU, flops=flops))
    for count, share in ((2, 0.5), (1, 1.0), (64, 0.02)):  # SMT, a clock that falls
        assert not replace(CPU, cores=count, flops=count * share * CPU.core_flops).doubt


def test_this_machine_is_its_ceilings_and_one_thread_measured_until_its_best_came_again(
    monkeypatch,
):
    from gpulessons.hardware import ceilings, pools

    monkeypatch.delenv("GPULESSONS_BUDGET", raising=False)
    rates, asked = iter([3.0, 35.0, 34.9, 99.0]), []
    monkeypatch.setattr(pools, "blas_threads", lambda n: asked.append(n) or pools.nullcontext())
    monkeypatch.setattr(ceilings, "product", lambda dtype: ceilings.Rate(1e9 * next(rates), 1.0))
    known = dict.fromkeys((field.name for field in fields(Machine)), None)
    here = Machine(**known | {"cores": 2, "ceilings": {"host float32": 7e10, "host copy": 2e10}})
    assert cores.beside_the_k80(here).core_flops == 35e9 and set(asked) == {1}
    with pytest.raises(RuntimeError, match="ceilings could not be measured"):
        cores.beside_the_k80(replace(here, ceilings={}))
