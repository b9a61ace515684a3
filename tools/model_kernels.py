"""Model every taught kernel on the course's GPUs, and keep the times with the package.

    python tools/model_kernels.py [OP …]     all ops, unless named

What is kept already and is today's is not modelled again, so an interrupted run goes on where it
stopped. A notebook then shows these times at once, where modelling them would take minutes.
"""

import dataclasses
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import date
from functools import partial
from importlib import metadata

from tqdm import tqdm

import gpulessons
from gpulessons.backends import NotHere
from gpulessons.hardware import files
from gpulessons.measure.on_paper import SWITCH
from gpulessons.ops import conv2d, dense, lstm_sequence
from warplens.model import kept
from warplens.model.devices import named
from warplens.model.versions import CannotModel, modelled_anew

COMPILERS = ("numba", "numba-cuda", "nvidia-nvvm", "nvidia-nvjitlink", "nvidia-cuda-nvdisasm")
# What notebooks ask for beside each op's own sizes.
MORE = {
    **dict.fromkeys(("copy", "transpose", "triad", "total", "dot", "gelu"), (2_000_000,)),
    **dict.fromkeys(("momentum_step", "adam_step", "bias_gelu"), (2_000_000,)),
    "relu": (1, 100, 10_000, 921_600, 1_000_000, 2_000_000),
    "matmul": (512,),
    "softmax": (1_000_000,),
    "shade": (50_000,),
    "vertex_transform": (500_000,),
}
# The layers of notebook 07 on the roofline: (batch, channels, filters), kernel, padding.
LAYERS = (
    ((1, 64, 64), (3, 3), None),
    ((1, 64, 64), (1, 1), None),
    ((1, 3, 64), (7, 7), None),
    ((64, 1, 1), (3, 3), 0),
)
# Kernels whose time depends on the values that they meet, not on their arrays' shapes alone.
BY_VALUE = {
    "shade", "shade_sorted", "embedding", "embedding_update", "neighbours", "forest_search",
    "tree_search", "tree_softmax", "softmax_layer", "softmax_layer_backward",
}  # fmt: skip
# And whose blocks have more or less to do, by these values: a few do not stand for all.
UNLIKE = {"shade", "shade_sorted", "forest_search", "tree_search", "tree_softmax"}
WHY_UNLIKE = "how much a block has to do depends on its data, and a few blocks do not stand for all"


def taught():
    """Return {name: op} of every op that the course teaches."""
    names = [
        name for home, names in gpulessons.HOMES.items()
        for name in names.split() if home.startswith("ops.")
    ]  # fmt: skip
    return {name: getattr(gpulessons, name) for name in names}


def fewer_steps(size, rng):
    """Return the inputs of lstm_sequence in notebook 08: half of the steps."""
    x, *rest = lstm_sequence.sequences(size, rng)
    return x[:32], *rest


def others():
    """Yield (op with the inputs of a notebook's own, its sizes)."""
    yield gpulessons.dense.like(dense.sized(4096, 4096)), (1, 64, 1024)
    yield gpulessons.lstm_sequence.like(fewer_steps), (256,)
    for dims, kernel, padding in LAYERS:
        yield conv2d.shaped(dims, kernel, padding=padding), (112,)


def jobs(names=()):
    """Yield (op, version, size, whether these are the op's own inputs) of all to model."""
    ops = taught()
    asked = [(op, sorted({*op.sizes, *MORE.get(name, ())}), True) for name, op in ops.items()]
    asked += [(op, sizes, False) for op, sizes in others()]
    for op, sizes, own in asked:
        name = op.function.__name__
        for size in sizes if name in (names or ops) else ():
            for version in op.versions.values():
                if version.backend.name == "gpu":
                    yield op, version, size, own


