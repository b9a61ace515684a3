"""Little's law: how many warps must each have a load under way, so that DRAM never waits?"""

import math

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Trouble, number
from warplens.model.devices import devices

stub = '''\
def my_warps(gpu, bytes_of_a_warp):
    """How many warps of a multiprocessor each need a load under way, to keep DRAM busy.

    gpu: as devices()["T4"]; busy: with loads alone, at the share of dram_rate that a copy reaches.
    A latency is in clocks. One load of a warp brings so many bytes. Warps are whole: round up.
    """
    return gpu.dram_rate * gpu.dram_latency  # Your turn: what is the unit of each?
'''

solution = '''\
from math import ceil

def my_warps(gpu, bytes_of_a_warp):
    """How many warps of a multiprocessor each need a load under way, to keep DRAM busy.

    gpu: as devices()["T4"]; busy: with loads alone, at the share of dram_rate that a copy reaches.
    A latency is in clocks. One load of a warp brings so many bytes. Warps are whole: round up.
    """
    in_flight = gpu.dram_rate * gpu.dram_share * gpu.dram_latency / gpu.boost
    return ceil(in_flight / gpu.multiprocessors / bytes_of_a_warp)
'''

T4, A100 = devices()["T4"], devices()["A100"]
YOURS = T4.but("twice the memory", multiprocessors=30, dram_rate=640e9, dram_latency=500)
CASES = ((T4, 128), (A100, 128), (devices()["H100"], 512), (YOURS, 64), (YOURS, 256))


def judge(attempt):
    """Warps = bytes per second × seconds of a load, shared by multiprocessors and by loads."""
    answers = [
        number(run(attempt, case, {}), "bytes under way = bytes per second × seconds.")
        for case in CASES
    ]
    refuse_one_for_all(answers)
    for case, answer in zip(CASES, answers, strict=True):
        refuse_other(answer, *case)
    return "; ".join(f"{gpu.name}: {due(gpu, size)} warps for {size} bytes each"
                     for gpu, size in CASES[:2]) + "."  # fmt: skip


def exact(gpu, size):
    reached = gpu.dram_rate * gpu.dram_share
    return reached * gpu.dram_latency / gpu.boost / gpu.multiprocessors / size


def due(gpu, size):
    return math.ceil(exact(gpu, size))


def refuse_one_for_all(answers):
    if len(set(answers)) == 1 and answers[0] in {due(*case) for case in CASES}:
        raise Trouble(f"It is {answers[0]:,} for every GPU and every width of a load.",
                      "the gpu that it is given: its figures.")  # fmt: skip


def refuse_other(answer, gpu, size):
    """Trouble unless it is the number due; by name where one mistake explains it."""
    if answer == due(gpu, size):
        return
    head = f"{gpu.name}, {size} bytes a warp: "
    quotient = exact(gpu, size)
    if math.isclose(answer, quotient):
        raise Trouble(f"{head}{quotient:.2f} is no number of warps.", "round up.")
    if answer in (math.floor(quotient), round(quotient)):
        raise Trouble(f"{head}with {answer:,} of {quotient:.2f} warps DRAM still waits now and "
                      "then.", "which way it rounds.")  # fmt: skip
    for factor, sentence, hint in mistakes(gpu, size):
        if alike(answer, factor * quotient) or answer == factor * due(gpu, size):
            raise Trouble(head + sentence, hint)
    raise Trouble(f"{head}it was {answer:,.6g}, where {due(gpu, size):,} is due.",
                  "bytes per second × seconds, then whose share it is.")  # fmt: skip


def alike(answer, other):
    """Is the answer this number, rounded in some way or not at all?"""
    return answer in (math.floor(other), math.ceil(other)) or math.isclose(answer, other)


def mistakes(gpu, size):
    """(the factor by which a mistake changes the answer, what it is, a hint)."""
    clock = "dram_latency is in clocks, and dram_rate in bytes per second."
    own = "how many multiprocessors share DRAM."
    units = "the unit of what you divide by, and of the answer."
    rate = "which rate, and which latency, belong to DRAM."
    whole, reached = gpu.multiprocessors, gpu.dram_rate * gpu.dram_share
    return (
        (1 / gpu.dram_share, "its rate is the data sheet's, and no copy reaches that.",
         "gpu.dram_share."),
        (whole * gpu.boost * size, "these are clocks × bytes per second, no warps yet.", clock),
        (whole * gpu.boost * size / gpu.dram_share,
         "these are clocks × bytes per second, no warps yet.", clock),
        (whole * gpu.boost, "it takes the latency, in clocks, for seconds.", clock),
        (gpu.boost, "it takes the latency, in clocks, for seconds.", clock),
        (gpu.boost / 1e9, "a latency of so many nanoseconds? They are clocks.", clock),
        (whole, "so many warps does the whole GPU need; each multiprocessor has a share.", own),
        (whole * size, "so many bytes does the whole GPU need under way.", units),
        (size, "so many bytes, and no warps.", units),
        (32, "so many threads, or numbers of 4 bytes; a load is a whole warp's.", units),
        (1 / 32, "each load already is a whole warp's, and not a thread's.", units),
        (gpu.boost / gpu.base, "that is for the base clock; at boost a load is over sooner.",
         "the clock: gpu.boost."),
        (gpu.l2_latency / gpu.dram_latency, "that is how long L2 takes to answer.", rate),
        (gpu.l2_rate / reached, "that is as many bytes per second as L2 gives.", rate),
        (gpu.l2_rate * gpu.l2_latency / reached / gpu.dram_latency,
         "so many keep L2 busy, and not DRAM.", rate),
        (size / 128, "that is for 128 bytes, whatever it is told.", "bytes_of_a_warp."),
    )  # fmt: skip


hints = (
    "In flight are bytes per second × seconds. A latency in clocks becomes seconds by gpu.boost. "
    "Then it is shared: by the multiprocessors, and by the bytes of each warp's load.",
    "in_flight = gpu.dram_rate * gpu.dram_share * gpu.dram_latency / gpu.boost",
)

exercise = Exercise(__name__, stub, solution, judge=judge, hints=hints)
