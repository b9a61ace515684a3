"""Every version and every exercise's kernel by WebGPU: right, refused or wrong? Prints a table.

python tools/any_gpu.py             # on the GPU that WebGPU reaches, or a driver in its place
VK_ICD_FILENAMES=/usr/lib/chromium/vk_swiftshader_icd.json python tools/any_gpu.py
"""

import linecache
import sys
from collections import Counter

import numpy as np
from numba import cuda

import gpulessons
from gpulessons import check, exercises
from gpulessons.backends import NotHere, any_gpu, gpu
from gpulessons.operation import as_tuple
from warplens import KernelFault, webgpu
from warplens.tables import aligned

OPS = [name for home, names in gpulessons.HOMES.items()
       for name in names.split() if home.startswith("ops.")]  # fmt: skip


def state_of(op, version):
    """(right, wrong, refused or not here; the largest error, or why) at the op's edge cases."""
    worst = 0.0
    for size in op.edge_cases:
        inputs = op.inputs(size, seed=size)
        try:
            with gpu.answering():
                out = op.poisoned(gpu, *inputs) if version.writes_out else None
                result = version.bound([gpu.put(x) for x in inputs], out)()
                result = out if result is None else result
                got = tuple(map(gpu.get, as_tuple(result)))
        except NotHere as why:
            return "not here", str(why)
        except (webgpu.Refused, KernelFault) as why:
            return "refused", str(why)
        got = got if isinstance(result, (tuple, list)) else got[0]
        error = op.error(got, op.reference(*inputs))
        if not error <= version.rtol:
            return "wrong", f"at {size}: off by {error:.2g} of {version.rtol:.2g}"
        worst = max(worst, error)
    return "right", f"off by {worst:.1g} of {version.rtol:.1g}"


def attempt(exercise):
    """Its solution as a learner's cell leaves it behind."""
    file = f"<solution of {exercise.name}>"
    lines = exercise.solution.splitlines(keepends=True)
    linecache.cache[file] = len(exercise.solution), None, lines, file
    names = {"np": np, "cuda": cuda}
    exec(compile(exercise.solution, file, "exec"), names)
    return list(names.values())[-1]


def state_of_exercise(exercise):
    """(state, words) of its solution; None where no kernel of it runs on a GPU."""
    verdict = check(exercise, attempt(exercise))
    if "by WebGPU" not in verdict.ran:
        return None
    refused = "not on the GPU" in verdict.ran
    return "refused" if refused else "right" if verdict.passed else "wrong", verdict.ran


def rows():
    """(op, version, state, words) for each version, and the same of exercises."""
    for op in (getattr(gpulessons, name) for name in OPS):
        for name, version in op.versions.items():
            if version.backend is gpu:
                yield op.name, name, *state_of(op, version)
    for name in exercises.NAMES:
        if found := state_of_exercise(getattr(exercises, name)):
            yield "exercise", name, *found


def main():
    if any_gpu() is None:
        print(webgpu.why_not() or "There is CUDA here; GPULESSONS_GPU=webgpu takes WebGPU.")
        return 1
    found = list(rows())
    print(any_gpu().name, *aligned(list(map(list, found))), sep="\n")
    for what, those in ("versions", [r for r in found if r[0] != "exercise"]), (
        "exercises", [r for r in found if r[0] == "exercise"]):  # fmt: skip
        states = Counter(row[2] for row in those)
        print(f"{what}:", ", ".join(f"{count} {state}" for state, count in states.items()))
    return any(row[2] == "wrong" for row in found)


if __name__ == "__main__":
    sys.exit(main())
