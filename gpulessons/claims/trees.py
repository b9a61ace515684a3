"""Claims of the third part: where the GPU loses, or is said to."""

import math

import numpy as np

from gpulessons import units
from gpulessons.backends import gpu, torch_gpu
from gpulessons.measure.turns import alternate
from gpulessons.models import hybrid, many_classes
from gpulessons.models.outputs.full import Full
from gpulessons.models.outputs.tree import Tree
from gpulessons.ops import forest
from gpulessons.ops.huffman import zipf
from gpulessons.ops.neighbours import NEAREST, QUERIES, clustered, neighbours
from gpulessons.ops.tree_softmax import tree_softmax, zipf_tree
from gpulessons.ops.tree_update import tree_update, tree_update_cuda
from gpulessons.units import percent
from warplens import tracing
from warplens.code.cuda import CannotCompile, assembly

from .claim import A_GPU, claim, holds, limits, refuted, untested, weakest
from .evidence import (
    SECONDS,
    counted,
    from_gpu,
    gpu_over_cpu,
    live,
    missing,
    modelled,
)  # fmt: skip

# A softmax over many classes: with all of them, and along a path.

FEW, MANY = 1_000, 32_000  # classes


def growth_and_kernels(given):
    """A training step with 1,000 classes and with 32,000, over all of them and down a tree: rows of
    weights counted, and times. And the tree's CUDA kernels, walk and update, run in the microscope
    and compiled for a real GPU.
    """
    times = many_classes.step_times((FEW, MANY), (Full, Tree), seconds=SECONDS)
    took = {(one.layer, one.classes): one.spread for one in times}
    launches, faults = kernels_run()
    return {
        "full": grown("a step over all classes, 32,000 over 1,000, time", took, Full.name),
        "tree": grown("a step down a tree, 32,000 over 1,000, time", took, Tree.name),
        "path_few": counted("rows on an example's path, 1,000 classes", mean_path(FEW)),
        "path": counted("rows on an example's path, 32,000 classes", mean_path(MANY)),
        "kernels": counted("CUDA kernels of the tree", len(launches)),
        "faults": counted("of them wrong or with a race", faults),
        "compiled": compiled(launches),
        "gpu_walk": from_gpu(given, "the tree's walk, best of the CPU over best of the GPU",
                             tree_softmax, gpu_over_cpu, size=31_000),
    }  # fmt: skip


def grown(what, took, layer):
    """How many times as long a step takes with many classes as with few."""
    many, few = took[layer, MANY], took[layer, FEW]
    (low, high), (least, most) = many.quartiles, few.quartiles
    return live(what, many.median / few.median, "×", (low / most, high / least))


def mean_path(classes):
    """Nodes on a path, on average, if classes are as frequent as words."""
    return float(np.average(zipf_tree(classes).depths, weights=zipf(classes)))


def kernels_run():
    """(a traced launch of every kernel, how many of them were wrong or raced)."""
    h, labels, w, starts, nodes, *_ = inputs = tree_softmax.inputs(1_000)
    expected = tree_softmax.reference(*inputs)
    slopes, learned = expected[2].astype(np.float32), w.copy()
    tree_update(learned, h, labels, slopes, starts, nodes, 0.1)

    def update(*arrays):
        tree_update_cuda(*arrays, 0.1)
        return arrays[0]

    walks = [each for each in tree_softmax.versions.values() if each.backend is gpu]
    calls = [(walk, inputs, expected) for walk in walks]
    calls.append((update, (w, h, labels, slopes, starts, nodes), learned))
    launches, faults = [], 0
    for call, arrays, wanted in calls:
        with tracing() as seen:
            found = call(*map(gpu.put, arrays))
            found = tuple(map(gpu.get, found)) if isinstance(found, tuple) else gpu.get(found)
        right = tree_softmax.error(found, wanted) <= tree_softmax.rtol
        faults += not right or seen[0].races().cells > 0
        launches += seen
    return launches, faults


def compiled(launches):
    """How many kernels NVIDIA's assembler takes, for a Hopper."""
    what = "of them compiled for a real GPU"
    try:
        made = [
            assembly(one.launch.function, *one.launch.arguments, capability=(9, 0))
            for one in launches
        ]
    except CannotCompile as trouble:
        return missing(what, str(trouble))
    return counted(what, len(made))


