"""Claims about what graphics cards were built for: pictures, and what a branch costs in them."""

from dataclasses import replace
from functools import partial

import numpy as np
from numba import cuda, njit

from gpulessons import units
from gpulessons.backends import gpu
from gpulessons.hardware.budget import repeated
from gpulessons.ops.activations import relu, relu_kernel
from gpulessons.ops.dense import dense, linear_kernel, sized, tiles
from gpulessons.ops.reduce import total
from gpulessons.ops.shade import LIMIT, one_pixel, shade, shade_kernel, shade_sorted
from gpulessons.ops.vertex_transform import vertex_kernel, vertex_transform
from gpulessons.units import percent, three_digits
from warplens import trace, tracing

from .claim import A_GPU, claim, holds, limits, refuted, untested, weakest
from .evidence import counted, missing, paired, ratio_of_calls
from .machines import BEST, from_memory, gpu_orders, shared

ROWS, COLUMNS = 30, 50
BLOCK = 256
POINTS = 1_024  # full blocks: idle lanes of a last one are no branch


def plane(rows=ROWS, columns=COLUMNS):
    """The pixels of a picture of the Mandelbrot set, row by row: x and y, (rows × columns,)."""
    grid = np.meshgrid(np.linspace(-2, 0.8, columns), np.linspace(1.1, -1.1, rows))
    return tuple(axis.ravel().astype(np.float32) for axis in grid)


# A card of 2004 in Python: it draws rectangles. And what CUDA says in its place.


class Card:
    """Textures to look up, and a screen: all that there was. It counts the look-ups."""

    looked_up = drawings = 0

    def look_up(self, texture, across, down):
        """The red of a texture at a place given from 0 to 1 in both directions."""
        self.looked_up += 1
        rows, columns = texture.shape
        return texture[int(down * rows), int(across * columns)]

    def draw(self, shader, rows, columns):
        """A rectangle that fills the screen. A shader knows its place, and cannot choose it."""
        self.drawings += 1
        screen = np.zeros((rows, columns), np.float32)
        for row, column in np.ndindex(rows, columns):
            screen[row, column] = shader((column + 0.5) / columns, (row + 0.5) / rows)
        return screen


def drawn_picture(x, y):
    """Turns of each pixel, by a rectangle drawn: x and y are painted into textures first."""
    card = Card()
    reds, greens = x.reshape(ROWS, COLUMNS), y.reshape(ROWS, COLUMNS)
    screen = card.draw(
        lambda *place: one_pixel(card.look_up(reds, *place), card.look_up(greens, *place)) / LIMIT,
        ROWS, COLUMNS,
    )  # fmt: skip
    return np.rint(LIMIT * screen.ravel()).astype(np.int32)


