"""Index arithmetic must not hide what a kernel is there to show: few integers a multiply-add.

The counts are exact for one version of the compiler; the limits leave room for the next.
"""

import ast
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import gpulessons
from gpulessons.ops import attention, conv2d, dense
from gpulessons.ops import matmul as kernels
from warplens.code.cuda import CannotCompile, assembly

TWO, THREE, FOUR = (np.ones((4,) * axes, np.float32) for axes in (2, 3, 4))
PRODUCT = TWO, TWO, TWO
LIMITS = {  # integer instructions for each multiply-add in the hot loop; found: 4.5, 4.5, 1.4, …
    "naive": (kernels.naive_kernel, PRODUCT, 6),
    "coalesced": (kernels.coalesced_kernel, PRODUCT, 6),
    "tile": (kernels.tile_kernel, PRODUCT, 2),
    "column": (kernels.column_kernel, PRODUCT, 1),
    "square": (kernels.square_kernel, PRODUCT, 1 / 2),
    "vector": (kernels.vector_kernel, PRODUCT, 1 / 8),
    "scores": (attention.scores_kernel, (THREE, THREE, True, np.float32(1), TWO), 6),
    "mixture": (attention.mixture_kernel, (TWO, THREE, THREE), 6),
    "convolution": (conv2d.direct_kernel, (FOUR, FOUR, 1, 1, FOUR), 9),
    "layer, a warp an output": (dense.warp_kernel, (TWO, TWO, TWO[0], TWO), 2),
}
FEW = {"coalesced", "mixture"}  # tried at every run; the others nightly


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.nightly] * (name not in FEW)) for name in LIMITS]
)
def test_few_integer_instructions_stand_beside_a_multiply_add(name):
    kernel, arguments, limit = LIMITS[name]
    try:
        hot = assembly(kernel, *arguments, capability=(8, 6)).mix.hot
    except CannotCompile as why:
        pytest.skip(str(why))
    assert (hot.integer + hot.pipes.get("uniform", 0)) / hot.multiply_adds <= limit


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