@claim(
    21, "A minibatch costs O(n) in the parameters; a tree (hierarchical softmax) costs O(log n), "
    "and cannot be done on a GPU, its author suspects.", source="D", notebooks="11",
    measure=growth_and_kernels,
    changes="For the first half, a layer that has to answer and not only to learn: an unsure one "
    "searches much of the tree. For the second nothing: a kernel that is right in the "
    "microscope, and compiles, is enough.", about_gpus=True,
)  # fmt: skip
def trees_cannot_run_on_gpus(
    full, tree, path_few, path, kernels, faults, compiled, gpu_walk=None
):
    return weakest(
        costs_of_n_and_of_log_n=growth(full, tree, path_few, path),
        not_on_a_GPU=on_a_gpu(kernels, faults, compiled, gpu_walk),
    )


def growth(full, tree, path_few, path):
    linear = MANY / FEW
    found = (f"From {units.count(FEW)} classes to {units.count(MANY)} a step over all of them has "
             f"{linear:.0f} times the rows of weights; a path has {path / path_few:.2g} times, "
             f"{path:.3g} instead of {path_few:.3g} on average. In time it is {full:.2g} and "
             f"{tree:.2g} times{': calls cost something too' * (full < 0.9 * linear)}")  # fmt: skip
    if path > linear**0.5 * path_few:
        return refuted(f"{found}. A path that grows so is no logarithm.")
    return holds(f"{found}.") if tree < full / 4 else limits(f"{found}: so the gain is not seen.")


def on_a_gpu(kernels, faults, compiled, gpu_walk):
    if faults:
        return untested(f"Of {kernels} CUDA kernels {faults} are wrong or race: they do not show "
                        "what a GPU can do.")  # fmt: skip
    if compiled < kernels:
        return untested(f"Of {kernels} CUDA kernels only {compiled} compile for a real GPU.")
    proof = (f"{kernels} CUDA kernels walk and change the tree, right and without a race in the "
             "microscope, and they compile for a real GPU")  # fmt: skip
    if gpu_walk:
        proof = f"{proof}; one walks it {gpu_walk:.2f} times as fast as the CPU beside it"
    return refuted(f"{proof}.")


# An index, or all of them: nearest neighbors, here and on a GPU.

POINTS, WIDTH, CELLS, LEAF = 100_000, 64, 40, 32
BILLION = 10**9
ENOUGH = 0.8  # of the neighbors: a forest that looks at less is quick, and no answer


def index_or_all(given):
    """64 queries among 100,000 points of 64 numbers, for 10 neighbors each: a forest on this CPU,
    brute force here and on a GPU. Beyond that it is a model: brute force grows with the points, the
    forest with the depth of its trees.
    """
    took, found = forest_and_brute()
    brute = from_gpu(given, "64 queries by brute force on a GPU", neighbours, best_on_gpu, unit="s",
                     size=POINTS, versions=gpu_versions(neighbours))  # fmt: skip
    return {
        "forest": live("64 queries in a forest on the CPU", took["forest"].median, "s",
                       took["forest"].quartiles),
        "found": live("of their neighbors the forest finds", found, "%"),
        "brute": live("64 queries by brute force on the CPU", took["brute"].median, "s",
                      took["brute"].quartiles),
        "gpu_brute": brute,
        "gpu_ahead": modelled(
            "numbers from which on the CPU's forest beats the GPU's brute force",
            brute.value and ahead_from(took["forest"].median / brute.value), why=brute.why),
    }  # fmt: skip


def forest_and_brute():
    """({way: a Spread of seconds} of the forest and of brute force, the forest's recall)."""
    points, rng = clustered(POINTS, WIDTH, seed=0), np.random.default_rng(0)
    queries = points[rng.integers(0, POINTS, QUERIES)]
    queries += rng.integers(-3, 4, queries.shape).astype(np.float32)
    grown, brute = forest.grow(points), neighbours.versions["NumPy's product, Numba's selection"]
    ways = {
        "forest": lambda: forest.search(grown, points, queries, NEAREST, CELLS),
        "brute": lambda: brute(queries, points, NEAREST),
    }
    found = forest.recall(ways["forest"]()[1], ways["brute"]()[1])
    return dict(alternate(ways, SECONDS)), found


def gpu_versions(op):
    return [name for name, each in op.versions.items() if each.backend in (gpu, torch_gpu)]


def best_on_gpu(comparison):
    """Seconds of the best version on a GPU, at our number of points."""
    best = comparison.best("gpu", "torch_gpu", size=POINTS)
    if best is None:
        raise LookupError("not timed on a GPU")
    return best.median


