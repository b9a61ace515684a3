"""Claims of the first part: parallel machines, and what they cost."""

import math
from functools import cache, partial
from statistics import median

import numpy as np
from numba import cuda, njit

from gpulessons import units
from gpulessons.hardware import cores, machine
from gpulessons.hardware.budget import repeated
from gpulessons.measure.results import quartiles
from gpulessons.ops.activations import relu, relu_kernel
from gpulessons.ops.activations_more import vector_sigmoid
from gpulessons.ops.matmul import matmul
from gpulessons.ops.optimizer_step import adam_step
from gpulessons.ops.shade import shade, shade_sorted
from gpulessons.units import percent, some, three_digits
from warplens import trace

from .at_once import STILL, again, how_often, kept_busy, lasting, together, work
from .claim import A_SECOND_CORE, QUIET, claim, holds, limits, refuted, untested, weakest
from .evidence import (
    compared,
    counted,
    from_gpu,
    gpu_over_cpu,
    live,
    missing,
    published,
    ratio_of_calls,
    timed,
)

SERIAL, PARALLEL = "Numba, one core", "Numba, every core"
BEST = PARALLEL, "PyTorch on CPU"
ON_GPU = "CUDA, a thread per pixel"


# An activation, dealt out.


@njit(nogil=True, error_model="numpy", fastmath={"contract"})
def sigmoids(x, out):
    for i in range(x.size):
        out[i] = vector_sigmoid(x[i])


def dealt_activation(given):
    """What the threads of an activation's kernel tell each other, counted. A sigmoid over numbers
    that a cache holds: one core's share while the others rest, then a share on every core at the
    same time, by the threads' own clocks. ReLU over numbers fetched from memory, on one core and on
    every core: bytes per second.
    """
    values = np.ones(8_192, np.float32)
    activation = trace(relu_kernel)[32, 256](values, np.empty_like(values))
    return {
        "talk": counted("accesses to what threads share", shared(activation)),
        "cores": counted("cores", cores()),
        **dealt_sigmoids(),
        "relu": from_memory("ReLU from memory, one core", relu, SERIAL),
        "relu_dealt": from_memory("ReLU from memory, every core", relu, *BEST),
    }


def dealt_sigmoids(rounds=8):
    """How many times as fast sigmoids are on every core as on one, and how many were at work."""
    x = np.linspace(-8, 8, 2**17, dtype=np.float32)
    outs = [np.empty_like(x) for _ in range(cores())]
    sigmoids(x, outs[0])  # compiles
    times = how_often(partial(sigmoids, x, outs[0]))
    shares = [partial(again, times, partial(sigmoids, x, out)) for out in outs]
    gains, busy = [], []
    for _ in range(repeated(rounds)):
        alone = work(shares[0])
        worked, passed = together(shares)
        if alone and all(worked):
            gains.append(cores() * alone / max(worked))
            busy.append(sum(worked) / passed)
    gain, at_once = "a sigmoid dealt out to them, over one core", "cores that were at work at once"
    return {
        "sigmoid": live(gain, median(gains), "×", quartiles(gains)) if gains
        else missing(gain, STILL),
        "busy": live(at_once, max(busy)) if busy else missing(at_once, STILL),
    }  # fmt: skip


def shared(traced):
    """Accesses by which one thread could tell another something: shared memory and atomics."""
    sites = traced.select("shared") + traced.select("global", access="atomic")
    return sum(site.accesses for site in sites)


def from_memory(what, op, *versions, size=2**22):
    """Bytes per second of the best of these versions, over numbers that no cache holds."""
    try:
        return live(what, memory_speed(op, *versions, size=size), "B/s")
    except LookupError as why:
        return missing(what, *why.args)


@cache  # several claims ask: they are to get the same answer
def memory_speed(op, *versions, size):
    """The same in its quickest pass, as ceilings are measured: others on the machine only lengthen
    one. LookupError, with its reason and what is lacking, where nothing can be said."""
    best = (found := compared(op, size, versions, cold=True)).best()
    if best is None:
        raise LookupError(found.absent[0].why)
    if best.noise == "too noisy":
        raise LookupError("the machine was too noisy", QUIET)
    return best.bytes / min(best.samples)


@claim(
    1, "An activation over a layer is embarrassingly parallel: it needs more processors, not "
    "faster ones.", source="A", notebooks="02", measure=dealt_activation,
    changes="More cores for the same memory: an activation whose numbers no cache holds stops "
    "gaining once the memory is busy.",
)  # fmt: skip
def more_processors_help(talk, cores, sigmoid, busy, relu=None, relu_dealt=None):
    if talk:
        alone = refuted(f"Threads share {talk:,} accesses: they are not each on their own.")
    else:
        alone = holds("No thread needs another, by count.")
    return weakest(
        embarrassingly_parallel=alone,
        more_processors=dealt_out(cores, sigmoid, busy, relu, relu_dealt),
    )


