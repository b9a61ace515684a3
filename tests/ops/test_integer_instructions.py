"""Index arithmetic must not hide what a kernel is there to show: few integers a multiply-add.

The counts are exact for one version of the compiler; the limits leave room for the next.
"""

import ast
import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from numba import cuda

import gpulessons
from gpulessons.ops import attention, bias_activation, conv2d, dense, layer_norm, transpose
from gpulessons.ops import matmul_kernels as kernels
from gpulessons.ops import neighbours as near
from warplens import trace
from warplens.code.cuda import CannotCompile, assembly

CAPABILITIES = [(8, 6), (9, 0)]
TWO, THREE, FOUR = (np.ones((4,) * axes, np.float32) for axes in (2, 3, 4))
PRODUCT = TWO, TWO, TWO
LIMITS = {  # integer instructions for each multiply-add in the hot loop; found: 4.5, 4.5, 1.4, …
    "naive": 6,
    "coalesced": 6,
    "tile": 2,
    "column": 1,
    "square": 1 / 2,
    "vector": 1 / 8,
    "double": 1 / 8,
}


def machine_code(kernel, arguments, capability):
    try:
        made = assembly(kernel, *arguments, capability=capability)
        return made, made.mix
    except CannotCompile as why:
        pytest.skip(str(why))


def integers(kernel, arguments, capability):
    """Instructions for each multiply-add in the hot loop that compute an index and the like."""
    _, mix = machine_code(kernel, arguments, capability)
    hot = mix.hot
    return (hot.integer + hot.pipes.get("uniform", 0)) / hot.multiply_adds


def with_range(kernel, tmp_path):
    """The kernel as one would first write it: `for k in range(n)` in place of `while k < n`."""
    lines = inspect.getsource(kernel.py_func).splitlines()
    at = next(n for n, line in enumerate(lines) if re.match(r" +while ", line))
    indent, name, end = re.match(r"( +)while (\w+) < (.*?):", lines[at]).groups()
    lines[at] = f"{indent}{name} = 0\n{indent}for {name} in range({end}):"
    lines.remove(next(line for line in lines[at:] if line.strip() == f"{name} += 1"))
    path = tmp_path / "plain.py"  # the microscope reads a kernel's source in its file
    path.write_text("\n".join(lines), encoding="utf-8")
    names = dict(kernel.py_func.__globals__, cuda=cuda)
    exec(compile(path.read_text(encoding="utf-8"), path, "exec"), names)
    return names[kernel.py_func.__name__]


@pytest.mark.parametrize("capability", CAPABILITIES, ids=str)
@pytest.mark.parametrize("rung", LIMITS)
def test_few_integer_instructions_stand_beside_a_multiply_add(rung, capability):
    assert integers(getattr(kernels, f"{rung}_kernel"), PRODUCT, capability) <= LIMITS[rung]


OTHERS = {
    "scores": (attention.scores_kernel, (THREE, THREE, True, np.float32(1), TWO), 6),
    "mixture": (attention.mixture_kernel, (TWO, THREE, THREE), 6),
    "convolution": (conv2d.direct_kernel, (FOUR, FOUR, 1, 1, FOUR), 9),
    "layer, a warp an output": (dense.warp_kernel, (TWO, TWO, TWO[0], TWO), 2),
    "row gradients": (layer_norm.dx_kernel, (TWO, TWO[0], TWO, TWO, TWO[0], TWO[0]), 8),
    "distances": (near.thread_kernel, (TWO, TWO, TWO.astype(np.int32), TWO), 6),
    "distances by a warp": (near.warp_kernel, (TWO, TWO, TWO.astype(np.int32), TWO), 6),
}


@pytest.mark.parametrize("capability", CAPABILITIES, ids=str)
@pytest.mark.parametrize("name", OTHERS)
def test_nor_beside_those_of_other_ops_that_read_from_a_cache(name, capability):
    kernel, arguments, limit = OTHERS[name]
    assert integers(kernel, arguments, capability) <= limit


@pytest.mark.parametrize("capability", CAPABILITIES, ids=str)
def test_a_loop_over_range_has_many(tmp_path, capability):
    """Should this fail, Numba's range has been mended: common.py and notebook 05 tell of it."""
    plain = with_range(kernels.coalesced_kernel, tmp_path)
    assert integers(plain, PRODUCT, capability) > 3 * LIMITS["coalesced"]


