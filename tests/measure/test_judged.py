"""How the model was judged: the table is that of the rows, and the rows are what the model says."""

import importlib
import sys
from pathlib import Path

import pytest

from gpulessons.measure.judged import Judgment, Judgments, judgments, kendall, numbers
from warplens.model.modelling import SPREAD

ROOT = Path(__file__).parents[2]
CHEAP = ("read, blocks of 256", "blocks of 64, 4096 numbers", "float32, stride 4")


def row(published, seconds, low, high, **more):
    told = {"kind": "copies", "kernel": "a copy", "gpu": "A100", "ladder": "a ladder",
            "fitted": "no", "limiter": "DRAM", "within": 0.01, "roofline": None, "napkin": None}
    told |= more
    return Judgment(published=published, seconds=seconds, low=low, high=high,
                    **{name: told[name] for name in Judgment._fields if name in told})


def test_the_numbers_of_a_group_are_those_of_its_rows():
    rows = [row(1.0, 1.2, 0.9, 1.5, roofline=0.5, napkin=1.0),
            row(2.0, 1.0, 0.9, 1.8, roofline=0.4, napkin=3.0),
            row(9.0, 1.0, 0.5, None)]  # fmt: skip
    assert numbers(rows) == [
        "2", "35 %", "50 %", "50 %", "50 %", "1.83×", "-0.67", "1 of 1", "65 %", "-1.00", "25 %"
    ]  # fmt: skip
    assert numbers([row(1.0, 2.0, 1.5, None)])[:2] == ["0", "–"]
    late = Judgments([*rows, row(1.0, 4.0, 0.1, 9.0, ladder="late")]).worst()
    assert late.rows[0] == ["late", "1", "4.00", "4.00", "4.00"] and len(late.rows) == 2


def test_every_published_time_is_there_and_each_either_shaped_the_model_or_checked_it():
    every, shaped, checked = (judgments(which) for which in ("all", "fitted", "checked"))
    assert len(every) == len(shaped) + len(checked) and min(len(shaped), len(checked)) > 200
    assert len({(one.kind, one.kernel, one.gpu) for one in every}) == len(every)
    assert {"products", "transposes", "copies", "streams"} < {one.kind for one in every}
    assert all(one.fitted == "yes" for one in every if one.kind in ("products", "copies"))
    heads = [line[0] for line in every.table().rows]
    assert heads[:2] == ["all", "products"] and "only checked it" in heads


def test_tau_falls_where_two_kernels_come_in_the_wrong_order():
    assert kendall([(1.0, 0.01, 1.0), (2.0, 0.01, 3.0)]) == 1
    assert kendall([(1.0, 0.01, 3.0), (2.0, 0.01, 1.0)]) == -1
    assert kendall([(1.0, 0.1, 1.0), (1.1, 0.1, 2.0)]) is None, "nobody can tell these two apart"


def test_the_interval_is_that_of_all_sources_and_would_hold_for_each_without_it(monkeypatch):
    judge = program(monkeypatch)
    spread = judge.spread
    assert spread([one for one in judgments() if one.high]) == pytest.approx(SPREAD, rel=0.01)
    held = {line[0]: int(line[3].split()[0]) for line in judge.left_out(judgments()).rows}
    assert min(held.values()) > 80 and {"streams", "siboehm/SGEMM_CUDA", "A100"} < {*held}
    one = row(1.0, 1.0, 0.9, 1.5)
    assert spread([one, one]) == pytest.approx((0.9, 1.1))


def test_the_page_has_todays_tables(monkeypatch):
    judge = program(monkeypatch)
    text = judge.PAGE.read_text(encoding="utf-8")
    assert judge.page(text, judgments()) == text
    assert judge.page(text, judgments("checked")) != text


def test_a_few_rows_are_what_the_model_says_today(monkeypatch):
    judge = program(monkeypatch)
    kept = {(one.kernel, one.gpu): one for one in judgments()}
    few = [one for one in judge.microbenchmarks.MEASURED
           if one.name in CHEAP and one.gpu.name in ("A100", "H200")]  # fmt: skip
    assert len(few) == 5
    for one in few:
        told = judge.said(judge.microbenchmarks.model(one), one.bytes, 0)
        then = kept[one.name, one.gpu.name]
        assert {name: float(told[name]) for name in ("seconds", "low", "high")} == {
            "seconds": then.seconds, "low": then.low, "high": then.high,
        }  # fmt: skip


def program(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
    return importlib.import_module("judge")
