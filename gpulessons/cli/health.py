"""`gpulessons doctor`: what this machine is, and what works on it."""

import sys
from argparse import Namespace
from contextlib import suppress
from importlib import metadata
from pathlib import Path

import gpulessons
from gpulessons.hardware import other_gpu, why_no_gpu
from gpulessons.hardware.pools import blas_in_words

from .terminal import GET_LAB, Parser

NEEDED = (
    "numpy", "numba", "torch", "matplotlib", "pillow", "ipywidgets", "ipython",
    "threadpoolctl", "psutil", "py-cpuinfo", "platformdirs", "tqdm", "pygments",
)  # fmt: skip
WITHOUT_GPU = (
    "The course can run here, on the CPU. Without a GPU, CUDA versions are checked thread by "
    "thread."
)


def describe(parser: Parser) -> None:
    """Add what the command takes to its parser."""
    again = "measure its ceilings again, instead of those that are kept"
    parser.add_argument("--again", action="store_true", help=again)


def doctor(options: Namespace) -> int:
    """say what this machine is, what works on it, and what to do about the rest"""
    versions = {name: installed(name) for name in (*NEEDED, "jupyterlab")}
    missing = [name for name in NEEDED if not versions[name]]
    print(f"gpulessons {gpulessons.__version__}, in {Path(gpulessons.__file__).parent}\n")
    with suppress(ImportError):
        import torch  # noqa: F401  # what it computes on is known from then on
    print(gpulessons.machine(again=options.again), end="\n\n")
    print("packages:", ", ".join(f"{name} {version or '–'}" for name, version in versions.items()))
    if blas := blas_in_words():
        print(f"NumPy multiplies by {blas}.")
    if not versions["jupyterlab"]:
        print(f"JupyterLab is missing; only `gpulessons lab` needs it. Try: {GET_LAB}")
    if missing:
        pip = f"{sys.executable} -m pip install {' '.join(missing)}"
        print(f"The course cannot run without {', '.join(missing)}. Try: {pip}")
        return 1
    print_backends()
    return 0


def print_backends() -> None:
    """A line for each backend, and what the course does on them."""
    from gpulessons.backends import BACKENDS, gpu
    from gpulessons.measure.on_paper import SWITCH
    from warplens.tables import aligned

    reasons = {name: backend.why_not() for name, backend in BACKENDS.items()}
    more = {"gpu": why_no_gpu()}  # elsewhere the reason is that this command says more
    lines = [[name, BACKENDS[name].label, (why and more.get(name)) or why or "ready"]
             for name, why in reasons.items()]  # fmt: skip
    print("", *aligned(lines), "", sep="\n")
    if offer := other_gpu():
        print(offer)
    if gpu.answers() and why_no_gpu():
        print(gpu.remark() or f"Exercises are checked there, too: {reasons['gpu']}.")
    if reasons["gpu"] and reasons["torch_gpu"]:
        print(f"{WITHOUT_GPU}\nTheir times are modelled, and say so: {', '.join(SWITCH)}.")
    else:
        print("The course can run here, GPU included.")


def installed(distribution: str) -> str:
    """Its version, "" when there is none."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""
