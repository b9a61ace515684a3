"""Costs: a price over a number, empty where either is missing, the cheapest by each."""

import pytest

from gpulessons import money
from gpulessons.money.devices import Device
from gpulessons.money.throughput import MEASURES, costs

WIDE = Device("wide", cores=10, lanes=10, flop_rate=4e12, bandwidth=1e11, price=20)
FEW = Device("few", cores=2, lanes=40, flop_rate=1e12, bandwidth=4e11, price=20, price_per_hour=3)
BARE = Device("bare", cores=8)


def test_a_cost_is_the_price_over_the_number():
    found = costs([WIDE, FEW])
    assert found.per("core") == {"wide": 2, "few": 10}
    assert found.per("lane") == {"wide": 2, "few": 0.5}
    assert found.per("TFLOP/s") == {"wide": 5, "few": 20}
    assert found.per("GB/s") == {"wide": 0.2, "few": 0.05}


def test_the_cheapest_of_each_is_named_and_only_among_two():
    found = costs([WIDE, FEW, BARE])
    assert [found.best(m) for m in MEASURES] == [["wide"], ["few"], ["wide"], ["few"]]
    assert found.verdict == "Cheapest: wide per core and per TFLOP/s; few per lane and per GB/s."
    assert costs([WIDE, BARE]).best("core") == []
    twin = Device("twin", cores=10, price=20)
    assert costs([WIDE, twin]).best("core") == ["wide", "twin"]
    assert "(best)" in repr(found) and "(best)" not in repr(costs([WIDE, BARE]))


def test_a_missing_price_leaves_its_cells_empty():
    rows = {row[0]: row[2:] for row in costs([WIDE, BARE]).table().rows}
    assert rows["bare"] == ["", "", "", "", ""]
    assert rows["wide"] == ["20", "2", "2", "5", "0.2"]
    assert "bare" in costs([WIDE, BARE])._repr_html_()


def test_without_any_price_the_table_asks_for_one_and_says_whose_it_is():
    found = costs([BARE, *money.PUBLISHED])
    table = found.table()  # of what a price would be divided by
    assert table.head[2:] == ["cores", "lanes", "FLOP/s", "bytes/s"]
    assert table.rows[0] == ["bare", BARE.kind, "8", "", "", ""]
    assert table.rows[1][2:] == ["4,992", "4,992", "8.74 TFLOP/s", "480 GB/s"]
    (note,) = found.notes()
    assert "Prices are yours" in note and "price=" in note
    assert found.verdict == "Nothing can be compared yet: two devices need a price."


def test_a_column_that_nobody_fills_says_what_to_type_in():
    (note,) = costs([Device("a", cores=1, lanes=1, bandwidth=1, price=1)]).notes()
    assert note == "– per TFLOP/s: empty, because no device has both; type in Device(…, price=…, " \
                   "flop_rate=…)."  # fmt: skip


def test_rent_is_counted_by_the_hour_and_a_currency_is_only_a_word():
    rent = costs([WIDE, FEW], by="price_per_hour", currency="coins")
    assert rent.per("core") == {"wide": None, "few": 1.5}
    assert "rent for an hour / number, in coins" in repr(rent)
    assert "need a rent for an hour" in rent.verdict
    assert " in " not in repr(costs([WIDE])).splitlines()[0]


def test_what_is_free_costs_nothing():
    assert costs([Device("gift", cores=2, price=0)]).per("core") == {"gift": 0}


def test_what_cannot_be_paid_by_is_refused():
    with pytest.raises(ValueError, match="by is one of price, price_per_hour, not 'weight'"):
        costs([WIDE], by="weight")
    with pytest.raises(ValueError, match="called 'wide'"):
        costs([WIDE, WIDE])


def test_the_room_hands_out_its_functions_and_says_what_there_is():
    assert money.costs is costs
    with pytest.raises(AttributeError, match=r"no 'price'; it has .*Device, "):
        money.price  # noqa: B018
