"""The picture of a launch: every thread is drawn once, those without a number told apart."""

import io

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import cuda

from gpulessons.illustrations import grid
from warplens import trace

some_launch = st.tuples(st.integers(1, 256), st.sampled_from([32, 48, 64, 100, 256]))


@given(some_launch)
def test_warps_cover_the_grid_once_and_only_the_first_n_threads_work(launch):
    n, block = launch
    rows = grid.warps(n, block)
    threads = [row["first"] + lane for row in rows for lane in range(row["lanes"])]
    assert threads == list(range(grid.blocks_for(n, block) * block))
    working = [row["first"] + lane for row in rows for lane in range(row["working"])]
    assert working == list(range(n))
    assert all(row["block"] == row["first"] // block for row in rows)


@given(some_launch, st.integers(0, 300))
def test_the_arithmetic_is_right_and_the_guard_asked(launch, thread):
    n, block = launch
    threads = grid.blocks_for(n, block) * block
    chosen = min(thread, threads - 1)
    number, place, total = (
        int(part) for part in grid.arithmetic(chosen, block).split(" = ", 1)[1]
        .replace(f" × {block} + ", " ").replace(" = i", "").replace("=", "").split()
    )  # fmt: skip
    assert number * block + place == total == chosen and place < block
    assert ("sends it home" in grid.verdict(chosen, n, block)) == (chosen >= n)


def test_the_picture_is_what_the_microscope_finds():
    @cuda.jit
    def who(out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = cuda.blockIdx.x * 1000 + cuda.threadIdx.x

    n, block = 70, 32
    out = np.zeros(n, np.int32)
    trace(who)[grid.blocks_for(n, block), block](out)
    rows = grid.warps(n, block)
    drawn = [
        r["block"] * 1000 + grid.WARP * r["warp"] + lane
        for r in rows
        for lane in range(r["working"])
    ]
    assert drawn == out.tolist()


def test_the_title_counts_who_is_sent_home():
    assert repr(grid.grid_picture(150, 64, 100)).startswith(
        "3 blocks of 64 threads for 150 numbers: the guard sends 42 home. "
        "blockIdx.x × blockDim.x + threadIdx.x = 1 × 64 + 36 = 100 = i block 1, warp 1, lane 4."
    )
    assert "each thread has one." in repr(grid.grid_picture(64, 32, 0))


def test_a_thread_beyond_the_grid_is_its_last():
    assert "0 × 32 + 31 = 31 = i" in repr(grid.grid_picture(5, 32, 500))


def test_a_block_that_is_no_whole_number_of_warps_says_so():
    assert "The last warp of a block has 16 threads of 32." in repr(grid.grid_picture(90, 48, 3))
    assert "The last warp" not in repr(grid.grid_picture(90, 64, 3))


@pytest.mark.parametrize("block", [32, 48, 256])
def test_it_stays_small_as_a_vector(block):
    drawn = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        grid.grid_picture(256, block, 40).figure.savefig(drawn, format="svg")
    assert len(drawn.getvalue()) < 40_000


@pytest.mark.parametrize(("n", "block", "says"), [
    (0, 32, "a number at least"), (5, 2000, "1 to 1,024"), (5000, 64, "told apart"),
])  # fmt: skip
def test_launches_that_cannot_be_drawn_are_refused(n, block, says):
    with pytest.raises(ValueError, match=says):
        grid.grid_picture(n, block, 0)
