"""The microscope's counts against the hardware's own, by NVIDIA's profiler, `ncu`.

A step of `make gpu`: the same launches are profiled and traced. profiler.txt and profiler.json list
for every kernel and quantity what the microscope counted, what the profiler did, the difference.
"""

import csv
import json
import os
import shutil
import signal
import sys
from dataclasses import asdict, dataclass, fields
from subprocess import PIPE, STDOUT, run
from time import monotonic

from gpulessons.backends import gpu
from gpulessons.ops.activations import relu
from gpulessons.ops.copy import copy
from gpulessons.ops.matmul import matmul
from gpulessons.ops.reduce import total
from gpulessons.ops.transpose import transpose
from warplens import tracing
from warplens.tables import aligned, per

SIZE = 10_007  # a prime: the last block, row and sector are not full
SECONDS = 60  # under the profiler, at most
TOLERANCE = 0.05  # of the sectors per request
VERSIONS = [
    *(op.versions["CUDA, a thread per element"] for op in (relu, copy)),
    *(transpose.versions[f"CUDA, {name}"] for name in ("naive", "shared tile", "padded tile")),
    *(total.versions[f"CUDA, {name}"] for name in ("interleaved", "strided index", "sequential")),
    *(matmul.versions[f"CUDA, {name}"] for name in ("naive", "coalesced", "shared tile")),
]
QUANTITIES = {
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": "load requests",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "load sectors",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": "store requests",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": "store sectors",
    # What the addresses alone say; l1tex__data_bank_conflicts shows conflicts where there are none
    # (github.com/triton-lang/triton/issues/8149), so it is no judge of ours.
    "memory_l2_theoretical_sectors_global": "theoretical sectors",
    "memory_l1_wavefronts_shared": "shared wavefronts",
}


class CannotProfile(RuntimeError):
    """There are no counters to compare with; the text is a sentence that says why."""


@dataclass(frozen=True)
class Row:
    """One quantity of one launch: by the microscope, and by the profiler."""

    kernel: str
    quantity: str
    counted: float
    profiler: float
    difference: float

    @property
    def apart(self):
        # Compilers merge loads: requests may differ, but sectors per request should agree.
        ratio = self.quantity.endswith("per request")
        return ratio and abs(self.difference) > TOLERANCE * self.counted

    def cells(self):
        numbers = (f"{n:,.6g}" for n in (self.counted, self.profiler, self.difference))
        return self.kernel, self.quantity, *numbers, "FAILED" * self.apart


def compare_with_profiler(out, end):
    """The step: 1 where sectors per request are apart, else 0, and 0 where nothing can profile."""
    rows = []
    try:
        rows = list(compared(parsed(profile(end)), list(counted())))
        head = (*(field.name for field in fields(Row)), "")
        text = "\n".join(aligned([head, *(row.cells() for row in rows)], numbers="right"))
    except CannotProfile as why:
        text = f"Not compared with NVIDIA's profiler: {why}"
    print(text)
    (out / "profiler.txt").write_text(text + "\n")
    (out / "profiler.json").write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    return int(any(row.apart for row in rows))


def launch(version):  # on the GPU; inside `tracing()`, in the microscope
    op = version.op
    version(*map(gpu.put, op.inputs(SIZE if op.unit == "elements" else op.sizes[0])))


def counted():
    """Yield (version, kernel's name, {quantity: number}) of every launch."""
    for version in VERSIONS:
        with tracing() as traces:
            launch(version)
        for trace in traces:
            yield f"{version.op.name}: {version.name}", trace.kernel, numbers_of(trace)


def numbers_of(trace):
    numbers = {
        "theoretical sectors": trace.coalescing().sectors,
        "shared wavefronts": trace.banks().wavefronts,
    }
    for kind, access in (("load", "read"), ("store", "write")):
        moved = trace.coalescing(access=access)
        numbers[f"{kind} requests"], numbers[f"{kind} sectors"] = moved.requests, moved.sectors
    return numbers


def profile(end):
    """What `ncu` prints of the launches, made by this file in a process of its own."""
    if not (ncu := shutil.which("ncu")):
        raise CannotProfile("there is no `ncu` on the PATH; install NVIDIA Nsight Compute.")
    seconds = max(1, int(min(SECONDS, end - monotonic())))
    options = "--csv --clock-control none --print-units base --target-processes all --metrics"
    command = [ncu, *options.split(), ",".join(QUANTITIES), sys.executable, __file__, str(seconds)]
    env = {**os.environ, "LC_ALL": "C"}  # elsewhere a thousand may be 1.000
    return run(command, env=env, text=True, stdout=PIPE, stderr=STDOUT).stdout


def parsed(text):
    """(kernel's name, {quantity: number}) of every launch in ncu's CSV; its errors are raised."""
    for line in text.splitlines():
        if line.startswith("==ERROR== "):
            raise CannotProfile(line.removeprefix("==ERROR== "))
    launches = {}
    for row in csv.DictReader(line for line in text.splitlines() if line.startswith('"')):
        kernel, metric, value = row["Kernel Name"], row["Metric Name"], row["Metric Value"]
        if not value[:1].isdigit():
            raise CannotProfile(f"of {metric} ncu says {value}: this GPU has no such counter.")
        _, numbers = launches.setdefault(row["ID"], (kernel, {}))
        numbers[QUANTITIES[metric]] = float(value.replace(",", ""))
    return list(launches.values())


def compared(profiled, counted):
    theirs, ours = [name for name, _ in profiled], [kernel for _, kernel, _ in counted]
    if len(ours) != len(theirs) or not all(map(str.__contains__, theirs, ours)):
        raise CannotProfile(f"ncu saw {theirs or 'no launch'} where these were launched: {ours}.")
    for (_, found), (title, kernel, count) in zip(profiled, counted, strict=True):
        if kernel != "zero_kernel":  # it clears the sum before each total
            found, count = with_ratios(found), with_ratios(count)
            yield from (Row(title, q, count[q], found[q], found[q] - count[q]) for q in count)


def with_ratios(numbers):
    each = {k: per(numbers[f"{k} sectors"], numbers[f"{k} requests"]) for k in ("load", "store")}
    return numbers | {f"{kind} sectors per request": ratio for kind, ratio in each.items()}


if __name__ == "__main__":
    signal.alarm(int(sys.argv[1]))  # a launch that hangs ends here, and `ncu` with it
    for version in VERSIONS:
        launch(version)
    gpu.sync()
