"""What pages say of published figures is made from them: other figures, other sentences."""

from dataclasses import replace

import numpy as np
import pytest

import save_notebooks
from gpulessons import evidence, units
from gpulessons.evidence import published
from gpulessons.plots.published import open_lines
from gpulessons.workers import Link
from gpulessons.workers.links import nonnegative

PAGE = "21_experts"


@pytest.fixture
def with_others(monkeypatch):
    """Have the figures whose `what` begins so be these many times as large."""
    def change(what, times):
        other = [replace(row, figure=f"{times * float(row.figure)}")
                 if row.what.startswith(what) else row for row in evidence.figures()]
        monkeypatch.setattr(evidence, "figures", lambda: other)

    return change


def shown(page, *ids):
    """The value of the last of these cells of a notebook, run one after the other."""
    path = save_notebooks.NOTEBOOKS / f"{page}.ipynb"
    cells = {cell.id: cell.source for cell in save_notebooks.read(path).cells}
    names = {"published": published, "units": units, "open_lines": open_lines}
    for name in ids:
        exec(cells[f"{page.replace('_', '-')}-{name}"], names)
    return names


def test_experts_cost_what_is_visited_where_one_kernel_computes_them_all(with_others):
    names = shown(PAGE, "15")
    assert names["sorts"] < 1.2 and names["loops"] > 7
    with_others("Triton, experts grouped", 3)
    assert shown(PAGE, "15")["sorts"] == pytest.approx(names["sorts"])


@pytest.mark.parametrize("card", ["P100", "M40", "Titan X"])
def test_a_link_between_two_cards_tells_eight_of_much_data_and_not_of_little(card):
    rows = [(row.sizes["cards"], 4 * row.sizes["floats"], row.value)
            for row in published("all-reduce", device=card)]  # fmt: skip
    pairs = np.array([(2 / seconds, size / seconds) for cards, size, seconds in rows if cards == 2])
    latency, slowness = nonnegative(pairs)  # of two workers' ring: 2 latencies, and the bytes
    wire = Link(latency, 1 / slowness)
    small, *_, large = [wire.seconds("ring", *row[:2]) / row[2] for row in rows if row[0] == 8]
    assert small > 1.5 and large == pytest.approx(1, abs=0.03)


def test_eight_cards_share_the_reading_of_a_layer_and_wait_for_its_sum(with_others, capsys):
    shown("14_model_parallelism", "02", "24a")
    assert "8 in 112 µs; their sum takes 18.2 µs" in (said := capsys.readouterr().out)
    assert "8 are 6.9 times as fast" in said
    with_others("bus bandwidth, NCCL, one queued", 10)
    shown("14_model_parallelism", "02", "24a")
    assert "8 are 7.9 times as fast" in capsys.readouterr().out
