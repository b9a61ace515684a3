"""The course's target ratios, measured side by side in one run: `make bench`.

    python benchmarks/ratios.py                        every row
    python benchmarks/ratios.py relu-copy gelu         these rows
    python benchmarks/ratios.py --json FILE            and keep what was measured
    python benchmarks/ratios.py --list                 which rows there are

A ratio says how many times faster the first side is than the second: the median over rounds in
which both took their turn, and the middle half of those rounds. A notebook's row says how many
seconds it takes to run, and the fewer the better. "firm" is what the course promises, "aim" where
the best would be. All is measured in full, whatever GPULESSONS_BUDGET says. The exit status is 0;
1 when a row that belongs on this machine could not be measured, or none does; 2 when the command
was wrong.
"""

import argparse
import json
import math
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import two_hosts
from contests import (
    LARGE_GPU,
    adam_in_place,
    against_do_bench,
    against_simulator,
    by_hand_or_harness,
    contest,
    inverted,
    loops_or_registers,
    odd_product,
    on_one_core,
    relu_or_copy,
    resnet_batch,
    root,
    softmax_or_copy,
    transpose_or_copy,
    triad_or_copy,
)
from lessons import NOTEBOOKS, seconds_of, seconds_to_import, seconds_to_picture, seconds_to_test
from processes import engine_or_model, hogwild_or_one, hosts_or_model
from trees import against_annoy, tree_or_full

from gpulessons.backends import gpu, torch_gpu
from gpulessons.hardware import budget
from gpulessons.hardware.pools import blas_in_words
from gpulessons.hardware.system import cores, cpu_name, simd
from gpulessons.measure.results import Ratio
from gpulessons.ops.activations import relu
from gpulessons.ops.activations_more import gelu
from gpulessons.ops.attention import attention
from gpulessons.ops.bias_activation import bias_gelu
from gpulessons.ops.conv2d import conv2d
from gpulessons.ops.lstm_sequence import lstm_sequence
from gpulessons.ops.matmul import matmul
from gpulessons.ops.softmax import softmax
from gpulessons.ops.vectors import FEATURES


@dataclass(frozen=True)
class Row:
    """One target: its name, what is promised and hoped for, where it runs, how it is measured."""

    name: str
    firm: float
    aim: float
    where: str  # "CPU" or "GPU", perhaps "… with" a library that must be installed
    about: str
    measure: Callable[[], Ratio]
    is_one: bool = False  # a target of 1: above is as far off as below
    unit: str = "ratio"  # or "seconds", of which fewer are better
    needs: Callable[[], str] = str  # what else is missing here, "" when nothing is
    if_named: bool = False  # takes so long that one has to ask for it

    def why_not(self):
        """ "" when it can run here, else why not and what to do."""
        place, _, library = self.where.partition(" with ")
        if place == "GPU" and (why := gpu.why_not() or torch_gpu.why_not()):
            return why
        if library and not find_spec(library):
            return f"{library} is not installed; try: pip install {library}"
        return self.needs()

    def standing(self, value):
        """How this figure compares with the target, in a word or two."""
        if self.unit == "seconds":
            return "aim met" if value <= self.aim else "met" if value <= self.firm else "too long"
        reached = min(value, 1 / value) if self.is_one else value
        return "aim met" if reached >= self.aim else "met" if reached >= self.firm else "short"


@dataclass(frozen=True)
class Outcome:
    """What became of a row."""

    row: Row
    found: Ratio

    @property
    def measured(self):
        return not math.isnan(self.found.median)

    @property
    def noisy(self):
        return self.measured and bool(self.found.refused)

    def __str__(self):
        row, found = self.row, self.found
        if not self.measured:
            why = " ".join(found.refused.split())  # a driver's message may have many lines
            return f"{row.name:<15} not measured: {why}"
        verdict = "too noisy" if self.noisy else row.standing(found.median)
        figure = f"{found.median:6.3f} ({found.low:.3f}–{found.high:.3f})"
        if row.unit == "seconds":
            figure = f"{found.median:6.3g} s"
        return f"{row.name:<15} {figure}  firm {row.firm}, aim {row.aim}: {verdict}"

    def plain(self):
        """As JSON has it."""
        row, found = self.row, self.found
        return {
            **{"name": row.name, row.unit: found.median, "low": found.low, "high": found.high},
            **{"firm": row.firm, "aim": row.aim, "noisy": self.noisy},
            **{"cpu": this_cpu(), "day": date.today().isoformat()},
        }


