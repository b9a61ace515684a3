"""Claims of the first part: parallel machines, and what memory and branches cost them."""

import numpy as np

from gpulessons.hardware import cores, machine
from gpulessons.measure.results import Absent
from gpulessons.microscope import trace
from gpulessons.ops.activations import relu, sigmoid
from gpulessons.ops.optimizer_step import adam_step
from gpulessons.ops.shade import shade, shade_kernel, shade_sorted

from .claim import claim, holds, limits, refuted, untested
from .evidence import (
    compared,
    counted,
    from_gpu,
    gain,
    live,
    missing,
    ratio_of_calls,
    timed,
)  # fmt: skip

SERIAL, PARALLEL = "Numba, one core", "Numba, every core"


def activations_by_core(given):
    """Sigmoid over numbers that a cache holds, and ReLU over numbers fetched from memory: every
    core against one core.
    """
    return {
        "cores": counted("cores", cores()),
        "sigmoid": gain("sigmoid, every core over one", sigmoid, 2**18, SERIAL, PARALLEL),
        "relu": gain(
            "ReLU from memory, every core over one", relu, 2**22, SERIAL, PARALLEL, cold=True
        ),
    }


@claim(
    1, "An activation over a layer is embarrassingly parallel: it needs more processors, not "
    "faster ones.", source="A", notebooks="02", measure=activations_by_core,
    changes="More cores for the same memory: an activation whose numbers no cache holds stops "
    "gaining once the memory is busy.",
)  # fmt: skip
def more_processors_help(cores, sigmoid, relu=None):
    if cores == 1:
        return untested("This machine gives the process one core: nothing to compare.")
    found = f"{cores} cores compute a sigmoid {sigmoid:.2g} times as fast as one"
    if sigmoid < 1 + 0.2 * (cores - 1):
        return refuted(f"{found}: more processors hardly help.")
    if relu is not None and relu < 0.8 * sigmoid:
        return limits(f"{found}, but ReLU from memory only {relu:.2g} times: there the memory is "
                      "what there is too little of.")  # fmt: skip
    if sigmoid < 0.7 * cores:
        return limits(f"{found}: they help, and some of each is lost.")
    return holds(f"{found}.")


# What a branch costs: the same pixels, in no order and in order.


def branches(given):
    """Mandelbrot pixels in no order against the same pixels sorted by the turns that they take:
    time on a CPU core, steps of a warp counted, time on a GPU.
    """
    in_a_warp = steps(shade) / steps(shade_sorted)
    on_gpu = from_gpu(given, "time on a GPU, shuffled over sorted", shade, gpu_time, unit="s")
    in_order = from_gpu(given, "the same, sorted", shade_sorted, gpu_time, unit="s")
    return {
        "cpu": core_penalty(),
        "counted_steps": counted("steps of a warp, shuffled over sorted", in_a_warp, "×"),
        "gpu_shuffled": on_gpu,
        "gpu_sorted": in_order,
    }


def core_penalty(size=30_000):
    """How many times as long shuffled pixels take on one core as the same ones sorted."""
    (x, y), (sorted_x, sorted_y) = shade.inputs(size), shade_sorted.inputs(size)
    out = np.empty(size, np.int32)
    loop = shade.versions[SERIAL].function
    calls = {"shuffled": lambda: loop(x, y, out), "sorted": lambda: loop(sorted_x, sorted_y, out)}
    return ratio_of_calls("time on a CPU core, shuffled over sorted", calls)


def steps(op, size=8_192):
    """Steps that the warps of the kernel take, for all their pixels."""
    x, y = op.inputs(size)
    out = np.zeros(size, np.int32)
    return 1 / trace(shade_kernel)[size // 256, 256](x, y, out).divergence().efficiency


def gpu_time(comparison):
    return timed(comparison, "CUDA, a thread per pixel").median


@claim(
    11, "Branching costs a GPU more than a CPU.", source="BD", notebooks="03", measure=branches,
    changes="Data whose neighbors branch alike: then a warp does not part, and a CPU that guesses "
    "wrong can be the one who pays more.", about_gpus=True,
)  # fmt: skip
def branching_costs_more(cpu, counted_steps, gpu_shuffled=None, gpu_sorted=None):
    if not (gpu_shuffled and gpu_sorted):
        return untested(f"Shuffled pixels take a core {cpu:.2f} times as long as sorted ones, and "
                        f"a warp {counted_steps:.2f} times as many steps. What a GPU's clock says "
                        "is not known.")  # fmt: skip
    gpu = gpu_shuffled / gpu_sorted
    found = f"Shuffled pixels take a GPU {gpu:.2f} times as long as sorted ones, a core {cpu:.2f}"
    return limits(f"{found}. In sorted data neither pays.") if gpu > cpu else refuted(f"{found}.")


# What memory costs: an optimizer rewrites every parameter and its two moments at each step.


def optimizer_from_memory(given):
    """An Adam step over parameters fetched from memory: its bytes per second beside those of a
    triad, and beside the arithmetic that the machine could do meanwhile.
    """
    one = compared(adam_step, 2**22, ["Numba, fused"], cold=True).entries[0]
    if isinstance(one, Absent):
        return {"share": missing("Adam's share of the memory's speed", one.why),
                "arithmetic": missing("Adam's share of the arithmetic", one.why)}  # fmt: skip
    ceilings = machine().ceilings
    bandwidth = max(ceilings[name] for name in ("host copy", "host triad"))
    of_flops = one.flop_rate / ceilings["host float32"]
    return {
        "share": live("Adam's share of the memory's speed", one.bandwidth / bandwidth, "%"),
        "arithmetic": live("Adam's share of the arithmetic", of_flops, "%"),
    }


@claim(
    12, "Parameters, activations and gradients are all rewritten every step and exceed the cache: "
    "memory bandwidth is the limit.", source="B", notebooks="04", measure=optimizer_from_memory,
    changes="A network that a cache holds, or minibatches so large that its products, which use "
    "each byte many times, outweigh everything else.",
)  # fmt: skip
def memory_is_the_limit(share, arithmetic):
    found = (f"An Adam step over parameters from memory moves its bytes at {share:.0%} of the "
             f"memory's speed, and computes at {arithmetic:.1%} of the machine's")  # fmt: skip
    if share < 2 * arithmetic:
        return refuted(f"{found}: here memory is not what it waits for.")
    if share < 0.5:
        return limits(f"{found}: nearer to the memory's limit, and at neither.")
    return limits(f"{found}. That is the optimizer; a large minibatch's products compute.")
