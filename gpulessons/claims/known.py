"""What is known of a statement whatever machine this is: counted, published, bounded.

A function for each statement that has such figures, by its name. What sets a count beside a time of
this machine is handed over by the notebook.
"""

import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from numba import cuda

from gpulessons.backends import gpu
from gpulessons.evidence import Published, published
from gpulessons.ops.activations import relu
from gpulessons.ops.dense import dense, sized
from gpulessons.ops.reduce import total
from gpulessons.ops.shade import LIMIT, shade_kernel
from gpulessons.ops.tree_softmax import tree_softmax
from gpulessons.ops.tree_update import tree_update, tree_update_cuda
from warplens import Trace, trace, tracing
from warplens.code.cuda import CannotCompile, assembly
from warplens.model.devices import sheet
from warplens.report.search import joined, memory_of

from .judge import Figure

EVIDENCE: dict[str, Callable[[], Iterator[Figure]]] = {}
BLOCK = 256
YEAR = 365 * 24 * 3600  # seconds
LARGE = 2 * 7000 * 4096**2  # FLOPs of large()


@cache
def evidence(name: str) -> tuple[Figure, ...]:
    """The figures about a statement that no machine of the reader's changes."""
    return tuple(EVIDENCE[name]()) if name in EVIDENCE else ()


def about(*names: str) -> Callable:
    def register(function: Callable[[], Iterator[Figure]]) -> Callable[[], Iterator[Figure]]:
        EVIDENCE.update(dict.fromkeys(names, function))
        return function

    return register


def counted(what: str, value: float) -> Figure:
    """A count of the microscope's, or of operations and bytes: exact, and no time."""
    return Figure(what, "counted", value, value)


def cited(what: str, value: float, *rows: Published) -> Figure:
    """Of the first row's author, with what was set beside it."""
    return Figure(what, "published", value, value, together(*rows))


def as_printed(what: str, row: Published) -> Figure:
    """A figure as it stands there: one that is at most so much, or at least, has one end."""
    return Figure(what, "published", *row.ends, row.citation)


def of_two(what: str, value: float, *rows: Published) -> Figure:
    """Two figures of different origin put together: nobody measured that."""
    return Figure(what, "modelled", value, value, together(*rows))


def together(*rows: Published) -> str:
    return "; ".join(dict.fromkeys(row.citation for row in rows))


def one(subject: str, **where: Any) -> Published:
    """The first published figure of this kind."""
    return published(subject, **where)[0]


def large(device: str, dtype: str = "float32") -> Published:
    """The largest dense layer of DeepBench."""
    return one("dense", device=device, dtype=dtype, batch=7000, inputs=4096, outputs=4096)


# Activations


@about("1a")
def threads_on_their_own() -> Iterator[Figure]:
    with tracing() as launches:
        relu.versions["CUDA, a thread per element"](relu.inputs(8_192)[0])
    yield counted("ReLU, a thread per element", own_share(launches[0]))


def own_share(traced: Trace) -> float:
    """Of a kernel's accesses to memory, those to elements that no other thread touches. Shared
    memory is there for others; constant and local memory are not counted."""
    sites = {site: log for site, log in traced.launch.log.sites.items()
             if site.array.space == "global"}  # fmt: skip
    memory = memory_of([*sites])
    each = np.concatenate([joined(log, memory, site) for site, log in sites.items()])
    cells, threads = np.unique(np.unique(each[["cell", "block", "thread"]])["cell"],
                               return_counts=True)  # fmt: skip
    alone = np.isin(each["cell"], cells[threads == 1]).sum()
    return float(alone) / (len(each) + sum(site.accesses for site in traced.select("shared")))


# Warps and branches


@cuda.jit
def two_ways(roots, x, out):
    i = cuda.grid(1)
    if roots[i]:
        out[i] = math.sqrt(x[i])
    else:
        out[i] = x[i] * x[i]


# CPUs and GPUs


@about("4b")
def large_products() -> Iterator[Figure]:
    """A large dense layer; and kernels of many kinds. Both sides compute in the same format."""
    cpu = large("Xeon Phi 7250F")
    for device in ("Titan X", "P100", "T4", "V100"):
        card = large(device)
        yield cited(f"dense layer, 7,000 examples, 68-core Xeon Phi, {device}",
                    cpu.value / card.value, card)  # fmt: skip
    gap = one("throughput computing")
    yield as_printed("many kernels on average, 4-core i7-960, GTX 280", gap)


