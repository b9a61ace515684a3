"""Which limit does a kernel run into first? Counts over rates, and the largest of three."""

import math
import numbers

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Trouble
from warplens.model.devices import devices

stub = '''\
def my_limit(gpu, flops, sectors, requests):
    """(seconds, name) of the largest of three bounds: "FP32", "DRAM" or "load/store path".

    Of all threads: float32 operations, a multiply-add counted as two; sectors of 32 bytes that
    DRAM moves; and loads and stores, each a request of a warp's 32 threads, of which the path of
    a multiprocessor takes gpu.lsu_lanes in a clock.
    """
    clocks = gpu.boost * gpu.multiprocessors  # of all of them, in a second
    fp32 = flops / 2 / (gpu.fp32_lanes * gpu.fp32_share * clocks)
    return fp32, "FP32"  # Your turn: two more bounds. Of DRAM, too, only a share is reached.
'''

solution = '''\
def my_limit(gpu, flops, sectors, requests):
    """(seconds, name) of the largest of three bounds: "FP32", "DRAM" or "load/store path".

    Of all threads: float32 operations, a multiply-add counted as two; sectors of 32 bytes that
    DRAM moves; and loads and stores, each a request of a warp's 32 threads, of which the path of
    a multiprocessor takes gpu.lsu_lanes in a clock.
    """
    clocks = gpu.boost * gpu.multiprocessors  # of all of them, in a second
    bounds = {
        "FP32": flops / 2 / (gpu.fp32_lanes * gpu.fp32_share * clocks),
        "DRAM": 32 * sectors / (gpu.dram_rate * gpu.dram_share),
        "load/store path": 32 * requests / (gpu.lsu_lanes * clocks),
    }
    name = max(bounds, key=bounds.get)
    return bounds[name], name
'''

NAMES = ("FP32", "DRAM", "load/store path")
T4, A100, H100 = (devices()[name] for name in ("T4", "A100", "H100"))
YOURS = T4.but("yours", multiprocessors=30, dram_rate=448e9, dram_share=0.8, lsu_lanes=32)


def counts(gpu, *times):
    """flops, sectors, requests for which these are the three bounds, in seconds."""
    return tuple(round(time / bound) for time, bound in zip(times, bounds(gpu, 1, 1, 1),
                                                            strict=True))  # fmt: skip


def bounds(gpu, flops, sectors, requests):
    clocks = gpu.boost * gpu.multiprocessors
    return (flops / 2 / (gpu.fp32_lanes * gpu.fp32_share * clocks),
            32 * sectors / (gpu.dram_rate * gpu.dram_share),
            32 * requests / (gpu.lsu_lanes * clocks))  # fmt: skip


# First those where one bound is far above the others, so that a mistake shows in its time; then
# those where all are near each other, so that a mistake leads to another bound.
FAR = tuple((gpu, counts(gpu, *times)) for gpu, times in (
    (T4, (1e-3, 1.1e-6, 1.2e-6)), (T4, (1.3e-6, 2e-3, 1.1e-6)), (T4, (1.1e-6, 1.3e-6, 2e-3)),
    (A100, (1.2e-6, 1.3e-6, 3e-3)), (YOURS, (1.3e-6, 1e-3, 1.4e-6)),
    (YOURS, (1.4e-6, 1.1e-6, 4e-3)), (H100, (2e-3, 1.3e-6, 1.2e-6))))  # fmt: skip
NEAR = tuple((gpu, counts(gpu, *times)) for gpu in (T4, A100, H100, YOURS) for times in (
    (1.0e-3, 0.9e-3, 0.8e-3), (0.8e-3, 1.0e-3, 0.9e-3), (0.9e-3, 0.8e-3, 1.0e-3)))  # fmt: skip


def judge(attempt):
    """What must be computed, moved and asked for: each a count over a rate."""
    for gpu, count in FAR + NEAR:
        refuse_other(answer_of(attempt, gpu, count), gpu, count)
    return f"{len(FAR + NEAR)} kernels on four GPUs: each waits for the largest of its bounds."


def answer_of(attempt, gpu, count):
    answer = run(attempt, (gpu, *count), {})
    hint = "its return: seconds first, then the name."
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise Trouble(f"It returned {answer!r}, and two things are due: (seconds, name).", hint)
    seconds, name = answer
    if not isinstance(seconds, numbers.Real) or not math.isfinite(seconds):
        raise Trouble(f"{seconds!r} is no time in seconds.", hint)
    if name not in NAMES:
        raise Trouble(f"{name!r} is none of the three bounds: {', '.join(NAMES)}.", hint)
    return float(seconds), name