ENOUGH_CORES = 8  # fewer are fed by most memories, and cannot show where memory stops an activation


def dealt_out(cores, sigmoid, busy, relu, relu_dealt):
    if cores == 1:
        return untested("The process had one core.", A_SECOND_CORE)
    found = (f"Dealt out to {cores} cores, a sigmoid in a cache is {three_digits(sigmoid)} times "
             "as fast as on one")  # fmt: skip
    if sigmoid < 1 + 0.2 * (cores - 1):
        return refuted(f"{found}: more processors hardly help.")
    if busy < 1 + 0.4 * (cores - 1):
        return untested(f"{found} by each core's own clock, but others had the cores: at most "
                        f"{three_digits(busy)} were at work at once.", QUIET)  # fmt: skip
    if sigmoid < 0.7 * cores:
        return limits(f"{found}: they help, and some of each is lost.")
    if not (relu and relu_dealt):
        return limits(f"{found}. From memory nothing could be timed.")
    gain = relu_dealt / relu
    found += (f", and ReLU from memory {three_digits(gain)} times "
              f"({units.rate(relu, 'B/s')} on one, {units.rate(relu_dealt, 'B/s')} on all)"
              )  # fmt: skip
    if gain < 0.7 * cores:  # the same share as of a sigmoid
        return limits(f"{found}: memory does not feed them all.")
    if cores < ENOUGH_CORES:
        return limits(f"{found}. So few cores cannot show where memory stops them.")
    return holds(f"{found}.")


# Flynn's classes.


