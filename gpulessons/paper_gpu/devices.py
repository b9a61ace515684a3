"""The GPUs that times are modelled for, and where each of their figures comes from."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class GPU:
    """One GPU, as its data sheet and other people's microbenchmarks describe it."""

    name: str
    capability: tuple[int, int]
    multiprocessors: int
    boost: float  # clocks per second, at most
    base: float  # and what its maker guarantees
    fp32_lanes: int  # of a multiprocessor
    fp32_share: float  # of these lanes that a microbenchmark keeps busy
    lsu_lanes: int  # threads of a load or store that a multiprocessor takes per clock
    l1_rate: float  # bytes per clock that a multiprocessor's L1 cache delivers
    dram_rate: float  # bytes per second, by the data sheet
    dram_share: float  # of it that a copy reaches
    l2_bytes: int
    l2_rate: float  # bytes per second
    shared_latency: float  # clocks from a read to its first use
    l1_latency: float
    l2_latency: float
    dram_latency: float
    sustained: float | None = None  # clocks per second under load, where base is far below it
    sources: dict[str, str] = field(default_factory=dict, compare=False)


MIB = 2**20
GPUS = {
    "T4": GPU("T4", (7, 5), 40, 1.59e9, 0.585e9, 64, 0.98, 16, 64, 320e9, 0.69, 4 * MIB, 1270e9, 23, 32, 188, 434),
    "A100": GPU("A100", (8, 0), 108, 1.41e9, 1.095e9, 64, 0.98, 32, 126, 1555e9, 0.89, 40 * MIB, 5400e9, 29, 36, 213, 574),
    "RTX 3090": GPU("RTX 3090", (8, 6), 82, 1.695e9, 1.395e9, 128, 0.64, 16, 64, 936e9, 0.94, 6 * MIB, 2250e9, 29, 36, 240, 600),
    "RTX A6000": GPU("RTX A6000", (8, 6), 84, 1.80e9, 1.41e9, 128, 0.64, 16, 64, 768e9, 0.94, 6 * MIB, 2250e9, 29, 36, 240, 600),
    "RTX 6000 Ada": GPU("RTX 6000 Ada", (8, 9), 142, 2.505e9, 0.915e9, 128, 0.63, 16, 64, 960e9, 0.89, 96 * MIB, 5190e9, 30, 36, 277, 632),
    "H100": GPU("H100", (9, 0), 132, 1.98e9, 1.59e9, 128, 0.64, 32, 126, 3352e9, 0.90, 50 * MIB, 9700e9, 29, 34, 265, 658),
    "H200": GPU("H200", (9, 0), 132, 1.98e9, 1.59e9, 128, 0.64, 32, 126, 4800e9, 0.90, 50 * MIB, 9700e9, 29, 34, 265, 658),
}  # fmt: skip


def named(gpu: "str | GPU") -> GPU:
    """The GPU of this name; a GPU of one's own as it is. ValueError otherwise."""
    if isinstance(gpu, GPU):
        return gpu
    if gpu not in GPUS:
        raise ValueError(f"No GPU is called {gpu!r}; there are {', '.join(GPUS)}.")
    return GPUS[gpu]