# The rungs of the product that keep float32's precision: not the tensor cores.
FLOAT32_RUNGS = "CUDA, 1-D", "CUDA, 2-D", "CUDA, vectorized", "CUDA, double"


def this_cpu():
    """Its name, its cores, and the vectors that all who compute here may use."""
    vectors = simd()[0] or "vectors unknown"
    if vectors == "AVX-512" and "+avx512f" not in FEATURES:
        vectors = "held to AVX2"  # by machines.py
    return f"{cpu_name() or 'a CPU'}, {cores()} core{'s' * (cores() > 1)}, {vectors}"


def two_cores():
    return "" if cores() > 1 else "it needs two cores, and here is one"


# -- The rows, "ours / theirs" in their descriptions.

ROWS = (
    Row("relu-copy", 0.90, 0.98, "CPU", "Numba ReLU / torch copy, bytes per second, 64 MiB",
        lambda: contest(relu_or_copy, "relu: Numba", "copy: PyTorch on CPU")),
    Row("gelu", 0.60, 1.0, "CPU", "Numba GELU / torch",
        lambda: contest(gelu, "Numba", "PyTorch on CPU")),
    Row("bias-gelu", 1.2, 2.0, "CPU", "Numba's fused bias + GELU / torch eager's two passes",
        lambda: contest(bias_gelu, "Numba, fused", "PyTorch, two operators, CPU")),
    Row("adam", 0.8, 1.0, "CPU", "Adam's step in place: Numba fused / torch.optim.Adam(fused=True)",
        lambda: contest(adam_in_place, "Numba", "PyTorch, fused")),
    Row("matmul", 0.85, 0.95, "CPU", "Numba product / NumPy's BLAS, 1024³, all cores",
        lambda: contest(matmul, "Numba, registers, every core", "NumPy", 1024)),
    Row("matmul-2048", 0.80, 0.90, "CPU", "Numba product / NumPy's BLAS, 2048³, all cores",
        lambda: contest(matmul, "Numba, registers, every core", "NumPy", 2048, seconds=6)),
    Row("matmul-odd", 0.80, 0.90, "CPU", "Numba product / NumPy's BLAS, 1000 × 513 × 1111",
        lambda: contest(odd_product, "Numba, registers, every core", "NumPy", 1000)),
    Row("matmul-blocked", 50, 150, "CPU", "Numba product, registers / naive, 1024³, one core",
        lambda: contest(loops_or_registers, "Numba, registers, one core", "Numba, one core, ijk",
                        1024, seconds=30)),
    Row("conv-direct", 0.85, 1.0, "CPU", "Numba direct convolution / torch, ResNet 3×3 layer",
        lambda: contest(conv2d, "Numba, direct", "PyTorch on CPU", 56)),
    Row("conv-im2col", 0.70, 0.80, "CPU", "Numba im2col convolution / torch, the same, on one core",
        lambda: on_one_core(lambda: contest(conv2d, "Numba, im2col", "PyTorch on CPU", 56))),
    Row("im2col-cores", 0.70, 0.80, "CPU", "the same on all cores",
        lambda: contest(conv2d, "Numba, im2col", "PyTorch on CPU", 56), needs=two_cores),
    Row("softmax", 0.45, 0.90, "CPU", "Numba softmax / torch, 4096 × 1009",
        lambda: contest(softmax, "Numba", "PyTorch on CPU", 4096 * 1009)),
    Row("lstm-fused", 1.5, 3, "CPU", "LSTM in NumPy: the best rung / eight products a step",
        lambda: contest(lstm_sequence, ("NumPy, input", "NumPy, one"),
                        "NumPy, eight products a step", 256)),
    Row("forest", 0.5, 1.0, "CPU with annoy", "forest / Annoy, queries per second at equal recall",
        against_annoy),
    Row("tree-softmax", 20, 100, "CPU", "training step, 100,000 classes: tree / full softmax",
        lambda: inverted(contest(tree_or_full, ("full: NumPy", "full: PyTorch on CPU"),
                                 "tree: Numba", 100_000))),
    Row("microscope", 10, 50, "CPU", "the microscope, counts and races / Numba's simulator",
        against_simulator),
    Row("hogwild", 1.5, 1.8, "CPU", "Hogwild: two processes without a lock / one, to equal loss",
        hogwild_or_one, needs=two_cores),
    Row("gloo-model", 0.80, 0.95, "CPU", "gloo's all-reduce as near as this to its fitted model",
        engine_or_model),
    Row("hosts-1000", 0.80, 0.95, "CPU", "efficiency at 1 Gbit/s as near as this to the model's",
        lambda: hosts_or_model(1000), needs=two_hosts.why_not),
    Row("hosts-200", 0.80, 0.95, "CPU", "efficiency at 200 Mbit/s as near as this to the model's",
        lambda: hosts_or_model(200), needs=two_hosts.why_not),
    Row("harness-aa", 0.98, 0.995, "CPU", "the harness: one version under two names",
        lambda: contest(root, "NumPy again", "NumPy", 100_000), is_one=True),
    Row("bare-relu", 0.90, 0.95, "CPU", "torch's ReLU, 8 elements: by hand / by the harness",
        lambda: by_hand_or_harness(relu, "call(x, 0, out=out)", "call = torch.clamp_min"),
        is_one=True),
    Row("bare-gelu", 0.90, 0.95, "CPU", "torch's GELU, 8 elements: by hand / by the harness",
        lambda: by_hand_or_harness(gelu, "call(x, approximate='tanh', out=out)",
                                   "call = torch.nn.functional.gelu"), is_one=True),
    Row("bare-matmul", 0.90, 0.95, "CPU", "torch's product, 8 × 8: by hand / by the harness",
        lambda: by_hand_or_harness(matmul, "call(x, z, out=out)", "call = torch.mm"), is_one=True),
    Row("cuda-relu", 0.92, 0.97, "GPU", "CUDA ReLU / device-to-device copy",
        lambda: contest(relu_or_copy, "relu: CUDA", "copy: PyTorch on GPU", LARGE_GPU)),
    Row("cuda-copy", 0.92, 0.97, "GPU", "CUDA copy / device-to-device copy",
        lambda: contest(relu_or_copy, "copy: CUDA", "copy: PyTorch on GPU", LARGE_GPU)),
    Row("cuda-triad", 0.92, 0.97, "GPU", "CUDA triad / device-to-device copy, bytes per second",
        lambda: contest(triad_or_copy, "triad: CUDA", "copy: PyTorch on GPU", LARGE_GPU, 3 / 2)),
    Row("cuda-transpose", 0.80, 0.92, "GPU", "CUDA padded transpose / device-to-device copy",
        lambda: contest(transpose_or_copy, "transpose: CUDA", "copy: PyTorch on GPU", LARGE_GPU)),
    Row("cuda-matmul", 0.55, 0.80, "GPU", "best CUDA float32 product / cuBLAS, TF32 off, 4096³",
        lambda: contest(matmul, FLOAT32_RUNGS, "PyTorch on GPU", 4096)),
    Row("cuda-coalesced", 3, 6, "GPU", "CUDA product: coalesced / naive, 4096³",
        lambda: contest(matmul, "CUDA, coalesced", "CUDA, naive", 4096, seconds=6)),
    Row("cuda-registers", 3, 5, "GPU", "CUDA product: 2-D register tile / shared tile, 4096³",
        lambda: contest(matmul, "CUDA, 2-D register tile", "CUDA, shared tile", 4096)),
    Row("cuda-conv", 0.25, 0.50, "GPU", "CUDA convolution / cuDNN, TF32 off, ResNet 3×3, batch 32",
        lambda: contest(resnet_batch, "CUDA", "PyTorch on GPU", 56)),
    Row("cuda-softmax", 0.80, 0.92, "GPU", "CUDA softmax / device-to-device copy",
        lambda: contest(softmax_or_copy, "CUDA", "copy: PyTorch on GPU", LARGE_GPU)),
    Row("cuda-lstm", 0.25, 0.60, "GPU", "CUDA LSTM / cuDNN's, 256 units, batch 32, 64 steps",
        lambda: contest(lstm_sequence, "CUDA", "PyTorch, nn.LSTM, GPU", 256)),
    Row("cuda-attention", 0.15, 0.40, "GPU", "CUDA tiled attention / torch's fused, float32",
        lambda: contest(attention, "CUDA, tiled", "PyTorch, fused, GPU", 4096)),
    Row("cuda-tree", 3, 20, "GPU", "training step, 1,000,000 classes: tree / full softmax",
        lambda: inverted(contest(tree_or_full, "full: PyTorch on GPU", "tree: CUDA", 1_000_000))),
    Row("harness-aa-gpu", 0.98, 0.995, "GPU", "the harness on a GPU: one version under two names",
        lambda: contest(root, "PyTorch on GPU again", "PyTorch on GPU", LARGE_GPU), is_one=True),
    Row("do-bench", 0.97, 0.99, "GPU with triton", "the harness's median / triton's do_bench",
        against_do_bench, is_one=True),
    Row("import", 3, 1, "CPU", "seconds to import what page 00 does, in a new process",
        seconds_to_import, unit="seconds"),
    Row("first-picture", 20, 10, "CPU with nbclient", "seconds until page 00 shows a picture",
        partial(seconds_to_picture, NOTEBOOKS[0]), unit="seconds"),
    Row("tests", 3600, 1200, "CPU with pytest", "seconds of processor time that `make test` takes",
        seconds_to_test, unit="seconds", if_named=True),
    *(Row(f"notebook-{path.stem[:2]}", 60, 30, "CPU with nbclient", f"seconds to run {path.stem}",
          partial(seconds_of, path), unit="seconds") for path in NOTEBOOKS),
)  # fmt: skip