@njit(nogil=True)
def hailstone(limit):  # the longest way down to 1: halve what is even, else 3 n + 1
    longest = 0
    for n in range(1, limit):
        steps = 0
        while n != 1:
            n, steps = (n // 2 if n % 2 == 0 else 3 * n + 1), steps + 1
        longest = max(longest, steps)
    return longest


@njit(nogil=True)
def darts(thrown):  # pi: the share that hits a quarter circle in a square, times four
    hits = 0
    for _ in range(thrown):
        hits += np.random.random() ** 2 + np.random.random() ** 2 < 1
    return 4 * hits / thrown


@cuda.jit
def two_ways(roots, x, out):
    i = cuda.grid(1)
    if roots[i]:
        out[i] = math.sqrt(x[i])
    else:
        out[i] = x[i] * x[i]


def flynn(given):
    """Two different programs in two threads, and two copies of one: how many run at once, by the
    threads' own clocks. The sides of a branch that a warp takes, counted; and pixels on a GPU, with
    lanes that take unequally long in one warp, and in different warps.
    """
    for program in (hailstone, darts):
        program(10)  # compiles
    one, other = lasting(partial(hailstone, 20_000)), lasting(partial(darts, 100_000))
    lane = np.arange(64)
    return {
        "alike": kept_busy("copies of one program that ran at once", [one, one]),
        "different": kept_busy("different programs that ran at once", [one, other]),
        "disagree": counted("sides taken by a warp whose lanes disagree", sides(lane % 2)),
        "agree": counted("sides taken by a warp whose lanes agree", sides(lane // 32)),
        **gpu_orders(given),
    }  # fmt: skip


def sides(roots):
    """Sides of its branch that a warp of two_ways takes, on average."""
    x = np.ones(roots.size, np.float32)
    (branch,) = trace(two_ways)[1, roots.size](roots, x, np.empty_like(x)).divergence().branches
    return 1 + branch.divergent / branch.instances


def gpu_orders(given):
    """Seconds of a GPU for the same pixels, in no order and sorted by the turns they take."""
    named = {"gpu_shuffled": ("pixels in no order on a GPU", shade),
             "gpu_sorted": ("the same pixels, sorted, on a GPU", shade_sorted)}  # fmt: skip
    return {
        name: from_gpu(given, what, op, gpu_time, unit="s", size=2**17, versions=[ON_GPU])
        for name, (what, op) in named.items()
    }


def gpu_time(comparison):
    return timed(comparison, ON_GPU).median


@claim(
    3, "Flynn's four classes: a multi-core CPU is MIMD, a GPU is SIMD (today: SIMT).", source="A",
    notebooks="01", measure=flynn,
    changes="A GPU on which pixels that take unequally long cost a warp nothing: its lanes would "
    "be cores.", about_gpus=True,
)  # fmt: skip
def classes(alike, different, disagree, agree, gpu_shuffled=None, gpu_sorted=None):
    return weakest(
        a_CPU_is_MIMD=of_a_cpu(alike, different),
        a_GPU_is_SIMT=of_a_gpu(disagree, agree, gpu_shuffled, gpu_sorted),
    )


def of_a_cpu(alike, different):
    if different >= 1.2:
        return holds(f"Two different programs kept {three_digits(different)} cores busy at once.")
    if alike >= 1.5:
        return refuted(f"Two copies of one program kept {three_digits(alike)} cores busy at once, "
                       f"two different programs {three_digits(different)}.")  # fmt: skip
    return untested(f"Two programs kept at most {three_digits(max(alike, different))} cores busy "
                    "at once: no two were free to tell.", QUIET)  # fmt: skip


def of_a_gpu(disagree, agree, gpu_shuffled, gpu_sorted):
    if not (gpu_shuffled and gpu_sorted):
        return untested(f"By count a warp takes {three_digits(disagree)} sides of a branch where "
                        f"its lanes disagree, {three_digits(agree)} where they agree. No GPU was "
                        "timed.")  # fmt: skip
    wait = gpu_shuffled / gpu_sorted
    found = f"The same pixels take {three_digits(wait)} times as long where lanes disagree"
    if wait < 1.2:
        return refuted(f"{found}: they do not wait for each other.")
    return holds(f"{found}. One instruction for a warp, another for the next.")


# Latency and throughput.


def latency_and_throughput(given):
    """A product of 1,024 rows and columns on this CPU. On a GPU: how much longer a small ReLU takes
    than on the CPU beside it, and how much less time a large product of float32 numbers that are
    there.
    """
    product = compared(matmul, 1024, ["NumPy", "PyTorch on CPU"]).best()
    on_both = ["NumPy", SERIAL, "CUDA, a thread per element", "PyTorch on GPU"]
    products = ["NumPy", "PyTorch on CPU", "CUDA, vectorized loads", "PyTorch on GPU"]
    return {
        "product": live("a product on the CPU", product.flop_rate, "FLOP/s") if product
        else missing("a product on the CPU", "none was timed"),
        "theirs": published("a product on an H200", 30.4e12, "FLOP/s",
                            "NVIDIA/warp issue 1965: a kernel in Warp, fp32, 2048³"),
        "gpu_price": from_gpu(given, "a small ReLU, the GPU's wait over the CPU's", relu,
                              price_of_a_call, size=[1_000, 100_000], versions=on_both),
        "gpu_gain": from_gpu(given, "a large product, the CPU's time over the GPU's", matmul,
                             gpu_over_cpu, size=2048, versions=products, seconds=1.5),
    }  # fmt: skip


def price_of_a_call(comparison):
    """How many times as long one waits for the best GPU version as for the best CPU one, at the
    smallest size."""
    return 1 / gpu_over_cpu(comparison, size=min(comparison.sizes, default=0), wait=True)


@claim(
    4, "A GPU gives throughput at the price of latency; the gain is an order of magnitude for "
    "matrix work.", source="A", notebooks="01 02 05", measure=latency_and_throughput,
    changes="Products too small to fill the GPU, a CPU with many cores beside a small GPU, or "
    "transfers that the product does not pay for.", about_gpus=True,
)  # fmt: skip
def throughput_for_latency(theirs, product=None, gpu_price=None, gpu_gain=None):
    return weakest(
        the_price_is_latency=price_paid(gpu_price),
        an_order_of_magnitude=gained(theirs, product, gpu_gain),
    )


def price_paid(gpu_price):
    if gpu_price is None:
        return untested("No GPU was timed beside a CPU.")
    found = f"For a small ReLU one waits {three_digits(gpu_price)} times as long as on the CPU"
    if gpu_price <= 1:
        return refuted(f"{found}: no latency was paid.")
    return limits(f"{found}. A launch is part of it, which a queue hides; a thread's own "
                  "latency was not timed apart.")  # fmt: skip


def gained(theirs, product, gpu_gain):
    if gpu_gain is None:
        runs = f"A product runs at {units.rate(product, 'FLOP/s')} on the CPU. " if product else ""
        return untested(f"{runs}An H200 is said to reach {units.rate(theirs, 'FLOP/s')} with one "
                        "kernel in Warp: published, not measured.")  # fmt: skip
    found = f"A large product of numbers already there is {three_digits(gpu_gain)} times as fast"
    if gpu_gain <= 1:
        return refuted(f"{found}: nothing was bought.")
    if gpu_gain < math.sqrt(10):  # nearer to 1 than to 10
        return limits(f"{found}: less than an order of magnitude.")
    if gpu_gain > 10 * math.sqrt(10):  # nearer to 100 than to 10
        return holds(f"{found}: more than an order of magnitude.")
    return holds(f"{found}: about an order of magnitude.")


# What memory costs.


KEPT = 2**17  # numbers of an array that a cache holds


def training_from_memory(given):
    """ReLU and an Adam step over numbers fetched from memory, and over few enough for a cache:
    bytes per second, beside a triad's, whose stores are like theirs. A product for 512
    examples and for one: how many times the bytes it moves, and how many times as long it takes.
    """
    width, examples = 2048, 512
    weights, one, many = (np.ones((rows, width), np.float32) for rows in (width, 1, examples))
    rooms = np.empty_like(one), np.empty_like(many)
    products = {"many": lambda: matmul(many, weights, out=rooms[1]),
                "one": lambda: matmul(one, weights, out=rooms[0])}  # fmt: skip
    moved = matmul.bytes(many, weights) / matmul.bytes(one, weights)
    return {
        "memory": triad_from_memory(),
        "activation": from_memory("ReLU from memory, every core", relu, *BEST),
        "optimizer": from_memory("an Adam step from memory", adam_step, "Numba, fused"),
        "activation_kept": from_cache("ReLU from a cache", relu, *BEST),
        "optimizer_kept": from_cache("an Adam step from a cache", adam_step, "Numba, fused"),
        "moved": counted("a product for 512 examples over one, bytes", moved, "×"),
        "product": ratio_of_calls("the same, time", products),
        "fits": in_the_last_cache(16),  # the parameter, its gradient and Adam's two means
    }


def triad_from_memory():
    """A loop that loads and stores, as these do; a copy by streaming stores fetches less."""
    what = "the machine's ceiling from memory for loads and stores (triad)"
    bandwidth = machine().ceiling("host", "triad")
    return (live(what, bandwidth, "B/s") if bandwidth
            else missing(what, "this machine's ceilings could not be measured"))  # fmt: skip


def from_cache(what, op, *versions):
    """The same as `from_memory` over numbers that were there a moment ago."""
    best = compared(op, KEPT, versions).best()
    return (live(what, best.bytes / min(best.samples), "B/s") if best
            else missing(what, "none was timed"))  # fmt: skip


def in_the_last_cache(nbytes):
    what = "parameters under Adam that the last cache holds"
    here = machine()
    return (counted(what, here.last_cache // nbytes) if here.caches
            else missing(what, "this system does not tell its caches"))  # fmt: skip


@claim(
    12, "Parameters, activations and gradients are all rewritten every step and exceed the cache: "
    "memory bandwidth is the limit.", source="B", notebooks="04", measure=training_from_memory,
    changes="A network that a cache holds, or minibatches so large that its products, which use "
    "each byte many times, outweigh everything else.",
)  # fmt: skip
def memory_is_the_limit(memory, activation, optimizer, activation_kept, optimizer_kept, moved,
                        product, fits=None):  # fmt: skip
    if fits:
        exceed = limits(f"{some(fits).capitalize()} parameters under Adam fit in the last cache, "
                        "which a virtual machine may share with others.")  # fmt: skip
    else:
        exceed = untested("The system does not tell its caches.")
    return weakest(
        they_exceed_the_cache=exceed,
        memory_is_the_limit=limit_of_memory(
            memory, activation, optimizer, activation_kept / activation,
            optimizer_kept / optimizer, moved, product),
    )  # fmt: skip


def limit_of_memory(memory, activation, optimizer, relu_gain, adam_gain, moved, product):
    found = (f"From memory ReLU moves {units.rate(activation, 'B/s')} and an Adam step "
             f"{units.rate(optimizer, 'B/s')}, {percent(activation / memory)} and "
             f"{percent(optimizer / memory)} of what a triad does; from a cache the same "
             f"loops move {three_digits(relu_gain)} and {three_digits(adam_gain)} times as much"
             )  # fmt: skip
    if min(relu_gain, adam_gain) < 1.2:
        return refuted(f"{found}: memory is not what both of them wait for.")
    times = (f"a product for 512 examples moves {three_digits(moved)} times the bytes of one for a "
             f"single example, and takes {three_digits(product)} times as long")  # fmt: skip
    if product < 2 * moved:
        return holds(f"{found}; and {times}.")
    return limits(f"{found}: they wait for memory. But {times}: there arithmetic is the limit.")
