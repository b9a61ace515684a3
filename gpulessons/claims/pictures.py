"""Claims about what graphics cards were built for: pictures, and what a branch costs in them."""

from functools import partial

import numpy as np
from numba import njit

from gpulessons.ops.activations import relu
from gpulessons.ops.dense import dense, sized
from gpulessons.ops.reduce import total
from gpulessons.ops.shade import LIMIT, one_pixel, shade, shade_kernel, shade_sorted
from gpulessons.ops.vertex_transform import vertex_kernel, vertex_transform
from gpulessons.units import percent, three_digits
from warplens import trace, tracing

from .claim import claim, holds, limits, refuted, untested, weakest
from .evidence import counted, paired
from .machines import gpu_orders, shared

ROWS, COLUMNS = 30, 50
BLOCK = 256
POINTS = 1_024  # full blocks: idle lanes of a last one are no branch


def plane(rows=ROWS, columns=COLUMNS):
    """The pixels of a picture of the Mandelbrot set, row by row: x and y, (rows × columns,)."""
    grid = np.meshgrid(np.linspace(-2, 0.8, columns), np.linspace(1.1, -1.1, rows))
    return tuple(axis.ravel().astype(np.float32) for axis in grid)


# A card of 2004 draws rectangles: a shader knows its own place, and cannot choose it.


