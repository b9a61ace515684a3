"""Published times, and how near to them the model has to be."""

import importlib
import sys
from pathlib import Path
from statistics import mean, median

import pytest

from warplens.model.devices import GPUS
from warplens.model.published import MODELLED, PARTS, TIMES, judged

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


def test_every_time_names_a_gpu_and_a_place_to_read_it():
    for one in TIMES:
        assert one.gpu in GPUS and "/" in one.source and one.note and one.figure
        assert 0 < one.within < 0.06
    assert len({(one.kernel, one.gpu) for one in TIMES}) == len(TIMES) == 32
    naive = TIMES[0]
    assert (naive.kernel, naive.gpu) == ("product, naive", "RTX A6000")
    assert naive.seconds == pytest.approx(2 * 4096**3 / 309e9, rel=1e-5)  # at 309 GFLOP/s


def errors_of(counted_from):
    """(errors, widths, whether the interval holds) of all intervals with two ends."""
    rows = judged(counted_from)
    assert {row.modelled.counted_from for row in rows} == {counted_from}
    assert all(set(row.modelled.bounds) == set(PARTS) for row in rows)
    closed = [row for row in rows if not row.modelled.at_least]
    return ([abs(row.ratio - 1) for row in closed],
            [row.modelled.high / row.modelled.low for row in closed],
            [row.holds for row in rows])  # fmt: skip


def test_the_model_is_as_near_as_it_has_to_be():
    (errors, widths, holds), (alone, wider, _) = map(errors_of, ("machine code", "source"))
    assert median(errors) <= 0.15 and mean(each <= 0.25 for each in errors) >= 0.85
    assert mean(holds) >= 0.9 and median(widths) <= 2.5
    assert median(errors) < median(alone) and median(widths) < median(wider)


@pytest.mark.nightly
def test_the_model_says_today_what_the_file_says(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    importlib.import_module("judge").main(tmp_path / "now.csv")
    now, then = (path.read_text().splitlines()[1:] for path in (tmp_path / "now.csv", MODELLED))
    assert now == then
