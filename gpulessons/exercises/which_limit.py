"""Which limit does a kernel run into first? Counts over rates, and the largest of three."""

from gpulessons.exercises.asking import a_function
from warplens.model.devices import devices

text = '''\
def my_limit(gpu, flops, sectors, requests):
    """(seconds, name) of the largest of three bounds: "FP32", "DRAM" or "load/store path".

    Of all threads: float32 operations, a multiply-add counted as two; sectors of 32 bytes that
    DRAM moves; and loads and stores, each a request of a warp's 32 threads. The path of a
    multiprocessor takes gpu.lsu_lanes threads a clock.
    """
    clocks = gpu.boost * gpu.multiprocessors  # of all of them, in a second
    ### BEGIN SOLUTION
    bounds = {
        "FP32": flops / 2 / (gpu.fp32_lanes * gpu.fp32_share * clocks),
        "DRAM": 32 * sectors / (gpu.dram_rate * gpu.dram_share),
        "load/store path": 32 * requests / (gpu.lsu_lanes * clocks),
    }
    name = max(bounds, key=bounds.get)
    return bounds[name], name
    ### STUB
    fp32 = flops / 2 / (gpu.fp32_lanes * gpu.fp32_share * clocks)
    return fp32, "FP32"  # Your turn: two more bounds. Of DRAM, too, only a share is reached.
    ### END SOLUTION
'''


def case(gpu, fp32, dram, path):
    """A GPU and flops, sectors, requests for which these are the three bounds, in seconds."""
    clocks = gpu.boost * gpu.multiprocessors
    flops = 2 * fp32 * gpu.fp32_lanes * gpu.fp32_share * clocks
    sectors = dram * gpu.dram_rate * gpu.dram_share / 32
    return gpu, round(flops), round(sectors), round(path * gpu.lsu_lanes * clocks / 32)


T4, A100, H100 = (devices()[name] for name in ("T4", "A100", "H100"))
YOURS = T4.but("yours", multiprocessors=30, dram_rate=448e9, dram_share=0.8, lsu_lanes=32)
# One bound far above the others, so that a mistake shows in its time; and all near each other.
CASES = [
    case(gpu, *times) for gpu in (T4, A100, H100, YOURS) for times in (
        (1e-3, 1.1e-6, 1.2e-6), (1.3e-6, 2e-3, 1.1e-6), (1.1e-6, 1.3e-6, 2e-3),
        (1.0e-3, 0.9e-3, 0.8e-3), (0.8e-3, 1.0e-3, 0.9e-3), (0.9e-3, 0.8e-3, 1.0e-3))
]  # fmt: skip

mistakes = (
    ("It adds the bounds. They overlap: while one part of the GPU is busy, so are the others.",
     "return bounds[name]", "return sum(bounds.values())"),
    ("DRAM: its rate is the data sheet's. No copy reaches it: gpu.dram_share.",
     "(gpu.dram_rate * gpu.dram_share)", "gpu.dram_rate"),
    ("Load/store path: that is a request a clock. A request is of 32 threads, and lsu_lanes of "
     "them go in a clock.", "32 * requests / (gpu.lsu_lanes * clocks)", "requests / clocks"),
)  # fmt: skip

hints = (
    "Each bound is a count over a rate per second. DRAM is one for the whole GPU: bytes over its "
    "rate. Each multiprocessor has a load/store path: threads over the threads that all of them "
    "take in a second.",
    '"load/store path": 32 * requests / (gpu.lsu_lanes * clocks),',
)

exercise = a_function(
    __name__, text, CASES,
    "each bound by hand, a count over a rate; then the time and the name of the largest.",
    "24 kernels on four GPUs: each is bound by the largest of its three bounds.", mistakes, hints,
)