def two_forms(given):
    """A picture by a CUDA kernel in the microscope: is it what a shader gives, pixel by pixel? And
    the sum of its iterations and their histogram, counted: as rectangles that a graphics card of
    2004 would have to draw, each halving the sum, or a bar looking at every pixel, and by kernels.
    """
    x, y = plane()
    iterations = np.zeros(x.size, np.int32)
    trace(shade_kernel)[-(-x.size // BLOCK), BLOCK](x, y, iterations)
    shader = np.array([one_pixel(*place) for place in zip(x, y, strict=True)])
    with tracing() as launches:
        (added,) = total.versions["CUDA, warp shuffles"](iterations.astype(np.float32))
    wrong = np.count_nonzero(shader != iterations) + int(shader.sum() != added)
    return {
        "pixels": counted("pixels", x.size),
        "different": counted("numbers that differ", wrong),
        "drawings": counted("drawings for a sum", (x.size - 1).bit_length()),
        "launches": counted("launches of a kernel for it", len(launches)),
        "look_ups": counted("look-ups for a histogram, drawn over CUDA: each of its bars looks at "
                            "every pixel", LIMIT + 1, "×"),
    }  # fmt: skip


@claim(
    5, "Before 2007 general computing on a GPU meant graphics programming; CUDA flattened that.",
    source="A", notebooks="03", measure=two_forms,
    changes="A picture that one of the two forms cannot make. What “meant” meant is a historian's "
    "question: languages such as Brook (2004) already hid the drawing.",
)  # fmt: skip
def drawing_and_computing(pixels, different, drawings, launches, look_ups):
    if different:
        return refuted(f"Of a picture with {pixels:,} pixels, its sum and its histogram "
                       f"{different:,} numbers differ between the two forms: neither can stand for "
                       "the other.")  # fmt: skip
    same = (f"A picture of {pixels:,} pixels comes out the same, drawn as a rectangle or by a CUDA "
            "kernel")  # fmt: skip
    cost = (f"The sum of its iterations takes {drawings} drawings or {launches} "
            f"launch{'es' * (launches != 1)}; their histogram, drawn, {three_digits(look_ups)} "
            "times the look-ups, for each bar looks at every pixel")  # fmt: skip
    flattened = drawings > launches or look_ups > 1
    return weakest(
        computing_meant_graphics=limits(
            f"{same}. So much a program shows; that there was no other way before 2007 it cannot."),
        CUDA_flattened_that=holds(f"{cost}.") if flattened
        else refuted(f"{cost}: nothing was flattened."),
    )  # fmt: skip


# One machine for both.


def corners_and_layers(given):
    """Corners times a matrix, by the kernel of a graphics card and by a layer's product: what
    differs. Operations for each byte; lanes at work in the warps of corners, activations and
    pixels; and what threads tell each other, counted.
    """
    points, matrix = vertex_transform.inputs(POINTS)
    pixels, blocks = plane(512, 768), 512 * 768 // BLOCK
    corners = np.empty_like(points)
    turning = trace(vertex_kernel)[POINTS // BLOCK, BLOCK](points, matrix, corners)
    as_layer = points[:, :3] @ matrix[:3, :3].T + matrix[:3, 3]
    with tracing() as activation:
        relu.versions["CUDA, a thread per element"](relu.inputs(8_192)[0])
    coloring = trace(shade_kernel, blocks=range(0, blocks, 16))[blocks, BLOCK](
        *pixels, np.zeros(pixels[0].size, np.int32))  # fmt: skip
    kernels = turning, activation[0], coloring
    intensities = {  # FLOPs for each byte: its inputs and outputs once
        "corners": ("corners", vertex_transform, POINTS),
        "wide": ("512 units, 512 examples", dense.like(sized(512, 512)), 512),
    }
    return {
        "different": counted(
            "coordinates that differ, corners against a layer",
            int(np.count_nonzero(np.abs(corners[:, :3] - as_layer) > 1e-5))),
        **{name: counted(f"operations for each byte, {what}",
                         op.flops(*(inputs := op.inputs(size))) / op.bytes(*inputs))
           for name, (what, op, size) in intensities.items()},
        "lanes": counted("lanes at work, corners and activations",
                         min(each.divergence().efficiency for each in kernels[:2]), "%"),
        "picture": counted("lanes at work, pixels as they lie",
                           coloring.divergence().efficiency, "%"),
        "talk": counted("accesses to what threads share", sum(map(shared, kernels))),
    }  # fmt: skip


@claim(
    10, "Graphics and networks want the same machine: matrices times many vertices, a little "
    "arithmetic per pixel, hardly a branch.", source="B", notebooks="03",
    measure=corners_and_layers,
    changes="Pixels whose neighbors branch otherwise: a picture pays for each warp that disagrees. "
    "A layer as wide as a matrix for corners: then both would wait for the same. And tensor cores, "
    "where a training GPU of today has most of its FLOP/s: they want a layer's product alone.",
)  # fmt: skip
def one_machine(different, corners, wide, lanes, picture, talk):
    return weakest(
        matrices_times_vertices=same_product(different, corners, wide),
        hardly_a_branch=each_on_its_own(lanes, picture, talk),
    )


def same_product(different, corners, wide):
    if different:
        return refuted(f"{different:,} coordinates differ between corners and a layer: they are "
                       "not the same product.")  # fmt: skip
    found = "Corners times a matrix are a layer's outputs"
    if wide > 4 * corners:
        return limits(f"{found}. But where corners ask for {three_digits(corners)} operations a "
                      f"byte, a layer of 512 units asks for {three_digits(wide)}.")  # fmt: skip
    return holds(f"{found}.")


def each_on_its_own(lanes, picture, talk):
    if talk:
        return refuted(f"Threads of corners, pixels or activations share {talk:,} accesses: they "
                       "are not each on their own.")  # fmt: skip
    branch = (f"{percent(lanes)} of the lanes are at work on corners and activations, "
              f"{percent(picture)} on the pixels of a picture")  # fmt: skip
    if min(lanes, picture) < 0.5:
        return refuted(f"{branch}: that is more than hardly a branch.")
    found = f"No thread needs another; {branch}"
    return limits(f"{found}: a picture branches.") if picture < 0.95 else holds(f"{found}.")


# What a branch costs: the same numbers, in no order and in order.


@njit
def pack(x, room):
    count = 0
    for i in range(x.size):
        if x[i] > 0:
            room[count] = x[i]
            count += 1
    return count


def branches(given):
    """Mandelbrot pixels in no order against the same pixels sorted by the iterations that they
    take: time on a CPU core, one after the other, steps of a warp's 32 lanes counted, and time on a
    GPU. And numbers above zero packed out of numbers in no order against sorted ones: time on a
    core.
    """
    loop, out = shade.versions["Numba, one core"].function, np.empty(30_000, np.int32)
    orders = {op.name: partial(loop, *op.inputs(30_000), out) for op in (shade, shade_sorted)}
    numbers = np.random.default_rng(0).standard_normal(2**16, np.float32)
    room, both = np.empty_like(numbers), {"shuffled": numbers, "sorted": np.sort(numbers)}
    shuffled, ordered = (
        warp_steps(shade_kernel, *op.inputs(8_192), np.zeros(8_192, np.int32))
        for op in (shade, shade_sorted)
    )
    return {
        "pixels": paired("pixels, shuffled over sorted, time on a core", orders),
        "pixel_steps": counted("pixels, the same, steps of a warp", shuffled / ordered, "×"),
        "packing": paired("packing, shuffled over sorted, time on a core",
                          {name: partial(pack, x, room) for name, x in both.items()}),
        **gpu_orders(given),
    }  # fmt: skip


def warp_steps(kernel, x, *arrays):
    """Straight runs of code that the warps took, their lanes at work or waiting."""
    traced = trace(kernel)[x.size // BLOCK, BLOCK](x, *arrays)
    return sum(run.slots for run in traced.divergence().code) / 32


@claim(
    11, "Branching costs a GPU more than a CPU.", source="BD", notebooks="03", measure=branches,
    changes="Data whose neighbors branch alike: then a warp does not part. A branch that a CPU "
    "guesses wrong and that cannot be written away. And a CPU loop that runs a pixel in each lane "
    "of its vectors, under masks: it pays as a warp does.", about_gpus=True,
)  # fmt: skip
def branching_costs_more(pixels, pixel_steps, packing, gpu_shuffled=None, gpu_sorted=None):
    core = (f"Pixels in no order take a core, one after the other, {three_digits(pixels)} times as "
            "long as sorted ones")  # fmt: skip
    other = (f"packing numbers in no order takes a core {three_digits(packing)} times as long as "
             "in order")  # fmt: skip
    if not (gpu_shuffled and gpu_sorted):
        return untested(f"{core}, and a warp's 32 lanes together {three_digits(pixel_steps)} times "
                        f"as many steps; {other}. No GPU was timed.")  # fmt: skip
    on_gpu = gpu_shuffled / gpu_sorted
    found = f"{core}, a GPU {three_digits(on_gpu)} times"
    if on_gpu <= pixels:
        return refuted(f"{found}.")
    if packing >= 1.2:
        return limits(f"{found}. {other[0].upper()}{other[1:]}, and was not timed on a GPU.")
    return holds(f"{found}; {other}.")