def refuse_other(answer, gpu, count):
    """Trouble unless it is the time and the name of the largest bound."""
    seconds, name = answer
    times = dict(zip(NAMES, bounds(gpu, *count), strict=True))
    longest = max(times, key=times.get)
    if alike(seconds, times[longest]) and name == longest:
        return
    told = ", ".join(f"{each} {time * 1e6:,.4g} µs" for each, time in times.items())
    head = f"On {gpu.name}, with {told}: "
    refuse_mixed(head, seconds, name, times)
    for factor, sentence, hint in MISTAKES[longest](gpu):
        if alike(seconds, factor * times[longest]):
            raise Trouble(f"{longest}: {sentence}", hint)
    raise Trouble(f"{head}{longest} is the largest, and it was {name} with {seconds * 1e6:,.4g} "
                  "µs.", "each bound by hand: a count over a rate.")  # fmt: skip


def refuse_mixed(head, seconds, name, times):
    """Trouble where it made the wrong thing of three right bounds."""
    longest, middle, shortest = sorted(times, key=times.get, reverse=True)
    if alike(seconds, sum(times.values())):
        raise Trouble(f"{head}it adds them. They overlap: while one part of the GPU is busy, so "
                      "are the others.", "what is over last.")  # fmt: skip
    for each in times:
        if alike(seconds, times[each]) and name != each:
            raise Trouble(f"{head}it gives the time of {each} and the name of {name}.",
                          "that both belong to one bound.")  # fmt: skip
    for power in (2, 3):
        if alike(seconds, sum(time**power for time in times.values()) ** (1 / power)):
            raise Trouble(f"{head}it mixes them; asked is the largest alone.", "max.")
    hint = "how long a kernel takes that needs all three."
    if alike(seconds, times[shortest]):
        raise Trouble(f"{head}{shortest} is the smallest, and is over long before {longest}.", hint)
    if alike(seconds, times[middle]):
        raise Trouble(f"{head}{middle} is not the largest: {longest} is left out.", hint)


def alike(one, other):
    return math.isclose(one, other, rel_tol=1e-6)


# {bound: gpu → (the factor by which a mistake changes it, what it is, a hint)}
MISTAKES = {
    "FP32": lambda gpu: (
        (2, "a multiply-add counts as two, and a lane does one in a clock.", "what flops counts."),
        (gpu.fp32_share, "not all lanes are ever busy.", "gpu.fp32_share."),
        *clocks_of(gpu),
    ),
    "DRAM": lambda gpu: (
        (1 / 8, "that is 4 bytes a sector, as if only what was asked for were moved. DRAM moves "
         "whole sectors.", "the bytes of a sector: 32."),
        (1 / 32, "these are sectors, not bytes.", "the bytes of a sector: 32."),
        (4, "that is 128 bytes a sector: so many has a cache line, of four.", "a sector: 32."),
        (gpu.dram_share, "its rate is the data sheet's. No copy reaches it.", "gpu.dram_share."),
        (1 / gpu.multiprocessors, "it is one memory for all multiprocessors, and dram_rate is all "
         "that it gives.", "what is there once, and what once in each multiprocessor."),
        (1 / gpu.boost, "its rate is per second, not per clock.", "the unit of dram_rate."),
    ),
    "load/store path": lambda gpu: (
        (gpu.lsu_lanes / 32, "that is a request a clock. A request is of 32 threads, and so many "
         f"as lsu_lanes go in a clock: {gpu.lsu_lanes} here.", "lsu_lanes: threads a clock."),
        (1 / 32, "a request is of 32 threads, and each takes a lane.", "lsu_lanes: threads a "
         "clock."),
        (gpu.fp32_share, "the share is of the FP32 lanes.", "gpu.lsu_lanes alone."),
        (1 / gpu.fp32_share, "the share is of the FP32 lanes.", "gpu.lsu_lanes alone."),
        (gpu.lsu_lanes / gpu.fp32_lanes, "these are the lanes of FP32.", "gpu.lsu_lanes."),
        (gpu.lsu_lanes, "a multiprocessor takes several threads a clock.", "gpu.lsu_lanes."),
        *clocks_of(gpu),
    ),
}  # fmt: skip


def clocks_of(gpu):
    """Mistakes about what happens once in each clock of each multiprocessor."""
    return (
        (gpu.multiprocessors, "it is done by one multiprocessor alone.", "gpu.multiprocessors."),
        (gpu.boost / gpu.base, "that is for the base clock.", "the clock: gpu.boost."),
        (gpu.boost * gpu.multiprocessors, "these are clocks of one multiprocessor, not seconds.",
         "how many clocks there are in a second."),
        (gpu.boost, "these are clocks, not seconds.", "how many clocks there are in a second."),
    )  # fmt: skip


hints = (
    "Each bound is a count over a rate per second. DRAM is one for the whole GPU: bytes over its "
    "rate. Each multiprocessor has a load/store path: threads over the threads that all of them "
    "take in a second.",
    '"load/store path": 32 * requests / (gpu.lsu_lanes * clocks),',
)

exercise = Exercise(__name__, stub, solution, judge=judge, hints=hints)