# -- The command.


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Measure the course's target ratios.")
    parser.add_argument("names", nargs="*", metavar="name", help="rows to measure (default: all)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep what was measured here")
    parser.add_argument("--list", action="store_true", help="list the rows, and measure nothing")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in {row.name for row in ROWS}]
    if unknown:
        print(f"No row is named {', '.join(unknown)}; see --list.", file=sys.stderr)
        return 2
    rows = [row for row in ROWS
            if row.name in options.names or not (options.names or row.if_named)]  # fmt: skip
    if options.list:
        print(*(f"{row.name:<15} {row.where:<16} {row.about}" for row in rows), sep="\n")
        return 0
    if blas := blas_in_words():
        print(f"NumPy multiplies by {blas}.", file=sys.stderr)
    return measure(rows, options.json)


def measure(rows, file=None):
    """Measure and print row after row, keeping each in the file at once; the exit status."""
    os.environ.pop(budget.NAME, None)  # also for the kernels and workers that are started here
    measured, failed = [], 0
    try:
        write([], file)  # what cannot be written should say so now, not after a minute
        for place, row in enumerate(rows, 1):
            print(f"[{place}/{len(rows)}] {row.about}", file=sys.stderr, flush=True)
            why = row.why_not()
            found = outcome(row) if not why else Outcome(row, no_ratio(why))
            print(found, flush=True)
            measured += [found.plain()] * found.measured
            failed += not (found.measured or why)
            write(measured, file)
    except OSError as trouble:
        print(f"Cannot write {file}: {trouble}. Choose another file.", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Interrupted; what was measured until then stands above.", file=sys.stderr)
        return 130
    return int(failed > 0 or not measured)


def outcome(row):
    """Measure a row; what goes wrong becomes the reason why there is no ratio."""
    try:
        return Outcome(row, row.measure())
    except Exception as trouble:
        return Outcome(row, no_ratio(f"{type(trouble).__name__}: {trouble}"))


def no_ratio(why):
    return Ratio(math.nan, math.nan, math.nan, why)


def write(rows, file):
    if file:
        file.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
