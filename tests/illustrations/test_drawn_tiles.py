"""The pictures of the product's tiles say what its kernels do: their lines, fetches and results."""

import inspect

import numpy as np
import pytest

from gpulessons import trace
from gpulessons.illustrations.tiles import NAIVE, READ, RUNGS, WRITTEN, mma, tile
from gpulessons.ops import matmul as kernels
from warplens.report.steps import access_step, launch_of

KERNELS = {
    "shared tile": (kernels.tile_kernel, (16, 16)),
    "1-D register tile": (kernels.column_kernel, 512),
    "2-D register tile": (kernels.square_kernel, 256),
}


def traced(name):
    """One block of a rung's kernel, at the size of its tile."""
    rows, columns, depth = RUNGS[name].tile
    x, y = np.ones((rows, 2 * depth), np.float32), np.ones((2 * depth, columns), np.float32)
    kernel, block = KERNELS[name]
    return trace(kernel)[1, block](x, y, np.zeros((rows, columns), np.float32))


def fetches(seen, space):
    return sum(s.accesses for s in seen.select(space, access="read")) / (seen.flops / 2)


@pytest.mark.parametrize("name", RUNGS)
def test_what_a_rung_is_said_to_fetch_is_what_its_kernel_fetches(name):
    seen, (far, near) = traced(name), RUNGS[name].fetches
    assert (float(far), float(near)) == (fetches(seen, "global"), fetches(seen, "shared"))


@pytest.mark.parametrize("name", RUNGS)
def test_the_filled_results_are_those_of_one_thread(name):
    rung = RUNGS[name]
    of_thread = {}
    for site, entries in launch_of(traced(name)).log.sites.items():
        for entry in entries if (site.array.name, site.access) == ("out", "write") else ():
            step = access_step(entry, site)
            for lane, cell in zip(step.lanes, step.cells, strict=True):
                of_thread.setdefault((step.warp, lane), set()).add(cell)
    assert {(r, c) for r in rung.rows for c in rung.columns} in of_thread.values()


@pytest.mark.parametrize("name", RUNGS)
def test_the_line_that_changes_is_the_kernels_and_the_one_before_that_of_the_rung_below(name):
    rungs, place = list(RUNGS.values()), list(RUNGS).index(name)
    assert RUNGS[name].line in inspect.getsource(KERNELS[name][0].py_func)
    assert RUNGS[name].before == (rungs[place - 1].line if place else NAIVE)
    assert NAIVE in inspect.getsource(kernels.coalesced_kernel.py_func)


@pytest.mark.parametrize("name", RUNGS)
def test_a_row_of_x_and_a_column_of_y_are_filled_for_each_result(name):
    from matplotlib.colors import to_hex

    picture, rung = tile(name), RUNGS[name]
    drawn = [to_hex(one.get_facecolor()) for one in picture.axes.patches if one.get_fill()]
    rows, columns = len(rung.rows), len(rung.columns)
    assert drawn.count(READ.lower()) == rows + columns
    assert drawn.count(WRITTEN.lower()) == rows * columns
    assert f"{rung.fetches[0]} fetch from global memory" in picture.alt


def test_an_unknown_rung_is_refused_with_the_names_of_those_there_are():
    with pytest.raises(ValueError, match="no picture of 'warp tile': choose shared tile, 1-D"):
        tile("warp tile")


def test_one_mma_is_drawn_with_its_count():
    said = repr(mma())
    assert said.startswith("One instruction of a warp: 16 × 8 sums, 1,024 multiply-adds.")
    assert "A number of x serves 8 of the multiply-adds, one of y 16." in said