@pytest.mark.parametrize("rung", ["naive", "coalesced"])
def test_the_microscope_counts_the_same_for_both_loops(rung, tmp_path):
    taught = getattr(kernels, f"{rung}_kernel")
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((40, 21), np.float32), rng.standard_normal((21, 35), np.float32)
    found = []
    for kernel in (taught, with_range(taught, tmp_path)):
        out = np.zeros((40, 35), np.float32)
        seen = trace(kernel)[(3, 3), (16, 16)](x, y, out)
        counts = [seen.coalescing(a).sectors for a in ("x", "y", "out")]
        found.append((counts, seen.flops, seen.work().reads, seen.divergence().divergent))
        assert np.allclose(out, x @ y, atol=1e-4)
    assert found[0] == found[1]


@pytest.mark.parametrize("capability", CAPABILITIES, ids=str)
@pytest.mark.parametrize(
    "kernel, arguments, most",
    [
        (transpose.padded_kernel, (TWO, TWO), 320),  # for 8 × 128 bytes: a GPU's spare time
        (bias_activation.bias_kernel, (TWO[0], TWO[0], TWO[0]), 80),  # for 2 × 128
    ],
    ids=["transpose", "bias"],
)
def test_a_kernel_that_only_moves_bytes_issues_few_instructions(
    kernel, arguments, most, capability
):
    _, mix = machine_code(kernel, arguments, capability)
    assert mix.hot is None  # its loops are unrolled, and nothing divides in 64 bits
    assert mix.whole.instructions <= most


@pytest.mark.parametrize("capability", CAPABILITIES, ids=str)
def test_the_taps_of_a_filter_are_unrolled(capability):
    """Then weights and pixels have known places in shared memory: no index is computed."""
    tiles = conv2d.compiled_tiles(3, 3, 1)
    made, _ = machine_code(tiles, (FOUR, FOUR, 1, FOUR), capability)
    code = made.code
    work = [
        [one.opcode.split(".")[0] for one in code.instructions[loop.first : loop.last + 1]]
        for loop in code.loops
    ]
    taps = min((turn for turn in work if "FFMA" in turn), key=len)
    assert taps.count("FFMA") >= 3 * conv2d.FILTERS * conv2d.EACH  # a row of the filter at least


# -- In the sources: every kernel of the ops and the exercises. (A loop with a barrier or a loop in
# -- it has more to do than to count.)

HOMES = [*Path(gpulessons.__file__).parent.glob("[oe]*s/*.py")]  # ops and exercises


def texts(home):
    """A file's own text, and the stub and the solution in it."""
    text = home.read_text(encoding="utf-8")
    strings = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant))
    return [text, *(s for s in strings if isinstance(s, str) and "@cuda.jit\n" in s)]


def kernels_in(text):
    for node in ast.walk(ast.parse(text)):
        decorators = map(ast.unparse, getattr(node, "decorator_list", []))
        if any("cuda.jit" in each for each in decorators):
            yield node


def counted_products(kernel):
    """Innermost loops `for k in range(n)`, n not known before, that multiply what k numbers."""
    stored = (n.id for n in ast.walk(kernel) if isinstance(getattr(n, "ctx", 0), ast.Store)
              and isinstance(n, ast.Name))  # fmt: skip
    known_late = {*stored, *(one.arg for one in kernel.args.args)}
    for loop in ast.walk(kernel):
        if not (isinstance(loop, ast.For) and ast.unparse(loop.iter).startswith("range(")):
            continue
        inside = [node for line in loop.body for node in ast.walk(line)]
        late = {getattr(node, "id", "") for node in ast.walk(loop.iter)} & known_late
        within = any(isinstance(node, ast.For | ast.While) for node in inside)
        busy = within or "syncthreads" in ast.unparse(loop)
        taken = [node for node in inside if isinstance(node, ast.BinOp | ast.AugAssign)
                 and isinstance(node.op, ast.Mult)]  # fmt: skip
        name = ast.unparse(loop.target)
        if late and not busy and any(re.search(rf"\[.*\b{name}\b", ast.unparse(t)) for t in taken):
            yield ast.unparse(loop).splitlines()[0]


def test_no_taught_kernel_multiplies_in_a_loop_over_range():
    found = [f"{home.stem}, {kernel.name}: {loop}" for home in HOMES for text in texts(home)
             for kernel in kernels_in(text) for loop in counted_products(kernel)]  # fmt: skip
    assert not found, found


def test_such_a_loop_would_be_found():
    (kernel,) = kernels_in(inspect.getsource(kernels.coalesced_kernel.py_func))
    assert not [*counted_products(kernel)]
    loop = next(node for node in ast.walk(kernel) if isinstance(node, ast.While))
    loop.__class__, loop.target = ast.For, ast.Name("k", ast.Store())
    loop.iter = ast.parse("range(x.shape[1])", mode="eval").body
    assert [*counted_products(kernel)] == ["for k in range(x.shape[1]):"]
