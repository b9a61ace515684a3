"""Model every taught kernel on the course's GPUs, for pages that cannot wait for it.

    python tools/model_kernels.py [OP …]     all ops, unless named; the others' rows stay

Writes gpulessons/measure/modelled.csv. A notebook shows these times at once, where modelling them
would take minutes.
"""

import csv
import io
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from functools import partial
from importlib import metadata

from tqdm import tqdm

import gpulessons
from gpulessons.backends import NotHere
from gpulessons.hardware import files
from gpulessons.hardware.system import commit
from gpulessons.measure.modelled import FILE, modelled_anew, shapes_of
from gpulessons.measure.on_paper import SWITCH
from gpulessons.ops import conv2d, dense, lstm_sequence
from warplens.model.devices import named
from warplens.model.modelling import CannotModel

COMPILERS = ("numba", "numba-cuda", "nvidia-nvvm", "nvidia-nvjitlink", "nvidia-cuda-nvdisasm")
COLUMNS = (
    "op", "version", "inputs", "gpu", "seconds", "low", "high", "limiter", "runner_up", "why",
)  # fmt: skip
# What notebooks ask for beside each op's own sizes.
MORE = {
    **dict.fromkeys(("copy", "transpose", "triad", "total", "gelu"), (2_000_000,)),
    **dict.fromkeys(("adam_step", "bias_gelu"), (2_000_000,)),
    "relu": (1, 100, 10_000, 921_600, 1_000_000, 2_000_000),
    "attention": (512, 2048, 4096, 8192),
    "matmul": (512,),
    "softmax": (1_000_000,),
    "shade": (50_000,),
}
# GPUs beside the switch's: cuDNN's steps are published for this one.
ALSO_ON = dict.fromkeys(("lstm_cell", "lstm_sequence"), ("V100",))
# Kernels whose blocks have more or less to do, by the values that they meet.
UNLIKE = {"shade", "tree_softmax"}
WHY_UNLIKE = "how much a block has to do depends on its data, and a few blocks do not stand for all"


def taught():
    """{name: op} of every op that the course teaches."""
    names = [
        name for home, names in gpulessons.HOMES.items()
        for name in names.split() if home.startswith("ops.")
    ]  # fmt: skip
    return {name: getattr(gpulessons, name) for name in names}


def fewer_steps(size, rng):
    """The inputs of lstm_sequence in notebook 08: half of the steps."""
    x, *rest = lstm_sequence.sequences(size, rng)
    return x[:32], *rest


def others():
    """(op with the inputs of a notebook's own, its sizes)."""
    yield gpulessons.dense.like(dense.sized(4096, 4096)), (1, 64, 1024)
    yield gpulessons.lstm_sequence.like(fewer_steps), (256, 512)
    for pictures in (1, 16):  # of notebook 07: the border is there already
        yield conv2d.shaped((pictures, 64, 64), (3, 3), padding=0), (58,)


def jobs(names=()):
    """(op, version, size, what names its inputs in the file, GPUs) of all to model."""
    asked = [(op, size, str(size)) for name, op in taught().items()
             for size in sorted({*op.sizes, *MORE.get(name, ())})]  # fmt: skip
    asked += [(op, size, shapes_of(op, size)) for op, sizes in others() for size in sizes]
    return [
        (op, version, size, inputs, (*SWITCH, *ALSO_ON.get(op.function.__name__, ())))
        for op, size, inputs in asked if not names or op.function.__name__ in names
        for version in op.versions.values() if version.backend.name == "gpu"
    ]  # fmt: skip


def rows_of(place, names):
    """The rows of the job at this place, one for each GPU; in a process of its own."""
    op, version, size, inputs, gpus = jobs(names)[place]
    about = {"op": op.function.__name__, "version": version.name, "inputs": inputs}
    if op.function.__name__ in UNLIKE:
        return [{**about, "gpu": gpu, "why": WHY_UNLIKE} for gpu in gpus]
    try:
        found = modelled_anew(version, size, *map(named, gpus))
    except (CannotModel, NotHere):  # so it is on the oldest: newer ones may have another answer
        return [{**about, "gpu": gpu, **alone(version, size, gpu)} for gpu in gpus]
    return [{**about, "gpu": one.gpu, **fields(one)} for one in found]


def alone(version, size, gpu):
    """What the file has of a version on a single GPU: its time, or why it has none."""
    try:
        return fields(modelled_anew(version, size, named(gpu))[0])
    except (CannotModel, NotHere) as why:
        return {"why": str(why)}


def fields(found):
    """What the file has of a modelled time: four digits, for more is not known."""
    if found.counted_from != "machine code":
        raise SystemExit("These times are counted from source: install nvidia-cuda-nvdisasm.")
    times = {name: getattr(found, name) for name in ("seconds", "low", "high")}
    digits = {name: f"{time:.4g}" for name, time in times.items() if time is not None}
    return {**digits, "limiter": found.limiter, "runner_up": found.runner_up}


def order(row):
    return row["op"], row["version"], len(row["inputs"]), row["inputs"], row["gpu"]


def main(names=(), file=FILE, workers=2):
    """Model the ops of these names, or all, and write the file."""
    rows = []
    if names:
        _, *lines = file.read_text(encoding="utf-8").splitlines()
        rows = [row for row in csv.DictReader(lines) if row["op"] not in names]
    work = partial(rows_of, names=names)
    with ProcessPoolExecutor(workers) as pool:
        places = range(len(jobs(names)))
        for found in tqdm(pool.map(work, places), total=len(places), unit="kernels"):
            rows += found
    there = {each.metadata["Name"]: each.version for each in metadata.distributions()}
    compilers = ", ".join(f"{name} {there[name]}" for name in COMPILERS if name in there)
    text = io.StringIO()
    text.write(f"# modelled on {date.today()} with commit {commit()}; {compilers}\n")
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(sorted(rows, key=order))
    files.write(file, text.getvalue())


if __name__ == "__main__":
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    main(tuple(sys.argv[1:]))
