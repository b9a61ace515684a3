"""Our own texts of other people's kernels: right, alike line for line, compiled for their GPUs."""

import inspect
import re
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from warplens import trace
from warplens.code import sass
from warplens.model.devices import named
from warplens.model.published import TIMES

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

pytestmark = pytest.mark.nightly

DEPTH = 32  # a multiple of every tile's
LAUNCHES = sorted({(one.kernel, named(one.gpu).capability) for one in TIMES})
each_launch = pytest.mark.parametrize("kernel, capability", LAUNCHES)
@pytest.fixture(params=sorted({time.kernel for time in TIMES}))
def pair(request):
    return pair_of(request.param)


def pair_of(name):
    from published_kernels import KERNELS

    return KERNELS[name]


def small(pair, rng):
    """(grid, arguments, the array of results, what it must hold) of two by two blocks or so."""
    from published_kernels import copies, transposes

    if pair in copies.COPIES:
        each = pair.arguments()[2][:1].nbytes
        out, x, *wide = copies.arrays(3000 * each + each - 1, each)
        x[:] = rng.integers(0, 255, x.size)
        return (2,), (out, x, *wide), out, x
    side = 2 * (pair_side(pair))
    if pair in transposes.TRANSPOSES:
        x, out, n = transposes.arrays(side)
        x[:] = rng.standard_normal(x.shape)
        return (2, 2), (x, out, n), out, x.T
    alpha, beta = (pair.arguments()[at] for at in (3, 6))
    x, y, out = (
        rng.standard_normal(shape).astype(np.float32)
        for shape in ((side, DEPTH), (DEPTH, side), (side, side))
    )
    true = alpha * (x.astype(np.float64) @ y) + beta * out
    return (2, 2), (side, side, DEPTH, alpha, x, y, beta, out), out, true


@cache
def small_trace(name):
    """(trace, result, what it must be) of the small launch: two tests look at each."""
    pair = pair_of(name)
    grid, arguments, result, true = small(pair, np.random.default_rng(0))
    return trace(pair.port)[grid, pair.block](*arguments), result, true


def pair_side(pair):
    """How many rows and columns of the result a block computes."""
    from published_kernels import products, transposes

    n = transposes.N if pair in transposes.TRANSPOSES else products.N
    assert n % pair.grid[0] == 0
    return n // pair.grid[0]


def test_a_port_computes_what_it_says_and_has_no_races(pair):
    traced, result, true = small_trace(pair.name)
    np.testing.assert_allclose(result, true, rtol=1e-5, atol=1e-5)
    assert not traced.races().cells
    assert not traced.warnings


def port_lines(pair):
    return inspect.getsource(pair.port.py_func).splitlines()


@each_launch
def test_machine_code_moves_memory_on_just_those_lines_where_the_port_does(
    kernel, capability, tmp_path
):
    pair = pair_of(kernel)
    file = tmp_path / "kernel.cubin"
    file.write_bytes(pair.cubin(capability))
    text = subprocess.run(
        [sass.disassembler(), "-c", "-g", file], capture_output=True, text=True, check=True
    ).stdout
    code = memory_lines(text, pair.port.py_func.__code__.co_filename)
    traced, *_ = small_trace(kernel)
    counted = defaultdict(set)
    for site in traced.sites:
        if site.space != "local":
            counted[site.line].add((site.space, site.access))
    assert set(code) - set(counted) <= never_run(pair)
    for line, kinds in counted.items():
        assert code[line] == kinds, port_lines(pair)[line - traced.first_line]


def never_run(pair):
    """Lines of the port that a launch with beta 0, or without a rest of bytes, never reaches."""
    first = pair.port.py_func.__code__.co_firstlineno
    lines = port_lines(pair)
    return {
        first + at for at, line in enumerate(lines) if "bytes_out[" in line or "load4(out" in line
    }


KINDS = {
    "LDG": ("global", "read"),
    "STG": ("global", "write"),
    "LDS": ("shared", "read"),
    "STS": ("shared", "write"),
}


def memory_lines(text, path):
    """{line: what its instructions do to memory}; nothing may be kept in local memory."""
    found, line = defaultdict(set), None
    for row in text.splitlines():
        if place := re.search(r'//## File "(.*?)", line (\d+)', row):
            assert place[1] == path
            line = int(place[2])
        elif operation := re.search(r"\*/\s+(?:@!?U?P\w+\s+)?([A-Z]\w+)[. ]", row):
            assert operation[1] not in ("LDL", "STL")
            if operation[1] in KINDS:
                found[line].add(KINDS[operation[1]])
    return found
