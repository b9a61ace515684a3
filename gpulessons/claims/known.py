"""What is known of a statement whatever machine this is: counted, published, bounded.

A function for each statement that has such figures, by its name. What sets a count beside a time of
this machine is handed over by the notebook.
"""

import math
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from numba import cuda

from gpulessons.ops.activations import relu
from gpulessons.ops.dense import dense, sized
from gpulessons.ops.reduce import total
from gpulessons.ops.shade import LIMIT, shade, shade_kernel, shade_sorted
from gpulessons.ops.vertex_transform import vertex_kernel, vertex_transform
from warplens import Trace, trace, tracing

from .judge import Figure

EVIDENCE: dict[str, Callable[[], Iterator[Figure]]] = {}
BLOCK = 256
POINTS = 1_024  # full blocks: idle lanes of a last one are no branch


@cache
def evidence(name: str) -> tuple[Figure, ...]:
    """The figures about a statement that no machine of the reader's changes."""
    return tuple(EVIDENCE[name]()) if name in EVIDENCE else ()


def about(name: str) -> Callable:
    def register(function: Callable[[], Iterator[Figure]]) -> Callable[[], Iterator[Figure]]:
        EVIDENCE[name] = function
        return function

    return register


def counted(what: str, value: float) -> Figure:
    """A count of the microscope's, or of operations and bytes: exact, and no time."""
    return Figure(what, "counted", value, value)


def cited(what: str, value: float, where: str) -> Figure:
    return Figure(what, "published", value, value, where)


# Activations


@about("1a")
def threads_on_their_own() -> Iterator[Figure]:
    with tracing() as launches:
        relu.versions["CUDA, a thread per element"](relu.inputs(8_192)[0])
    yield counted("ReLU, a thread per element", own_share(launches[0]))


def own_share(traced: Trace) -> float:
    """Of a kernel's accesses to memory, those by which no thread could tell another anything."""
    own, told = (
        sum(site.accesses for site in sites)
        for sites in (traced.select("global"),
                      traced.select("shared") + traced.select("global", access="atomic"))
    )  # fmt: skip
    return 1 - told / (own + told)


# Warps and branches


@cuda.jit
def two_ways(roots, x, out):
    i = cuda.grid(1)
    if roots[i]:
        out[i] = math.sqrt(x[i])
    else:
        out[i] = x[i] * x[i]


@about("3b")
def sides_and_steps() -> Iterator[Figure]:
    lane = np.arange(64)
    yield counted("sides of a branch, lanes in turn over warps in turn",
                  sides(lane % 2) / sides(lane // 32))  # fmt: skip
    shuffled, ordered = (
        warp_steps(shade_kernel, *op.inputs(8_192), np.zeros(8_192, np.int32))
        for op in (shade, shade_sorted)
    )
    yield counted("Mandelbrot pixels in no order over sorted ones, steps", shuffled / ordered)


def sides(roots: np.ndarray) -> float:
    """Sides of its branch that a warp of two_ways takes, on average."""
    x = np.ones(roots.size, np.float32)
    (branch,) = trace(two_ways)[1, roots.size](roots, x, np.empty_like(x)).divergence().branches
    return 1 + branch.divergent / branch.instances


def warp_steps(kernel: Callable, x: np.ndarray, *arrays: np.ndarray) -> float:
    """Straight runs of code that the warps took, their lanes at work or waiting."""
    traced = trace(kernel)[x.size // BLOCK, BLOCK](x, *arrays)
    return sum(run.slots for run in traced.divergence().code) / 32


# Graphics and computing


@about("5a")
def drawings_over_launches() -> Iterator[Figure]:
    x = np.ones(1_500, np.float32)
    with tracing() as launches:
        total.versions["CUDA, warp shuffles"](x)
    drawings = (x.size - 1).bit_length()  # each halves what is left
    yield counted(f"a sum of {x.size:,} numbers", drawings / len(launches))
    yield counted("their histogram, each bar of which looks at every pixel", LIMIT + 1)


def corners() -> tuple[Trace, np.ndarray, np.ndarray]:
    """(the kernel of a graphics card, traced; what it computes; the same by a layer's product)"""
    points, matrix = vertex_transform.inputs(POINTS)
    turned = np.empty_like(points)
    traced = trace(vertex_kernel)[POINTS // BLOCK, BLOCK](points, matrix, turned)
    return traced, turned[:, :3], points[:, :3] @ matrix[:3, :3].T + matrix[:3, 3]


@about("10a")
def one_product() -> Iterator[Figure]:
    _, turned, as_layer = corners()
    alike = np.abs(turned - as_layer) <= 1e-5
    yield counted(f"{POINTS:,} corners", float(alike.mean()))


@about("10b")
def intensities() -> Iterator[Figure]:
    each = [(vertex_transform, POINTS), (dense.like(sized(512, 512)), 512)]
    corner, layer = (op.flops(*(x := op.inputs(n))) / op.bytes(*x) for op, n in each)
    yield counted("inputs and outputs moved once", corner / layer)


@about("10c")
def lanes_at_work() -> Iterator[Figure]:
    yield counted("corners", corners()[0].divergence().efficiency)
    with tracing() as launches:
        relu.versions["CUDA, a thread per element"](relu.inputs(8_192)[0])
    yield counted("an activation", launches[0].divergence().efficiency)
    grid = np.meshgrid(np.linspace(-2, 0.8, 768), np.linspace(1.1, -1.1, 512))
    x, y = (axis.ravel().astype(np.float32) for axis in grid)
    blocks = x.size // BLOCK
    pixels = trace(shade_kernel, blocks=range(0, blocks, 16))[blocks, BLOCK](
        x, y, np.zeros(x.size, np.int32)
    )
    yield counted("pixels of a picture, as they lie", pixels.divergence().efficiency)


# Memory


@about("12a")
def state_over_a_desktops_cache() -> Iterator[Figure]:
    cache = 2**23  # bytes
    where = "Intel, Core i7-6700K, 2015: 8 MB"
    for network, parameters in {"ResNet-56": 853_018, "AlexNet of 2012": 60_000_000}.items():
        yield cited(f"{network} over a desktop's cache of its day", 16 * parameters / cache, where)


# Sums


@about("18a")
def additions_in_rounds() -> Iterator[Figure]:
    products = 3 * 3 * 64  # of an output: a filter of ResNet's
    yield counted(f"{products} products, added pair by pair", products // 2 / (products - 1))


@about("24b")
def multipliers() -> Iterator[Figure]:
    made = 65_536 * 2 * 700e6  # multipliers, two operations each, at the clock
    yield cited("TPU v1: 65,536 multipliers at 700 MHz, of 92 TOPS", min(1.0, made / 92e12),
                "Jouppi et al., In-Datacenter Performance Analysis of a TPU, 2017")  # fmt: skip