def drawn_sum(turns):
    """(their sum, the drawings it takes): no shader sees another's answer before the next one."""
    card, width = Card(), 1 << (turns.size - 1).bit_length()
    texture = np.zeros((1, width), np.float32)
    texture[0, : turns.size] = turns
    while (width := width // 2) > 0:
        source, quarter = texture, 0.25 / width  # from a pixel's middle to its two texels
        texture = card.draw(
            lambda across, down, source=source, quarter=quarter:
            card.look_up(source, across - quarter, down)
            + card.look_up(source, across + quarter, down),
            1, width,
        )  # fmt: skip
    return texture[0, 0], card.drawings


def drawn_histogram(turns):
    """(how many pixels took 0, 1, … turns; the look-ups): each bar looks at every pixel."""
    card, texture = Card(), turns.reshape(1, -1)
    middles = (np.arange(turns.size) + 0.5) / turns.size
    bars = card.draw(
        lambda across, down: sum(
            card.look_up(texture, place, 0.5) == int(across * (LIMIT + 1)) for place in middles),
        1, LIMIT + 1,
    )  # fmt: skip
    return bars.ravel(), card.looked_up


@cuda.jit
def histogram_kernel(turns, bars):
    i = cuda.grid(1)
    if i < turns.size:
        cuda.atomic.add(bars, turns[i], 1)  # a thread writes where it likes


def two_forms(given):
    """A picture, the sum of its turns and their histogram: drawn as rectangles, as a graphics card
    of 2004 would have to, and by CUDA kernels in the microscope. What differs between the two, and
    what each needs.
    """
    x, y = plane()
    turns, bars = np.zeros(x.size, np.int32), np.zeros(LIMIT + 1, np.int32)
    blocks = -(-x.size // BLOCK)
    pixels = trace(shade_kernel)[blocks, BLOCK](x, y, turns)
    counting = trace(histogram_kernel)[blocks, BLOCK](turns, bars)
    with tracing() as launches:
        (added,) = total.versions["CUDA, warp shuffles"](turns.astype(np.float32))
    (drawn_total, drawings), (drawn_bars, look_ups) = drawn_sum(turns), drawn_histogram(turns)
    reads = sum(site.accesses for site in counting.coalescing("turns").sites)
    wrong = np.count_nonzero(drawn_picture(x, y) != turns) + np.count_nonzero(drawn_bars != bars)
    return {
        "pixels": counted("pixels", x.size),
        "different": counted("numbers that differ", int(wrong + (drawn_total != added))),
        "drawings": counted("drawings for a sum", drawings),
        "launches": counted("launches of a kernel for it", len(launches)),
        "look_ups": counted(
            f"look-ups for a histogram, drawn over CUDA (each of its {LIMIT + 1} bars looks at "
            "every pixel: the card's own rule)", look_ups / reads, "×"),
        "spare": counted("threads beyond the picture", pixels.threads - x.size),
    }  # fmt: skip


@claim(
    5, "Before 2007 general computing on a GPU meant graphics programming; CUDA flattened that.",
    source="A", notebooks="03", measure=two_forms,
    changes="A picture that one of the two forms cannot make. What “meant” meant is a historian's "
    "question: languages such as Brook (2004) already hid the drawing.",
)  # fmt: skip
def drawing_and_computing(pixels, different, drawings, launches, look_ups, spare):
    if different:
        return refuted(f"Of a picture with {pixels:,} pixels, its sum and its histogram "
                       f"{different:,} numbers differ between the two forms: neither can stand for "
                       "the other.")  # fmt: skip
    same = (f"A picture of {pixels:,} pixels comes out the same, drawn as a rectangle or by a CUDA "
            "kernel")  # fmt: skip
    dear = (f"The sum of its turns takes {drawings} drawings or {launches} "
            f"launch{'es' * (launches != 1)}; their histogram, drawn, {three_digits(look_ups)} "
            "times the look-ups, for each bar looks at every pixel")  # fmt: skip
    flattened = drawings > launches or look_ups > 1
    return weakest(
        computing_meant_graphics=limits(
            f"{same}, which needs an index, and a guard for {spare} threads too many. So much a "
            "program shows; that there was no other way before 2007 it cannot."),
        CUDA_flattened_that=holds(f"{dear}.") if flattened
        else refuted(f"{dear}: nothing was flattened."),
    )  # fmt: skip


# One machine for both.


def corners_and_layers(given):
    """Corners times a matrix, by the kernel of a graphics card and by that of a layer: what
    differs. Operations for each byte; lanes at work in the warps of corners, activations and
    pixels; and what threads tell each other, counted. Bytes per second of corners and of ReLU, from
    memory.
    """
    points, matrix = vertex_transform.inputs(POINTS)
    pixels, blocks = plane(512, 768), 512 * 768 // BLOCK
    corners, as_layer = np.empty_like(points), np.empty_like(points[:, :3])
    turning = trace(vertex_kernel)[POINTS // BLOCK, BLOCK](points, matrix, corners)
    x, w, b = points[:, :3].copy(), matrix[:3, :3].copy(), matrix[:3, 3].copy()
    trace(linear_kernel)[tiles(*as_layer.shape)](x, w, b, as_layer)
    values = relu.inputs(8_192)[0]
    activation = trace(relu_kernel)[32, BLOCK](values, np.empty_like(values))
    coloring = trace(shade_kernel, blocks=range(0, blocks, 16))[blocks, BLOCK](
        *pixels, np.zeros(pixels[0].size, np.int32))  # fmt: skip
    kernels = turning, activation, coloring
    return {
        "different": counted(
            "coordinates that differ, corners against a layer",
            int(np.count_nonzero(np.abs(corners[:, :3] - as_layer) > 1e-5))),
        "corners": per_byte("corners", vertex_transform, POINTS),
        "layer": per_byte("a layer of 4 units", dense.like(sized(4, 4)), POINTS),
        "wide": per_byte("512 units, 512 examples", dense.like(sized(512, 512)), 512),
        "lanes": counted("lanes at work, corners and activations",
                         min(each.divergence().efficiency for each in kernels[:2]), "%"),
        "picture": counted("lanes at work, pixels as they lie",
                           coloring.divergence().efficiency, "%"),
        "talk": counted("accesses to what threads share", sum(map(shared, kernels))),
        "moved_corners": from_memory("corners from memory", vertex_transform, *BEST, size=2**20),
        "moved_numbers": from_memory("ReLU from memory, every core", relu, *BEST),
    }  # fmt: skip


def per_byte(what, op, size):
    inputs = op.inputs(size)
    return counted(f"operations for each byte, {what}", op.flops(*inputs) / op.bytes(*inputs))


@claim(
    10, "Graphics and networks want the same machine: matrices times many vertices, a little "
    "arithmetic per pixel, hardly a branch.", source="B", notebooks="03",
    measure=corners_and_layers,
    changes="Pixels whose neighbors branch otherwise: a picture pays for each warp that disagrees. "
    "A layer as wide as a matrix for corners: then both would wait for the same. And tensor cores, "
    "where a training GPU of today has most of its FLOP/s: they want a layer's product alone.",
)  # fmt: skip
def one_machine(different, corners, layer, wide, lanes, picture, talk, moved_corners=None,
                moved_numbers=None):  # fmt: skip
    return weakest(
        matrices_times_vertices=same_product(
            different, corners, layer, wide, moved_corners, moved_numbers),
        hardly_a_branch=each_on_its_own(lanes, picture, talk),
    )  # fmt: skip


def same_product(different, corners, layer, wide, moved_corners, moved_numbers):
    if different:
        return refuted(f"{different:,} coordinates differ between corners and a layer: they are "
                       "not the same product.")  # fmt: skip
    found = "Corners times a matrix are a layer's outputs"
    if moved_corners and moved_numbers:
        found += (f". From memory the CPU moves {units.rate(moved_corners, 'B/s')} for corners, "
                  f"{units.rate(moved_numbers, 'B/s')} for ReLU")  # fmt: skip
    if wide > 4 * corners:
        return limits(
            f"{found}. But where corners ask for {three_digits(corners)} operations a byte and a "
            f"layer of 4 units for {three_digits(layer)}, one of 512 asks for {three_digits(wide)}."
        )
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
    kept = 0
    for i in range(x.size):
        if x[i] > 0:
            room[kept] = x[i]
            kept += 1
    return kept


@njit
def pack_all(x, room):
    """The same without a branch: what does not stay is written, and overwritten by the next."""
    kept = 0
    for i in range(x.size):
        room[kept] = x[i]
        kept += x[i] > 0
    return kept


@cuda.jit
def pack_kernel(x, out, kept):
    i = cuda.grid(1)
    if x[i] > 0:
        place = cuda.atomic.add(kept, 0, 1)
        out[place] = x[i]


def branches(given):
    """Mandelbrot pixels in no order against the same pixels sorted by the turns that they take, and
    numbers above zero packed out of numbers in no order against sorted ones: time on a CPU core,
    one pixel or number after the other (packing with a branch, and written without one), steps of a
    warp's 32 lanes counted, and time on a GPU (recordings have the pixels only).
    """
    pixels = steps_of(shade_kernel, shade), steps_of(shade_kernel, shade_sorted)
    numbers = np.random.default_rng(0).standard_normal(2**16, np.float32)
    in_order = np.sort(numbers)
    packing = packing_steps(numbers), packing_steps(in_order)
    return {
        "pixels": ratio_of_calls("pixels, shuffled over sorted, time on a core", core_calls()),
        "pixel_steps": counted("pixels, the same, steps of a warp", pixels[0] / pixels[1], "×"),
        "packing": ratio_of_calls("packing, shuffled over sorted, time on a core",
                                  packing_calls(pack, numbers, in_order)),
        "packing_free": ratio_of_calls("the same without a branch, time on a core",
                                       packing_calls(pack_all, numbers, in_order)),
        "packing_steps": counted(
            "packing, the same, steps of a warp", packing[0] / packing[1], "×"),
        **gpu_orders(given),
        "gpu_packing": packing_on_gpu(),
    }  # fmt: skip


def core_calls(size=30_000):
    """One core on shuffled pixels and on the same ones sorted."""
    loop, out = shade.versions["Numba, one core"].function, np.empty(size, np.int32)
    orders = {"shuffled": shade.inputs(size), "sorted": shade_sorted.inputs(size)}
    return {name: partial(loop, *order, out) for name, order in orders.items()}


def packing_calls(loop, numbers, in_order):
    """One core that packs numbers by this loop, in both orders."""
    room = np.empty_like(numbers)
    return {"shuffled": partial(loop, numbers, room), "sorted": partial(loop, in_order, room)}


def steps_of(kernel, op, size=8_192):
    x, y = op.inputs(size)
    return warp_steps(trace(kernel)[size // BLOCK, BLOCK](x, y, np.zeros(size, np.int32)))


def packing_steps(x):
    kept = np.zeros(1, np.int32)
    return warp_steps(trace(pack_kernel)[x.size // BLOCK, BLOCK](x, np.empty_like(x), kept))


def packing_on_gpu(size=2**24, rounds=10):
    """The same packing on a GPU, by events in its stream."""
    what = "packing, shuffled over sorted, time on a GPU"
    if gpu.why_not():
        return missing(what, "no GPU", A_GPU)
    numbers = np.random.default_rng(0).standard_normal(size, np.float32)
    orders, room = (gpu.put(numbers), gpu.put(np.sort(numbers))), gpu.put(numbers)
    zero = np.zeros(1, np.int32)
    kept, took = gpu.put(zero), [[], []]
    for turn in range(1 + repeated(rounds)):  # the first is not counted: it compiles
        for x, times in zip(orders, took, strict=True):
            gpu.write(kept, zero)
            began = gpu.mark()
            pack_kernel[size // BLOCK, BLOCK](x, room, kept)
            seconds = gpu.elapsed(began, gpu.mark())
            if turn:
                times.append(seconds)
    return replace(paired(what, *took), of_gpu=True)


def warp_steps(traced):
    """Straight runs of code that the warps took, their lanes at work or waiting."""
    return sum(run.slots for run in traced.divergence().code) / 32


@claim(
    11, "Branching costs a GPU more than a CPU.", source="BD", notebooks="03", measure=branches,
    changes="Data whose neighbors branch alike: then a warp does not part. A branch that a CPU "
    "guesses wrong and that cannot be written away. And a CPU loop that runs a pixel in each lane "
    "of its vectors, under masks: it pays as a warp does.", about_gpus=True,
)  # fmt: skip
def branching_costs_more(pixels, pixel_steps, packing, packing_steps, packing_free=None,
                         gpu_shuffled=None, gpu_sorted=None, gpu_packing=None):  # fmt: skip
    core = (f"Pixels in no order take a core, one after the other, {three_digits(pixels)} times as "
            "long as sorted ones")  # fmt: skip
    other = (f"packing numbers in no order takes a core {three_digits(packing)} times as long as "
             "in order")  # fmt: skip
    if packing_free:
        other += f" with a branch, and {three_digits(packing_free)} times without"
    if not (gpu_shuffled and gpu_sorted):
        end = "On a GPU only packing was timed" if gpu_packing else "No GPU was timed"
        return untested(
            f"{core}, and a warp's 32 lanes together {three_digits(pixel_steps)} times as many "
            f"steps; {other}, and a warp {three_digits(packing_steps)} times as many steps. {end}."
        )
    on_gpu = gpu_shuffled / gpu_sorted
    found = f"{core}, a GPU {three_digits(on_gpu)} times"
    if on_gpu <= pixels:
        return refuted(f"{found}.")
    if gpu_packing is None and packing >= 1.2:
        return limits(f"{found}. {other[0].upper()}{other[1:]}, and was not timed on a GPU.")
    if gpu_packing is None:
        return holds(f"{found}; {other}.")
    both = f"{other}, a GPU {three_digits(gpu_packing)} times"
    if gpu_packing < packing:
        return limits(f"{found}. But {both}: a wrong guess can cost more than a warp that parts, "
                      "as long as the branch is there.")  # fmt: skip
    return holds(f"{found}; {both}.")
