"""Published times, and how near to them the model has to be."""

import importlib
import sys
from itertools import permutations
from pathlib import Path

import pytest

from warplens.model.devices import GPUS
from warplens.model.published import MODELLED, PARTS, TIMES, judged, kendall, tau

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


def test_every_time_names_a_gpu_and_a_place_to_read_it():
    for one in TIMES:
        assert one.gpu in GPUS and "/" in one.source and one.note and one.figure
        assert 0 < one.within < 0.06
    assert len({(one.kernel, one.gpu) for one in TIMES}) == len(TIMES) == 32
    naive = TIMES[0]
    assert (naive.kernel, naive.gpu) == ("product, naive", "RTX A6000")
    assert naive.seconds == pytest.approx(2 * 4096**3 / 309e9, rel=1e-5)  # at 309 GFLOP/s


def test_the_model_is_as_near_as_it_has_to_be():
    found, alone = judged(), judged("source")
    assert found.median_error <= 0.15
    assert found.within(0.25) >= 0.85 and found.within(0.35) >= 0.9
    assert sum(row.holds for row in found.rows) / len(found.rows) >= 0.9
    assert found.width <= 2.5
    assert all(tau(rows) >= 0.8 for rows in found.ladders.values())
    assert found.median_error < alone.median_error and found.width < alone.width
    counted = [each.rows[0].modelled.counted_from for each in (found, alone)]
    assert counted == ["machine code", "source"]


def test_rows_are_grouped_by_source():
    found = judged()
    assert [len(rows) for rows in found.ladders.values()] == [6, 4, 4, 8, 5, 5]
    assert set(found.rows[0].modelled.bounds) == set(PARTS)


def test_tau_falls_where_two_kernels_come_in_the_wrong_order():
    (rows, *_) = judged().ladders.values()
    assert tau(rows) == 1
    swapped = [type(one)(one.published, other.modelled) for one, other in permutations(rows[:2])]
    assert tau(swapped) == -1
    assert kendall([(1.0, 0.1, 1.0), (1.1, 0.1, 2.0)]) is None, "nobody can tell these two apart"


@pytest.mark.nightly
def test_the_model_says_today_what_the_file_says(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    importlib.import_module("judge").main(tmp_path / "now.csv")
    now, then = (path.read_text().splitlines()[1:] for path in (tmp_path / "now.csv", MODELLED))
    assert now == then