@about("4c")
def whole_against_whole() -> Iterator[Figure]:
    """What was published of products, by tensor cores too, and of networks by the best library."""
    yield from large_products()
    cpu = large("Xeon Phi 7250F")
    for device in ("T4", "V100"):
        card = large(device, "float16")
        yield cited(f"dense layer, 7,000 examples, 68-core Xeon Phi, {device} in float16",
                    cpu.value / card.value, card)  # fmt: skip
    yield from (each for each in networks_of_a_framework() if "cuDNN" in each.what)


def networks_of_a_framework() -> Iterator[Figure]:
    for name in ("VGG-16", "ResNet-50"):
        rows = [row for row in published("networks") if row.what.startswith(name)]
        cpu = next(row for row in rows if row.device == "2 × Xeon E5-2630 v3")
        for row in (row for row in rows if row.device in ("GTX 1080", "GTX 1080 Ti")):
            kernels = row.what.partition("Torch, ")[2].partition(":")[0].replace("its", "Torch's")
            yield cited(f"{name} by {kernels}, 2 Xeons of 8 cores, {row.device}",
                        cpu.value / row.value, row)  # fmt: skip


@about("6a")
def networks_of_two_frameworks() -> Iterator[Figure]:
    """Torch; and TensorFlow, on a layer of many classes: two speed-ups of one program over it."""
    yield from networks_of_a_framework()
    on_gpu, on_cpu = (one("hashing", what=f"G-SLIDE: speed-up over TensorFlow on the {where}")
                      for where in ("GPU", "CPU"))  # fmt: skip
    yield cited(f"TensorFlow, a CPU and an {on_gpu.device}", on_cpu.value / on_gpu.value, on_cpu)


@about("26b")
def one_card_or_the_other() -> Iterator[Figure]:
    """An RTX 3090 in place of a 4090 for arithmetic, and a 4090 in place of a 3090 for bytes."""
    old, new = "RTX 3090", "RTX 4090"
    price = {device: one("price", device=device).value for device in (old, new)}
    flops = {device: price[device] / sheet(device).peaks["float32"] for device in price}
    nbytes = {device: price[device] / sheet(device).memory for device in price}
    for wrong, right, cost, unit in ((old, new, flops, "FLOP/s"), (new, old, nbytes, "bytes/s")):
        yield cited(f"an {wrong} for {unit}", cost[wrong] / cost[right],
                    one("price", device=wrong))  # fmt: skip


@about("2a")
def price_of_a_flop() -> Iterator[Figure]:
    """A desktop's Zen 4 cores, each as fast as a laptop's was: a mix of FMAs and sums, and FMAs."""
    cpu = one("price", device="Ryzen 9 7950X")
    core, fmas = (one("peak", what=f"{what}: one core")
                  for what in ("FMAs and sums in registers", "FMAs in registers"))
    fast, slow = (cpu.value / cpu.sizes["cores"] / each.value for each in (core, fmas))
    for device in ("RTX 3090", "RTX 4090"):
        card = one("price", device=device)
        cost = card.value / sheet(device).peaks["float32"]
        yield Figure(f"{cpu.device}, by what such cores reach, over {device}, by its data sheet",
                     "published", fast / cost, slow / cost, together(card, cpu, core))


@about("9b")
def a_year_of_training() -> Iterator[Figure]:
    """Models of 2020 and 2024 at most, on a consumer card of 2025; and one of 2012, as it was."""
    card = sheet("RTX 5090")
    for model in (one("training", what=name) for name in ("GPT-3", "Llama 3 405B")):
        yield Figure(f"{model.what}, one {card.name} at its peak in bfloat16", "bounded",
                     -math.inf, YEAR * card.peaks["bfloat16"] / model.value,
                     f"its data sheet; {model.source.title}")  # fmt: skip
    led = one("training", what="AlexNet")
    yield cited(f"{led.what} in 2012, {led.sizes['cards']} × {led.device}", YEAR / led.value, led)


@about("20a")
def rates_over_cores() -> Iterator[Figure]:
    """The K80's rate for each of its cores, and of its 26 multiprocessors, over a Zen 4 core's."""
    board = sheet("K80 board")
    core = one("peak", what="FMAs and sums in registers: one core")
    for what, count in (("by 4,992 cores, as its box counts them", 26 * 192),
                        ("by its 26 multiprocessors, which have a program of their own", 26)):
        ratio = board.peaks["float32"] / count / core.value
        yield of_two(what, min(ratio, 1 / ratio), core)


