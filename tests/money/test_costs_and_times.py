"""Prices over numbers, modelled times, rent or buy, the brain: sums by hand, no price of ours."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest

from gpulessons.hardware import Machine
from gpulessons.money import brain, cores
from gpulessons.money.cores import K80_CORES, K80_FLOPS, K80_MULTIPROCESSORS, Cores
from gpulessons.money.devices import PUBLISHED, Device
from gpulessons.money.prediction import Prediction, Work, networks, of_network, worth
from gpulessons.money.renting import NEEDED, Plan
from gpulessons.money.throughput import MEASURES, costs

# -- What a number costs.

WIDE = Device("wide", cores=10, lanes=10, flop_rate=4e12, bandwidth=1e11, price=20)
FEW = Device("few", cores=2, lanes=40, flop_rate=1e12, bandwidth=4e11, price=20)
BARE = Device("bare", cores=8)


def test_a_cost_is_the_price_over_the_number_and_the_cheapest_is_named_among_two():
    found = costs([WIDE, FEW, BARE])
    assert found.per("core") == {"wide": 2, "few": 10, "bare": None}
    assert found.per("TFLOP/s") == {"wide": 5, "few": 20, "bare": None}
    assert found.per("GB/s") == {"wide": 0.2, "few": 0.05, "bare": None}
    assert [found.best(m) for m in MEASURES] == [["wide"], ["few"], ["wide"], ["few"]]
    assert found.verdict == "Cheapest: wide per core and per TFLOP/s; few per lane and per GB/s."
    assert costs([WIDE, BARE]).best("core") == []
    assert found.table().rows[2][2:] == ["", "", "", "", ""]


# -- How long a step would take.

FAST = Device("fast", flop_rate=1e12, bandwidth=1e10, price=10)  # its corner: 100 FLOPs a byte
THICK = Device("thick", flop_rate=1e11, bandwidth=1e11, price=10)  # 1
STREAM, PRODUCT = Work("stream", 1e6, 1e9), Work("product", 1e12, 1e6)


def test_a_time_is_the_larger_of_the_two_and_says_which():
    for work, seconds, limit in ((STREAM, 0.1, "bytes/s"), (PRODUCT, 1, "FLOP/s")):
        found = Prediction(work, FAST)
        assert found.seconds == pytest.approx(seconds) and found.limit == limit
    assert Prediction(Work("even", 1e12, 1e10), FAST).seconds == 1  # and not their sum
    assert Prediction(PRODUCT, FAST, share=0.5).seconds == pytest.approx(2)
    half = Device("half", bandwidth=1e10)
    assert Prediction(PRODUCT, half).seconds is None and Prediction(PRODUCT, half).limit == ""
    assert Prediction(Work("copy", 0, 1e9), half).seconds == pytest.approx(0.1)


def test_the_best_buy_depends_on_the_network_and_on_the_prices():
    found = worth([STREAM, PRODUCT], [FAST, THICK])
    assert found.cost(STREAM) == pytest.approx({"fast": 1, "thick": 0.1})
    assert found.buys == {"stream": "thick", "product": "fast"}
    assert found.limits == {"fast": 1, "thick": 1}
    assert "depends on the network. thick for stream; fast for product." in found.verdict
    assert repr(found).count("(best)") == 2
    dear = worth([STREAM, PRODUCT], [replace(FAST, price=1000), THICK])
    assert dear.verdict == "Modelled: thick is the best buy for all 2."
    bare = worth([STREAM], [FAST, replace(THICK, price=None)])
    assert bare.buys == {} and "price of at least two devices" in bare.verdict


def test_a_step_has_one_gpu_of_a_board_with_two_at_half_of_its_price():
    (board,) = [each for each in PUBLISHED if each.name == "K80 board"]
    half, _ = worth([PRODUCT], [replace(board, price=100), FAST]).devices
    assert (half.name, half.flop_rate, half.price) == ("one GPU of a K80", board.flop_rate / 2, 50)


def test_a_network_s_step_has_its_products_and_moves_each_number_twice_and_weights_twice_more():
    from gpulessons.models.six_networks import FULL, Size, Trainee, cost

    size = Size("FCN-5", 4, 16)
    step, weights = of_network(size), Trainee(size).parameters
    assert step.flops == cost(size).flops and step.size == 4
    assert step.bytes == 2 * cost(size).memory + 2 * 4 * weights
    few, many = networks(batch=1), networks(batch=64)
    assert [w.name for w in few] == list(FULL)
    assert all(a.intensity < b.intensity for a, b in zip(few, many, strict=True))


# -- Rent or buy. 3 an hour rented; owned 1000 W at 1 a kWh: 1 an hour; half of all hours.

PLAN = Plan(price=1000, rent_per_hour=3, watts=1000, price_per_kwh=1, years=2, hours_per_week=84)


def test_break_even_is_where_both_have_cost_the_same():
    assert PLAN.energy_per_hour == 1 and PLAN.break_even == 500
    assert PLAN.bought(500) == PLAN.rented(500) == 1500
    assert replace(PLAN, resale=0.25, rest=50).break_even == 400
    lazy = replace(PLAN, hours_per_week=42, idle_watts=100)  # three idle hours for each of use
    assert lazy.energy_per_hour == pytest.approx(1 + 3 * 0.1)
    assert PLAN.energy_share(500) == pytest.approx(500 / 1500)


def test_the_two_ways_of_being_even_agree():
    for changes in ({}, {"idle_watts": 300}, {"rest": 70}, {"resale": 0.5}, {"years": 0.05},
                    {"hours_per_week": 1}, {"rent_per_hour": 1.1}):  # fmt: skip
        plan = replace(PLAN, **changes)
        needed = plan.break_even_utilization
        assert plan.per_useful_hour(needed) == pytest.approx(plan.rent_per_hour)
        assert (plan.break_even <= plan.useful_hours) == (plan.utilization >= needed)
        whole = plan.bought(plan.useful_hours) / plan.useful_hours
        assert plan.per_useful_hour() == pytest.approx(whole)


def test_without_a_price_the_plan_asks_for_it_and_no_number_is_ours():
    assert Plan().missing == list(NEEDED) and "price, what the device costs" in repr(Plan())
    for field in fields(Plan):
        assert field.default == (None if field.name in NEEDED else 0), field.name
    for name, value in (("price", -1), ("watts", math.nan), ("hours_per_week", 169),
                        ("resale", 1.1), ("years", 0)):  # fmt: skip
        with pytest.raises(ValueError, match=f"^{name} is "):
            replace(PLAN, **{name: value})


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


# -- The brain.


def test_the_sources_numbers_come_to_what_they_come_to_by_hand():
    # 2 × 200/s × 10^8 cells × (10^5·5 inputs × 10·1000·5 of the filter, and once more as weights)
    purkinje = 4e10 * (5e5 * 5e4 + 5e5 + 5)
    granule = 2 * 200 * 50e9 * (75 * 60 + 75 + 5)
    assert brain.operations_per_second() == pytest.approx(purkinje + granule)
    assert brain.operations_per_second() / brain.PUBLISHED == pytest.approx(0.93, abs=0.005)
    assert "1.000×10²¹ FLOP/s as put together here, 93 % of" in repr(brain.Assumed())
    for each in brain.ASSUMPTIONS:
        assert 0 < each.low <= each.source <= each.high and each.low < each.high and each.why
    with pytest.raises(ValueError, match="no assumption 'glia'; there are granule_cells"):
        brain.operations_per_second(glia=1)
    with pytest.raises(ValueError, match="firing_rate is a number above 0"):
        brain.operations_per_second(firing_rate=np.array([1.0, 0.0]))


def test_the_spread_of_a_product_is_that_of_its_logarithms():
    widths = {"a": 100, "b": 10, "c": 1000}
    factors = [brain.Assumption(n, 1, 1, wide, "", "ours") for n, wide in widths.items()]
    got = brain.spread(factors, lambda a, b, c: a * b**2 / c, draws=50_000)
    # A uniform logarithm has a twelfth of its width squared as variance; b counts twice.
    wide = {"a": math.log(100), "b": 2 * math.log(10), "c": math.log(1000)}
    whole = sum(width**2 for width in wide.values())
    for name, width in wide.items():
        assert got.shares[name] == pytest.approx(width**2 / whole, abs=0.015)
    assert got.weakest == "c" and got.low < got.high