def labels(op, version, size, own):
    """Return what names a result: its size where the inputs are the op's own, and its shapes."""
    name = op.function.__name__
    which = {"size": size} if own else {}
    if name not in BY_VALUE:
        which["shapes"] = kept.shapes_of(op, size)
    return {"op": name, "version": version.name, **which}


def modelled(place, names):
    """Return the results of the job at this place on each GPU; in a process of its own."""
    op, version, size, own = list(jobs(names))[place]
    about = labels(op, version, size, own)
    if op.function.__name__ in UNLIKE:
        return [{**about, "gpu": gpu, "why": WHY_UNLIKE} for gpu in SWITCH]
    try:
        found = modelled_anew(version, size, *map(named, SWITCH))
    except (CannotModel, NotHere):  # so it is on the oldest: newer ones may have another answer
        return [{**about, "gpu": gpu, **alone(version, size, gpu)} for gpu in SWITCH]
    return [{**about, "gpu": one.gpu, **fields(one)} for one in found]


def alone(version, size, gpu):
    """Return what is kept of a version on a single GPU: its time, or why it has none."""
    try:
        return fields(modelled_anew(version, size, named(gpu))[0])
    except (CannotModel, NotHere) as why:
        return {"why": str(why)}


def fields(found):
    """Return what is kept of a modelled time."""
    if found.counted_from != "machine code":
        raise SystemExit("These times are counted from source: install nvidia-cuda-nvdisasm.")
    told = dataclasses.asdict(found)
    del told["kernel"], told["launches"]  # of which there may be hundreds
    told["bounds"] = {name: digits(seconds) for name, seconds in found.bounds.items()}
    return {name: digits(value) for name, value in told.items()}


def digits(value):
    """Return a number to four digits: more is not known, and a diff shows every one of them."""
    return float(f"{value:.4g}") if isinstance(value, float) else value


def sources():
    """Return the fingerprints of every op and of the model."""
    found = {n: kept.fingerprint(op.function.__code__.co_filename) for n, op in taught().items()}
    return found | {kept.MODEL: kept.fingerprint(str(kept.ENGINE))}


def still_good(file):
    """Return the results in a file that are today's."""
    if not file.exists():
        return []
    data = json.loads(file.read_text(encoding="utf-8"))
    today = sources()
    if data["sources"].get(kept.MODEL) != today[kept.MODEL]:
        return []
    return [e for e in data["results"] if data["sources"].get(e["op"]) == today.get(e["op"])]


def saved(file, results):
    """Write all results with their provenance: one a line, sorted, for a diff to show change."""
    versions = {d.metadata["Name"]: d.version for d in metadata.distributions()}
    head = {
        "format": 1, "gpulessons": gpulessons.__version__, "date": date.today().isoformat(),
        "compilers": {name: versions[name] for name in COMPILERS if name in versions},
        "sources": sources(),
    }  # fmt: skip
    lines = ",\n".join(sorted({json.dumps(each, ensure_ascii=False) for each in results}))
    text = json.dumps(head, indent=1)
    files.write(file, f'{text[:-2]},\n "results": [\n{lines}\n]}}\n')


def main(names=(), file=kept.FILE, workers=2):
    """Model what is missing, saving as it comes."""
    results = still_good(file)
    there = {key[:3] for each in results for key in kept.keys_of(each)}
    missing = [
        place for place, (op, version, size, own) in enumerate(jobs(names))
        if (op.function.__name__, version.name, size if own else kept.shapes_of(op, size))
        not in there
    ]  # fmt: skip
    work = partial(modelled, names=names)
    with ProcessPoolExecutor(workers) as pool, tqdm(total=len(missing), unit="kernels") as bar:
        for done in as_completed([pool.submit(work, place) for place in missing]):
            bar.update()
            if trouble := done.exception():  # the others' results are worth having
                bar.write(f"{type(trouble).__name__}: {trouble}")
                continue
            results += done.result()
            saved(file, results)
    saved(file, results)


if __name__ == "__main__":
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    main(tuple(sys.argv[1:]))
