"""Little's law: how many warps must each have a load under way, so that DRAM never waits?"""

from gpulessons.exercises.asking import a_function
from warplens.model.devices import devices

text = '''\
### BEGIN SOLUTION
from math import ceil

### END SOLUTION
def my_warps(gpu, bytes_of_a_warp):
    """How many warps of a multiprocessor each need a load under way, to keep DRAM busy.

    gpu: as devices()["T4"]; busy: with loads alone, at the share of dram_rate that a copy reaches.
    A latency is in clocks. One load of a warp brings so many bytes. Warps are whole: round up.
    """
    ### BEGIN SOLUTION
    in_flight = gpu.dram_rate * gpu.dram_share * gpu.dram_latency / gpu.boost
    return ceil(in_flight / gpu.multiprocessors / bytes_of_a_warp)
    ### STUB
    return gpu.dram_rate * gpu.dram_latency  # Your turn: what is the unit of each?
    ### END SOLUTION
'''

T4, A100 = devices()["T4"], devices()["A100"]
YOURS = T4.but("twice the memory", multiprocessors=30, dram_rate=640e9, dram_latency=500)
CASES = ((T4, 128), (A100, 128), (devices()["H100"], 512), (YOURS, 64), (YOURS, 256))
mistakes = (
    ("It takes the latency, in clocks, for seconds.", " / gpu.boost", ""),
    ("So many warps does the whole GPU need; each multiprocessor has a share.",
     " / gpu.multiprocessors", ""),
    ("The rate is the data sheet's, and no copy reaches that: gpu.dram_share.",
     " * gpu.dram_share", ""),
)  # fmt: skip

hints = (
    "In flight are bytes per second × seconds. A latency in clocks becomes seconds by gpu.boost. "
    "Then it is shared: by the multiprocessors, and by the bytes of each warp's load.",
    "in_flight = gpu.dram_rate * gpu.dram_share * gpu.dram_latency / gpu.boost",
)

exercise = a_function(
    __name__, text, CASES, "bytes per second × seconds, then whose share it is; round up.",
    "T4: {0} warps for 128 bytes each; A100: {1} warps for 128 bytes each.", mistakes, hints,
)