@about("20c")
def as_many_cores() -> Iterator[Figure]:
    board, cpu = one("price", device="K80"), one("price", device="Ryzen 9 7950X")
    n = board.sizes["cores"] / cpu.sizes["cores"]
    yield cited(f"{n:.0f} of {cpu.device}, eight years later", n * cpu.value / board.value, cpu)


# Graphics and computing


@about("5a")
def drawings_over_launches() -> Iterator[Figure]:
    x = np.ones(1_500, np.float32)
    with tracing() as launches:
        total.versions["CUDA, warp shuffles"](x)
    drawings = (x.size - 1).bit_length()  # each halves what is left
    yield counted(f"a sum of {x.size:,} numbers", drawings / len(launches))
    yield counted("their histogram, each bar of which looks at every pixel", LIMIT + 1)


@about("10b")
def intensities() -> Iterator[Figure]:
    layer = dense.like(sized(512, 512))
    corner = (16 + 12) / (4 * (4 + 4))  # a matrix's products and sums; a point read and written
    layers = [layer.flops(*(x := layer.inputs(n))) / layer.bytes(*x) for n in (512, 1)]
    for examples, each in zip(("512 examples", "one example"), layers, strict=True):
        yield counted(f"corners beside a layer of 512 units for {examples}",
                      min(corner, each) / max(corner, each))  # fmt: skip


@about("10c")
def lanes_at_work() -> Iterator[Figure]:
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
    """16 bytes a parameter under Adam; and what ResNet-56's 55 convolutions leave for the way back,
    of 128 pictures: 19 of them 16 × 32 × 32 numbers each, 18 half as many, 18 a quarter."""
    cpu, alexnet = one("price", device="Core i7-6700K"), one("training", what="AlexNet")
    activations = 4 * 128 * 16 * 32 * 32 * (19 + 18 / 2 + 18 / 4)
    needed = {"ResNet-56, 128 pictures": 16 * 853_018 + activations,
              "AlexNet, without activations": 16 * alexnet.sizes["parameters"]}  # fmt: skip
    for network, nbytes in needed.items():
        yield of_two(f"{network}, over a {cpu.device}'s cache", nbytes / cpu.sizes["cache"], cpu,
                     *[alexnet] * ("AlexNet" in network))


@about("12b")
def memory_in_a_training_step() -> Iterator[Figure]:
    row = one("transformer training", device="V100")
    yield as_printed(row.what, row)


# Sums, chains, many devices


@about("16a")
def eight_cards_on_one_example(width: int = 16_384) -> Iterator[Figure]:
    sum_of_eight = one("all-reduce", source="ml_engineering_nccl", bytes=2 * width)
    read = 2 * 8 * width**2 / sheet("H200").memory  # an MLP's weights in 16 bits, once
    sent = 2 * 7 / 8 * 2 * width / sum_of_eight.value  # its rate is as of a ring
    yield of_two(f"one example through an MLP {width:,} wide, eight H200 over one",
                 read / (read / 8 + sent), sum_of_eight)  # fmt: skip


@about("14a")
def no_loss_of_accuracy() -> Iterator[Figure]:
    row = one("data parallel", batch=8192, unit="×")
    yield as_printed(row.what, row)


@about("18a")
def additions_in_rounds() -> Iterator[Figure]:
    products = 3 * 3 * 64  # of an output: a filter of ResNet's
    rounds = (products - 1).bit_length()
    yield counted(f"of one output: {products} products in pairs, {rounds} rounds", 1 / rounds)
    yield counted("of different outputs", 1.0)


@about("19b")
def steps_of_a_v100() -> Iterator[Figure]:
    """The recurrent products of 25 steps, beside the rate of the card's largest dense layer."""
    dense_rate = LARGE / large("V100").value
    for units in (512, 4096):
        row = one("lstm", what="cuDNN: forward", device="V100", hidden=units, batch=16, steps=25)
        at_once = 25 * 2 * 16 * units * 4 * units / dense_rate
        yield cited(f"cuDNN, {units:,} units, 16 sequences, over the rate of a large product",
                    row.value / at_once, row)  # fmt: skip


@about("25a")
def gradients_over_a_bus() -> Iterator[Figure]:
    """A step on a card of the same kind; AlexNet's gradients are about as many as were sent."""
    for what, device, floats in (("AlexNet, CuDNN[R4]-fp32 (Torch)", "Titan X", 64.5e6),
                                 ("ResNet-50, Torch, cuDNN 5.1.05", "Titan X Pascal", 25.557e6)):
        step = one("networks", device=device, what=f"{what}: forward and backward")
        for row in published("all-reduce", device=device, floats=64_500_000):
            yield of_two(f"{what.partition(',')[0]} by {row.sizes['cards']} {device} over PCIe, "
                         "nothing hidden", 1 + floats / 64.5e6 * row.value / step.value, step, row)


