"""What others measured: each time with the figure as printed and where it stands.

Published truth is noisy: a figure read from a plot is good to about 3 %; clocks and drivers are
rarely named.
Left out: kernels with asynchronous copies or tensor cores, which the model does not know; other
rows of the transposes' table, all between 2.9 and 3.6 ms, so that one table does not outweigh the
rest; the same author's reductions, for which rates are told but no size.
"""

from dataclasses import dataclass

GIGA, TERA = 1e9, 1e12
PRODUCT = 2 * 4096**3  # FLOPs
COPIED = 2 * 2**27  # bytes read and written
TABLE, PLOT = 0.001, 0.03  # how far off a figure may be, by where it is read


@dataclass(frozen=True)
class Published:
    """One time that somebody else measured, of a kernel in `KERNELS`.

    within: how far off the figure itself may be, as a share. All figures of one source and one GPU
    are a ladder.
    """

    kernel: str
    gpu: str  # a name in paper_gpu.devices
    seconds: float
    figure: str  # as printed
    source: str
    note: str
    within: float

    @property
    def ladder(self) -> str:
        return f"{self.source.partition(',')[0]}, {self.gpu}"


BOEHM = "siboehm/SGEMM_CUDA, README.md, table"
BOEHM_NOTE = "4096², alpha 0.5, beta 3, mean of 50 runs; a later README says 4092²"
YENCAL = "yencal/gpu-gemm, figures/gemm_plot_{}.png"
YENCAL_NOTE = "4096², alpha 1, beta 0, mean of 10 runs; read from the figure, ±3 %"
YENCAL_A100, YENCAL_ADA = YENCAL.format("a100"), YENCAL.format("6000ada")
TURNED = "yencal/gpu-matrix-transpose, README.md, table"
TURNED_NOTE = "32768², mean of 100 runs; the card is an H100 80GB HBM3"
COPIED_A100 = "yencal/gpu-bandwidth-benchmark, bandwidth_plot_blocksize1024_a100.png in the article"
COPIED_A100_NOTE = "2²⁷ bytes, blocks of 1024; read from the figure, ±3 %"
COPIED_H100 = "yencal/gpu-bandwidth-benchmark, article gpu-memory-throughput-optimization, text"
COPIED_H100_NOTE = "2²⁷ bytes, blocks of 1024; the middle of a range that the article tells"


def boehm(kernel: str, gigaflops: float) -> Published:
    seconds, figure = PRODUCT / (gigaflops * GIGA), f"{gigaflops} GFLOP/s"
    return Published(f"product, {kernel}", "RTX A6000", seconds, figure, BOEHM, BOEHM_NOTE, TABLE)


def yencal(kernel: str, gpu: str, source: str, teraflops: float) -> Published:
    seconds, figure = PRODUCT / (teraflops * TERA), f"{teraflops} TFLOP/s"
    return Published(f"product, {kernel}", gpu, seconds, figure, source, YENCAL_NOTE, PLOT)


def turned(kernel: str, milliseconds: float) -> Published:
    seconds, figure = milliseconds / 1e3, f"{milliseconds} ms"
    return Published(f"transpose, {kernel}", "H100", seconds, figure, TURNED, TURNED_NOTE, TABLE)


def copied_a100(kernel: str, gigabytes: float) -> Published:
    seconds, figure = COPIED / (gigabytes * GIGA), f"{gigabytes} GB/s"
    source, note = COPIED_A100, COPIED_A100_NOTE
    return Published(f"copy, {kernel}", "A100", seconds, figure, source, note, PLOT)


def copied_h100(kernel: str, low: float, high: float) -> Published:
    """A range of GB/s: its middle, and how far its ends are from there."""
    middle = (low + high) / 2
    seconds, figure = COPIED / (middle * GIGA), f"~{low}–{high} GB/s"
    source, note, within = COPIED_H100, COPIED_H100_NOTE, (high - low) / 2 / middle
    return Published(f"copy, {kernel}", "H100", seconds, figure, source, note, within)


TIMES: tuple[Published, ...] = (
    boehm("naive", 309.0),
    boehm("coalesced", 1986.5),
    boehm("shared tile", 2980.3),
    boehm("8 to a thread", 8474.7),
    boehm("8 × 8 to a thread", 15971.7),
    boehm("vectorized", 18237.3),
    yencal("coalesced, along rows", "A100", YENCAL_A100, 2.56),
    yencal("shared tile, along rows", "A100", YENCAL_A100, 5.36),
    yencal("8 × 8 to a thread, blocks of 64", "A100", YENCAL_A100, 14.1),
    yencal("vectorized, 16 deep", "A100", YENCAL_A100, 15.77),
    yencal("coalesced, along rows", "RTX 6000 Ada", YENCAL_ADA, 4.55),
    yencal("shared tile, along rows", "RTX 6000 Ada", YENCAL_ADA, 7.69),
    yencal("8 × 8 to a thread, blocks of 64", "RTX 6000 Ada", YENCAL_ADA, 27.5),
    yencal("vectorized, 16 deep", "RTX 6000 Ada", YENCAL_ADA, 41.9),
    turned("naive", 18.0645),
    turned("tile", 8.6235),
    turned("padded tile", 5.0724),
    turned("2 to a thread", 3.6014),
    turned("4 to a thread", 3.0984),
    turned("8 to a thread", 3.0951),
    turned("vectorized", 3.0997),
    turned("vectorized, tile of 64", 2.9228),
    copied_a100("1 byte", 476),
    copied_a100("2 bytes", 833),
    copied_a100("4 bytes", 1326),
    copied_a100("8 bytes", 1383),
    copied_a100("16 bytes", 1393),
    copied_h100("1 byte", 650, 700),
    copied_h100("2 bytes", 1150, 1200),
    copied_h100("4 bytes", 1950, 2050),
    copied_h100("8 bytes", 2550, 2700),
    copied_h100("16 bytes", 3000, 3100),
)
