"""What pages say of published figures is made from them: other figures, other sentences."""

from dataclasses import replace

import pytest

import save_notebooks
from gpulessons import evidence, units
from gpulessons.evidence import published
from gpulessons.workers import fit
from gpulessons.workers.links import Sample

PAGE = "11_trees_vs_brute_force"


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
    names = {"published": published, "units": units}
    for name in ids:
        exec(cells[f"{page.replace('_', '-')}-{name}"], names)
    return names


def test_experts_cost_what_is_visited_where_one_kernel_computes_them_all(with_others):
    names = shown(PAGE, "44b")
    assert names["many"] / names["few"] == 16
    assert names["grouped_gpu"] < 1.2 and names["loop_gpu"] > 7
    with_others("Triton, experts grouped", 3)
    assert shown(PAGE, "44b")["grouped_gpu"] == pytest.approx(names["grouped_gpu"])


def ring_of(card):
    rows = published("all-reduce", device=card)
    rings = [Sample("ring", row.sizes["cards"], 4 * row.sizes["floats"], row.value) for row in rows]
    return fit([ring for ring in rings if ring.workers == 2]), rings


@pytest.mark.parametrize("card", ["P100", "M40", "Titan X"])
def test_a_model_fitted_to_two_cards_tells_eight_of_much_data_and_not_of_little(card):
    wire, rings = ring_of(card)
    small, _, large = [wire.seconds("ring", 8, ring.bytes) / ring.seconds
                       for ring in rings if ring.workers == 8]  # fmt: skip
    assert small > 1.5 and large == pytest.approx(1, abs=0.03)


def test_eight_cards_share_the_reading_of_a_layer_and_wait_for_its_sum(with_others, capsys):
    shown("14_model_parallelism", "02", "24a")
    assert "8 in 112 µs; their sum takes 39.8 µs" in (said := capsys.readouterr().out)
    assert "8 are 5.9 times as fast" in said
    with_others("bus bandwidth, NCCL, the switch adds", 10)
    shown("14_model_parallelism", "02", "24a")
    assert "8 are 7.7 times as fast" in capsys.readouterr().out