# Trees


@about("22a")
def a_softmax_for_nothing() -> Iterator[Figure]:
    """A model's step, were the layer free that a tree would replace: its share of the weights."""
    model = one("training", what="Llama 3 405B")
    layer = model.sizes["vocabulary"] * model.sizes["width"] / model.sizes["parameters"]
    yield Figure(f"all of {model.what}, if its tree took no time", "bounded", -math.inf,
                 1 / (1 - layer), model.citation)  # fmt: skip


@about("22b")
def hash_tables_on_a_cpu() -> Iterator[Figure]:
    """Hash tables on a CPU, every weight on a GPU. "More than", say the papers: one end each."""
    v100 = one("hashing", what="SLIDE: speed-up over TensorFlow on a V100")
    yield as_printed("SLIDE on 44 cores beside TensorFlow on a V100", v100)
    over_slide, over_gpu = (one("hashing", what=f"G-SLIDE: speed-up over {other}") for other in
                            ("SLIDE on a CPU of 32 cores", "TensorFlow on the GPU"))  # fmt: skip
    yield Figure(f"SLIDE on 32 cores beside TensorFlow on an {over_gpu.device}", "published",
                 -math.inf, over_gpu.value / over_slide.value, over_gpu.citation)  # fmt: skip


@about("21c")
def faults_of_a_trees_kernels() -> Iterator[Figure]:
    """Every kernel that walks the tree or changes it, run thread by thread, and compiled where
    NVIDIA's compiler is: a machine without one says nothing against a kernel."""
    h, labels, w, starts, nodes, *_ = inputs = tree_softmax.inputs(1_000)
    expected = tree_softmax.reference(*inputs)
    slopes, learned = expected[2].astype(np.float32), w.copy()
    tree_update(learned, h, labels, slopes, starts, nodes, 0.1)
    walks = [each for each in tree_softmax.versions.values() if each.backend is gpu]
    x = np.ones(32, np.float32)
    compiler = compiles(trace(two_ways)[1, 32](x, x, x.copy()))
    faults = []
    for walk in walks:
        with tracing() as seen:
            found = tuple(map(gpu.get, walk(*map(gpu.put, inputs))))
        faults += [faulty(seen, tree_softmax.error(found, expected), compiler)]
    with tracing() as seen:
        arrays = [*map(gpu.put, (w, h, labels, slopes, starts, nodes)), 0.1]
        tree_update_cuda(*arrays)
    faults += [faulty(seen, float(np.abs(gpu.get(arrays[0]) - learned).max()), compiler)]
    by = "and by NVIDIA's compiler" if compiler else "and no compiler is here"
    yield counted(f"{len(faults)} kernels, in the microscope {by}", sum(faults) / len(faults))


def faulty(launches: list[Trace], error: float, compiler: bool) -> bool:
    """Whether a kernel is wrong, races, or is refused by the compiler, if there is one."""
    return error > tree_softmax.rtol or any(
        each.races().cells or (compiler and not compiles(each)) for each in launches
    )


def compiles(traced: Trace) -> bool:
    """Whether a launch's kernel becomes a Hopper's machine code here."""
    launch = traced.launch
    try:
        return bool(assembly(launch.function, *launch.arguments, capability=(9, 0)))
    except CannotCompile:
        return False


@about("24a")
def how_near_libraries_come() -> Iterator[Figure]:
    """A kernel over one that fetches less; a library's over its arithmetic alone, at the peak."""
    along, tiled = (one("matmul", device="RTX A6000", what=what)
                    for what in ("GMEM Coalescing", "2D Blocktiling"))  # fmt: skip
    yield cited(f"on an {along.device}, neighbors side by side over tiles in registers",
                tiled.value / along.value, along)  # fmt: skip
    for dtype in ("float32", "float16"):
        row, at_best = large("V100", dtype), LARGE / sheet("V100").peaks[dtype]
        yield cited(f"cuBLAS over a V100's peak in {dtype}", row.value / at_best, row)
    row, peak = one("matmul", device="A100 SXM"), sheet("A100 80 GB").peaks["bfloat16"]
    yield cited("cuBLAS over an A100's peak in bfloat16", peak / row.value, row)
