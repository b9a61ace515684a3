"""Predicted times: the larger of two bounds, never measured, and what is worth its price."""

import dataclasses

import pytest

from gpulessons.measure.results import Timing
from gpulessons.models.six_networks import FULL, Size, Trainee, cost
from gpulessons.money.devices import PUBLISHED, Device
from gpulessons.money.prediction import Work, networks, of_network, predict, worth

FAST = Device("fast", flop_rate=1e12, bandwidth=1e10, price=10)  # its corner: 100 FLOPs a byte
WIDE = Device("wide", flop_rate=1e11, bandwidth=1e11, price=10)  # 1
STREAM, PRODUCT = Work("stream", 1e6, 1e9), Work("product", 1e12, 1e6)


def timed(op, flops, nbytes, seconds, **more):
    known = dict.fromkeys((field.name for field in dataclasses.fields(Timing)), 0)
    given = {"op": op, "version": "v", "flops": flops, "bytes": nbytes, "size": 5}
    return Timing(**{**known, **given, "backend": "host", "samples": (seconds,), **more})


def test_a_time_is_the_larger_of_the_two_and_says_which():
    found = predict(STREAM, FAST)
    assert found.seconds == pytest.approx(0.1) and found.limit == "bytes/s"
    found = predict(PRODUCT, FAST)
    assert found.seconds == pytest.approx(1) and found.limit == "FLOP/s"
    assert predict(Work("even", 1e12, 1e10), FAST).seconds == 1  # and not their sum
    assert "(modelled; FLOP/s are the limit)" in repr(found)


def test_half_the_share_takes_twice_as_long():
    assert predict(PRODUCT, FAST, share=0.5).seconds == pytest.approx(2)
    for share in (0, -1, float("nan")):
        with pytest.raises(ValueError, match="A share of the roof is a number above 0"):
            predict(PRODUCT, FAST, share)


def test_a_number_that_is_missing_leaves_the_time_unknown_unless_it_is_not_asked_for():
    half = Device("half", bandwidth=1e10)
    assert predict(PRODUCT, half).seconds is None and predict(PRODUCT, half).limit == ""
    assert repr(predict(PRODUCT, half)) == "product on half: unknown; type in its flop_rate"
    assert predict(Work("copy", 0, 1e9), half).seconds == pytest.approx(0.1)


def test_a_timing_is_work_with_its_own_time():
    work = predict(timed("relu", 3, 24, 0.5, threads=2), FAST).work
    assert work == Work("relu", 3, 24, 5, "v", 0.5, 2) and work.label == "relu at 5"


def test_a_network_s_step_has_its_products_and_moves_each_number_twice_and_weights_twice_more():
    size = Size("FCN-5", 4, 16)
    step, weights = of_network(size), Trainee(size).parameters
    assert step.flops == cost(size).flops and step.size == 4
    assert step.bytes == 2 * cost(size).memory + 2 * 4 * weights
    assert [w.name for w in networks()] == list(FULL)
    assert [w.size for w in networks(batch=1)] == [1] * 6


def test_a_smaller_batch_asks_for_more_bytes_for_each_flop():
    for few, many in zip(networks(batch=1), networks(batch=64), strict=True):
        assert few.intensity < many.intensity


def test_the_best_buy_depends_on_the_network_where_each_has_a_device_of_its_own():
    found = worth([STREAM, PRODUCT], [FAST, WIDE])
    assert found.cost(STREAM) == pytest.approx({"fast": 1, "wide": 0.1})
    assert found.buys == {"stream": "wide", "product": "fast"} and found.differs is True
    told = "Modelled: the best buy depends on the network. wide for stream; fast for product."
    assert found.verdict == told
    assert "(best)" in repr(found) and "MODELLED" in repr(found)


def test_a_price_may_turn_the_best_buy_around():
    dear = dataclasses.replace(FAST, price=1000)
    found = worth([STREAM, PRODUCT], [dear, WIDE])
    assert found.buys == {"stream": "wide", "product": "wide"} and found.differs is False
    assert found.fastest(PRODUCT) == "fast"  # and yet not the one to buy
    assert found.verdict == "Modelled: wide is the best buy for all 2."


def test_without_two_prices_there_are_times_and_no_best_buy():
    bare = dataclasses.replace(WIDE, price=None)
    found = worth([STREAM], [FAST, bare])
    assert found.buys == {} and found.differs is None and found.seconds(STREAM)["wide"] > 0
    assert found.verdict.endswith("type in the price of at least two devices.")
    nobody = worth([STREAM], [bare])
    assert len(nobody.tables) == 1 and "bytes/s" in repr(nobody)


def test_a_step_has_one_gpu_of_a_board_with_two_at_half_of_its_price():
    board = dataclasses.replace(PUBLISHED[0], price=100)
    found = worth([PRODUCT], [board, FAST])
    (half, fast) = found.devices
    assert (half.name, half.flop_rate, half.price) == ("one GPU of a K80", board.flop_rate / 2, 50)
    assert fast == FAST and predict(PRODUCT, board).device == half
    whole = 100 * PRODUCT.flops / board.flop_rate
    assert found.cost(PRODUCT)["one GPU of a K80"] == pytest.approx(whole)  # what throughput costs
    assert "one GPU of a K80 (maximum)" in repr(found)


def test_rent_is_for_the_hours_that_a_step_takes():
    rented = dataclasses.replace(FAST, price_per_hour=36)
    assert worth([PRODUCT], [rented], by="price_per_hour").cost(PRODUCT) == {"fast": 0.01}


def test_which_number_is_the_limit_is_counted_for_each_device():
    assert worth([STREAM, PRODUCT], [FAST, WIDE]).limits == {"fast": 1, "wide": 1}
    assert worth([PRODUCT], [Device("half", bandwidth=1)]).limits == {"half": 0}


def test_nothing_to_do_and_no_way_to_pay_are_refused():
    with pytest.raises(ValueError, match="Give at least one op's timing or network"):
        worth([], [FAST])
    with pytest.raises(ValueError, match="by is one of price"):
        worth([STREAM], [FAST], by="weight")
