"""`gpulessons doctor` and `gpulessons ops`: what this machine is, and what works on it."""

import sys
from argparse import Namespace
from contextlib import suppress
from importlib import metadata
from pathlib import Path

import gpulessons
from gpulessons.hardware import why_no_gpu
from gpulessons.hardware.pools import blas_in_words

from .terminal import GET_LAB, find_op, op_names

PACKAGE = Path(gpulessons.__file__).parent
NEEDED = (
    "numpy", "numba", "torch", "matplotlib", "pillow", "ipywidgets", "ipython",
    "threadpoolctl", "psutil", "py-cpuinfo", "platformdirs", "tqdm", "pygments",
)  # fmt: skip
WITHOUT_GPU = (
    "The course can run here, on the CPU. Without a GPU, CUDA versions are checked thread by "
    "thread."
)


def doctor(options: Namespace) -> int:
    """say what this machine is, what works on it, and what to do about the rest"""
    versions = {name: installed(name) for name in (*NEEDED, "jupyterlab")}
    missing = [name for name in NEEDED if not versions[name]]
    pip = f"{sys.executable} -m pip install"

    print(f"gpulessons {gpulessons.__version__}, in {PACKAGE}\n")
    with suppress(ImportError):
        import torch  # noqa: F401  # what it computes on is known from then on
    print(gpulessons.machine(again=options.again), end="\n\n")
    print("packages:", ", ".join(f"{name} {version or '–'}" for name, version in versions.items()))
    if blas := blas_in_words():
        print(f"NumPy multiplies by {blas}.")
    if not versions["jupyterlab"]:
        print(f"JupyterLab is missing; only `gpulessons lab` needs it. Try: {GET_LAB}")
    if missing:
        print(f"The course cannot run without {', '.join(missing)}. Try: {pip} {' '.join(missing)}")
        return 1
    print()
    with_gpu = print_backends()
    if with_gpu:
        print("\nThe course can run here, GPU included.")
    else:
        from gpulessons.measure.on_paper import SWITCH

        print(f"\n{WITHOUT_GPU}\nTheir times are modelled, and say so: {', '.join(SWITCH)}.")
    return 0


def print_backends() -> bool:
    """A line for each backend; True when one of them is a GPU that works."""
    from gpulessons.backends import BACKENDS

    reasons = {name: backend.why_not() for name, backend in BACKENDS.items()}
    more = {"gpu": why_no_gpu()}  # elsewhere the reason is that this command says more
    for name, why in reasons.items():
        print(f"{name:<10} {BACKENDS[name].label:<16} {more.get(name) or why or 'ready'}")
    return any("gpu" in name and not why for name, why in reasons.items())


def ops(options: Namespace) -> None:
    """list the ops and their versions, and which of them can run here"""
    from gpulessons.backends import BACKENDS

    reasons = {name: backend.why_not() for name, backend in BACKENDS.items()}
    for op in map(find_op, op_names()):
        print(f"{op.name}: {(op.__doc__ or '').splitlines()[0]}")
        for version in op.versions.values():
            here = "not here" if reasons[version.backend.name] else "ready"
            print(f"  {version.name:<34} {version.backend.name:<10} {here}")
    print(*(f"{name} is not here: {why}" for name, why in reasons.items() if why), sep="\n")


def installed(distribution: str) -> str:
    """Its version, "" when there is none."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""
