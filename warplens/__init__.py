"""Run any Numba-CUDA kernel warp by warp, without a GPU, and see exactly what it did.

    t = trace(kernel)[grid, block](x, y)      # the arrays hold the kernel's result
    t.coalescing("x").sectors_per_request     # also .banks(), .atomics(), .divergence(), .work()
    t.races()                                 # two threads, one cell, nothing that orders them
    with tracing() as launches:               # whole programs, every launch traced
        main()

    python -m warplens script.py              # the same from outside; for tests pytest --warplens

What a GPU would not survive is raised: `OutOfBounds`, `Misaligned`, `PartialBarrier`,
`PartialWarp`, `LaunchError`, `NoProgress` (all `KernelFault`). What it lets pass and a reader
should not is in `Trace.warnings`. What is not followed is refused as `Unsupported`, by name and
line; what Numba-CUDA's compiler refuses for its types is `Untypable`. An intrinsic
of one's own is followed if it has an attribute `traced`: what a warp does instead.

How is a race found? report/races says what one is, report/search finds it in the log. For the rest
read on in the order of a launch:

    runner             `trace(kernel)[grid, block](…)`, from the call to the `Trace`
    arguments          what a caller hands over; `signatures`: what types it then has
    programs, device   `tracing()`: a whole program, on a device that is the host
    source/writer      how a kernel becomes a Python function on vectors of lanes: its statements
    source/expressions  … and its expressions;  source/names: what a name from outside means
    source/compile     how long such a function is kept
    lanes/launch       in which order blocks and warps run;  lanes/barriers: where they meet
    lanes/masks, flow  which lanes are active: divergence, and coming together again
    lanes/values       arithmetic as Numba types it;  lanes/functions: sqrt, …
    lanes/memory       how an index finds its place in memory, and is kept within its array
    lanes/access       reading and writing there;  lanes/atomics
    lanes/intrinsics   what `cuda.…` means: a table of all that a kernel may call there
    lanes/log          what is noted of all this
    report/counts      how sectors, lines and bank conflicts are counted
    report/traces      `Trace`, and what it can be asked;  report/reports: its answers
    findings           what was found, in lines for a terminal
    webgpu             beside all this: the same kernels, translated to WGSL, on any GPU

Limits. Counts are those of the source: no caches, no loads merged or hoisted by a compiler, no
predication (`if` and loops are branches; `and`, `or` and conditional expressions are not). Every
array begins at an aligned address, except slices of device arrays. What Numba types as float64
counts as that, also the few doubles that LLVM makes float32 again (`x * 0.5`, stored as one). A
variable with two types on two ways through the code takes the wider one where threads of both ways
meet, but keeps the narrower one where all threads went the same way (Numba would widen it there
too). The order that memory fences and a `syncwarp` of part of a warp make is not followed. Threads
of one block cannot wait for each other in a loop. README.md lists what is refused; a kernel needs
source that `inspect` can find. The order in which things happen is fixed, and said in
`lanes.launch`.
"""

import importlib

HOMES = {
    "faults": "Caution KernelFault LaunchError Misaligned NoProgress OutOfBounds PartialBarrier "
    "PartialWarp Unsupported Untypable",
    "programs": "tracing",
    "report.races": "Race Races",
    "report.reports": "Atomics Banks Coalescing Divergence Work",
    "report.traces": "Trace",
    "runner": "trace",
    "code.cuda": "assembly",
    "model.devices": "devices",
    "model.modelling": "modelled",
    "model.occupancy": "occupancy",
}
home_of = {name: home for home, names in HOMES.items() for name in names.split()}
__all__ = sorted(home_of)


def __getattr__(name):  # type: ignore[no-untyped-def]
    """Every public name is loaded at its first use: `import warplens` costs nothing."""
    if name not in home_of:
        raise AttributeError(f"warplens has no {name!r}; it has {', '.join(__all__)}.")
    value = getattr(importlib.import_module(f".{home_of[name]}", __name__), name)
    globals()[name] = value
    return value