def ahead_from(slower):
    """How many numbers there are where a forest is as fast as brute force, if with ours it takes so
    many times as long: brute force grows with the points, the forest with log(points / leaf).
    """
    points = float(POINTS)
    for _ in range(50):  # each round is nearer to where both are equal
        points = POINTS * slower * math.log(max(points / LEAF, 2)) / math.log(POINTS / LEAF)
    return round(points) * WIDTH


@claim(
    22, "Beyond a billion parameters or so, its author suspects, logarithmic structures on a CPU "
    "beat the GPU's brute force for language and recommendation.", source="D", notebooks="11",
    measure=index_or_all,
    changes="Points without structure: an index then looks at most of them. And the same structure "
    "on the GPU: then the CPU is no longer its place.", about_gpus=True,
)  # fmt: skip
def logarithms_on_a_cpu_win(forest, found, brute, gpu_brute=None, gpu_ahead=None):
    cpu = (f"Among {POINTS * WIDTH / 1e6:.2g} million numbers a forest on the CPU answers 64 "
           f"queries in {units.seconds(forest)}, with {found:.0%} of their neighbors")  # fmt: skip
    if found < ENOUGH:
        return untested(f"{cpu}: too few of them for a comparison.")
    if not gpu_brute:
        return untested(f"{cpu}; brute force takes {units.seconds(brute)}. No GPU was timed, and "
                        "nothing had a billion numbers.")  # fmt: skip
    both = (f"{cpu}, and a GPU's brute force in {units.seconds(gpu_brute)}. By the model the "
            f"forest is ahead from {units.three_digits(gpu_ahead / 1e6)} million numbers on"
             )  # fmt: skip
    if gpu_ahead > 3 * BILLION:
        return refuted(f"{both}.")
    if gpu_ahead > BILLION / 3:
        return untested(f"{both}: too near to a billion for a model.")
    return limits(f"{both}. Nothing had a billion.")


# A table beside the CPU, a network on the GPU.


def two_halves(given):
    """A recommendation's training step: on this CPU the seconds of its sparse half, rows of a table
    gathered and changed, and of its dense half, a network; the bytes that would travel between
    them. Where there is a GPU, both halves on it, and one on each.
    """
    task = hybrid.problem()
    run = hybrid.measure("all CPU", task)
    took = run.medians
    whats = {"gpu_hybrid": "the hybrid over all on the CPU",
             "gpu_alone": "the hybrid over all on the GPU"}  # fmt: skip
    if why := torch_gpu.why_not():
        on_gpu = {name: missing(what, why, A_GPU) for name, what in whats.items()}
    else:
        both = min(each.seconds / len(each.losses)
                   for each in (hybrid.measure("hybrid", task) for _ in range(2)))  # fmt: skip
        others = run, hybrid.measure("all GPU", task)  # stage by stage: the first batch warms up
        on_gpu = {name: live(what, sum(other.medians.values()) / both, "×", of_gpu=True)
                  for (name, what), other in zip(whats.items(), others, strict=True)}  # fmt: skip
    return {
        "sparse": live("the sparse half of a step on the CPU", took["gather"] + took["update"],
                       "s"),
        "dense": live("the dense half", took["dense"], "s"),
        "journey": counted("that would travel in a step, both ways",
                           2 * 4 * task.table.shape[1] * task.ids.shape[1], "bytes"),
        **on_gpu,
    }  # fmt: skip


@claim(
    23, "Wished for: hybrids, with the dense part on the GPU and the sparse part on the CPU.",
    source="D", notebooks="11",
    measure=two_halves,
    changes="A table that the GPU has room for, or a network so small, or a link so slow, that "
    "sending takes longer than computing at home.", about_gpus=True,
)  # fmt: skip
def hybrid_pays(sparse, dense, journey, gpu_hybrid=None, gpu_alone=None):
    if not gpu_hybrid:
        return untested(f"The sparse half is {percent(sparse / (sparse + dense))} of a step on the "
                        f"CPU, and a hybrid would send {units.size(journey)} in every step. No GPU "
                        "was timed.")  # fmt: skip
    found = (f"With the network on the GPU, and the table beside the CPU, steps come "
             f"{gpu_hybrid:.2f} times as fast as all on the CPU")  # fmt: skip
    if 0.9 < gpu_hybrid < 1.1:
        return untested(f"{found}: too near to 1 to tell.")
    if gpu_hybrid < 1:
        return refuted(f"{found}.")
    if gpu_alone and gpu_alone < 1:
        return limits(f"{found}, and {gpu_alone:.2f} times as fast as all on the GPU: it is for "
                      "tables that have no room there.")  # fmt: skip
    return holds(f"{found}.")


