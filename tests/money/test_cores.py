"""The K80's cores against a CPU's: the arithmetic by hand, and no price that nobody gave."""

from dataclasses import fields, replace

import pytest

from gpulessons.hardware import Machine
from gpulessons.money import cores
from gpulessons.money.cores import (
    K80_BANDWIDTH,
    K80_CORES,
    K80_FLOPS,
    K80_MULTIPROCESSORS,
    Cores,
)

# Two cores of 35 GFLOP/s: each as fast as 20 of the K80's.
CPU = Cores(cores=2, core_flops=20 * K80_FLOPS / K80_CORES, flops=7e10, bandwidth=2.4e10,
            simd_bits=256)  # fmt: skip


def test_the_published_figures_are_those_of_the_board():
    assert (K80_CORES, K80_FLOPS, K80_BANDWIDTH) == (4992, 8.74e12, 480e9)
    # 2 FLOPs for each core at each tick of its boost clock of 875 MHz: the three agree.
    assert pytest.approx(K80_FLOPS, rel=1e-3) == 2 * K80_CORES * 875e6
    assert K80_CORES == 192 * K80_MULTIPROCESSORS
    assert CPU.k80_core_flops == pytest.approx(1.75e9, rel=1e-3)


def test_a_core_is_worth_what_its_rate_says():
    assert CPU.worth == pytest.approx(20)
    assert CPU.as_many_flops == pytest.approx(20 * K80_FLOPS)
    assert CPU.lanes == 8 and CPU.lane_rate == pytest.approx(CPU.core_flops / 16)
    assert "One core here computes like 20 of a K80's" in repr(CPU)
    assert "12 GB/s when all copy" in repr(CPU) and "96.2 MB/s" in repr(CPU)


def test_the_ratio_depends_on_what_is_counted():
    assert CPU.ratios() == pytest.approx({
        "cores, as on the box": 2496, "multiprocessors over cores": 13,
        "lanes, of one unit a core": 312, "lanes, of two units a core": 156,
        "FLOP/s": 8.74e12 / 7e10, "bytes/s": 20,
    })  # fmt: skip
    assert not any("lanes" in name for name in replace(CPU, simd_bits=None).ratios())
    assert "lanes" not in repr(replace(CPU, simd_bits=None))


def test_without_a_price_nothing_is_said_of_money():
    assert CPU.price is CPU.k80_price is CPU.as_many_price is None
    assert "currency" not in repr(CPU) and "your price" not in CPU._repr_html_()
    assert [f.default for f in fields(Cores) if "price" in f.name] == [None, None]


def test_a_price_is_spread_over_the_cores():
    dear = replace(CPU, price=100, k80_price=K80_CORES / 2)
    assert dear.as_many_price == 50 * K80_CORES
    assert "249,600 in your currency" in repr(dear)
    assert "this CPU, at your price" in repr(dear) and "50 a core, 1.43 a GFLOP/s" in repr(dear)
    assert "0.5 a core" in dear._repr_html_()
    assert "this CPU, at" not in repr(replace(dear, price=None))


def test_what_cannot_be_is_refused_by_name():
    with pytest.raises(ValueError, match="bandwidth is a number above 0"):
        replace(CPU, bandwidth=0)


def card(**changes):
    known = {field.name: None for field in fields(Machine)}
    ceilings = {"host float32": 7e10, "host copy": 2.4e10}
    return Machine(**known | {"cores": 2, "simd_bits": 256, "ceilings": ceilings} | changes)


def test_this_machine_is_its_card_and_one_thread_measured(monkeypatch):
    monkeypatch.setattr(cores, "one_core", lambda: CPU.core_flops)
    assert cores.beside_the_k80(card=card()) == CPU
    assert cores.beside_the_k80(price=9, card=card()).price == 9
    with pytest.raises(RuntimeError, match="ceilings could not be measured"):
        cores.beside_the_k80(card=card(ceilings={"host float32": 7e10}))


def test_a_core_that_others_used_gives_no_result_but_a_reason():
    for flops in (4.9 * CPU.core_flops, CPU.core_flops / 2):  # of two cores; ceilings of a busy day
        doubtful = replace(CPU, flops=flops)
        assert "others were at work" in doubtful.doubt and "No result" in repr(doubtful)
    for cores_, share in ((2, 1.0), (2, 0.5), (1, 1.0), (64, 0.02)):  # SMT, a clock that falls
        assert not replace(CPU, cores=cores_, flops=cores_ * share * CPU.core_flops).doubt


def test_one_core_is_measured_until_its_best_came_again(monkeypatch):
    from gpulessons.hardware import ceilings

    monkeypatch.delenv("GPULESSONS_BUDGET", raising=False)
    rates = iter([3.0, 5.0, 4.9, 9.0])
    monkeypatch.setattr(ceilings, "product", lambda dtype: ceilings.Rate(next(rates), 1.0))
    assert cores.one_core() == 5.0


def test_one_core_is_measured_with_one_thread(monkeypatch):
    from gpulessons.hardware import ceilings, pools

    asked = []
    monkeypatch.setenv("GPULESSONS_BUDGET", "0.001")
    monkeypatch.setattr(pools, "blas_threads", lambda n: asked.append(n) or pools.nullcontext())
    monkeypatch.setattr(ceilings, "product", lambda dtype: ceilings.Rate(5.0, 1.0))
    assert cores.one_core() == 5.0 and asked == [1]
