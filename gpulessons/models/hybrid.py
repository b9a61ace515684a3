"""A recommendation's training step: where should the table lie, and who waits for whom?

    gather   a bag of rows for each example: a table of any size, a few rows of it      sparse
    dense    a small network on the bags, forward and backward                          arithmetic
    update   row-wise Adagrad on the rows that were gathered                            sparse

All on the CPU; all on the GPU, where the table fits there; or hybrid: the table in the CPU's memory
and the network on the GPU, with the bags sent there and their gradient fetched. Then two work at
once, if the one that gathers does not wait: it gathers the next batch while the network has this
one. But rows that both batches touch are then gathered before this batch has moved them: they are
one step old. Who waits gathers the newest, and nothing overlaps. Naumov et al. 2019 (DLRM).

    measure("hybrid", waits=False)      a Run: tasks to draw, medians, examples per second

Without a GPU the hybrid is two threads of the CPU, each on a core of its own, and says so.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from time import perf_counter

import numpy as np

from gpulessons import units
from gpulessons.backends import torch_gpu
from gpulessons.hardware.pools import thread_choices, threads
from gpulessons.ops.embedding import (
    LEARNING_RATE,
    embedding,
    update_in_place,
    update_pytorch_in_place,
    zipf,
)

PLACEMENTS = "all CPU", "all GPU", "hybrid"
SPARSE, DENSE = "sparse", "dense"  # the two workers


@dataclass(frozen=True)
class Task:
    """One stage of one batch, and when it was done: seconds since the first batch began."""

    worker: str  # SPARSE or DENSE
    stage: str  # gather, send, dense, fetch or update
    batch: int
    start: float
    stop: float


@dataclass(frozen=True, repr=False)
class Run:
    """What a placement took, batch by batch."""

    placement: str
    where: str  # in words: what computed
    examples: int  # in a batch
    tasks: tuple[Task, ...]
    losses: tuple[float, ...]  # of each batch: the mean over its examples
    stale: float  # share of the ids that were gathered one step too early

    @property
    def seconds(self):
        """From the first batch's beginning to the last's end."""
        return max(task.stop for task in self.tasks)

    @property
    def examples_per_second(self):
        return len(self.losses) * self.examples / self.seconds

    @property
    def medians(self):
        """{stage: the median of its seconds}, in the order in which a batch meets them."""
        stages = dict.fromkeys(task.stage for task in self.tasks)
        return {stage: median(t.stop - t.start for t in self.tasks if t.stage == stage)
                for stage in stages}  # fmt: skip

    def __repr__(self):
        took = ", ".join(f"{stage} {units.seconds(s)}" for stage, s in self.medians.items())
        order = f"{self.stale:.0%} of the ids one old" if self.stale else "waits for every update"
        return (f"{self.placement} ({self.where}; {order}): "
                f"{units.count(self.examples_per_second)} examples per second; {took}")  # fmt: skip


# -- The task: who likes what? A secret number for every row decides: there is something to learn.


@dataclass(frozen=True)
class Problem:
    """The table and its moments, the batches' ids and labels, the network's first weights."""

    table: np.ndarray  # (rows, width) float32
    moments: np.ndarray  # (rows,)
    ids: np.ndarray  # (batches, examples, per example) int32
    labels: np.ndarray  # (batches, examples) float32, 0 or 1
    weights: tuple  # of each layer, (outputs, inputs) float32


def problem(rows=100_000, width=32, examples=2048, per_example=8, batches=20, hidden=64, seed=0):
    """A Problem, the same for the same seed."""
    if min(rows, width, examples, per_example, batches, hidden) < 1:
        raise ValueError("Every size of the step is a whole number of at least 1.")
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((rows, width), np.float32) * np.float32(0.1)
    ids = zipf(rng, rows, (batches, examples, per_example)).astype(np.int32)
    liked = rng.standard_normal(rows, np.float32)[ids].sum(2) > 0
    weights = tuple(
        rng.standard_normal((outputs, inputs), np.float32) / np.float32(np.sqrt(inputs))
        for inputs, outputs in ((width, hidden), (hidden, hidden), (hidden, 1))
    )
    return Problem(table, np.zeros(rows, np.float32), ids, liked.astype(np.float32), weights)


class Dense:
    """Three layers on PyTorch's device of this name, with plain SGD."""

    def __init__(self, weights, device, rate=0.01):
        import torch

        self.device = device
        self.weights = [torch.tensor(w, device=device, requires_grad=True) for w in weights]
        self.optimizer = torch.optim.SGD(self.weights, rate)

    def learn(self, bags, labels):
        """(mean loss, the gradient of the bags: like bags), tensors; the weights move."""
        import torch

        x = score = bags.detach().requires_grad_()
        for w in self.weights[:-1]:
            score = torch.relu(score @ w.T)
        score = (score @ self.weights[-1].T)[:, 0]
        loss = torch.nn.functional.binary_cross_entropy_with_logits(score, labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach(), x.grad


# -- The dense worker, on the CPU or on a GPU behind a link: bags in, loss and gradient out.


def dense_on_cpu(network, bags, labels):
    """(loss, gradient as NumPy has it, [(stage, start, stop)] by the caller's clock)"""
    import torch

    start = perf_counter()
    loss, gradient = network.learn(torch.from_numpy(bags), torch.from_numpy(labels))
    return float(loss), gradient.numpy(), [("dense", start, perf_counter())]


def dense_on_gpu(network, bags, labels):
    """The same with a journey before and after, from pinned memory."""
    import torch

    marks = events(4)
    pinned = torch.from_numpy(bags).pin_memory(), torch.from_numpy(labels).pin_memory()
    marks[0].record()
    sent = [array.to(network.device, non_blocking=True) for array in pinned]
    marks[1].record()
    loss, gradient = network.learn(*sent)
    marks[2].record()
    fetched = torch.empty(gradient.shape, pin_memory=True).copy_(gradient, non_blocking=True)
    marks[3].record()
    stages = between(marks, ("send", "dense", "fetch"))
    return float(loss), fetched.numpy(), stages


def events(count):
    """Marks to put into a GPU's stream, which note when it came by."""
    import torch

    return [torch.cuda.Event(enable_timing=True) for _ in range(count)]


def between(marks, stages):
    """[(stage, start, stop)]. The last mark is waited for: it ties the GPU's clock to ours."""
    marks[-1].synchronize()
    now = perf_counter()
    at = [now - 1e-3 * mark.elapsed_time(marks[-1]) for mark in marks]
    return list(zip(stages, at[:-1], at[1:], strict=True))


# -- The placements.


def measure(placement, task=None, *, waits=False, device=None):
    """Train on every batch of a Problem in one of PLACEMENTS, and return a Run.

    waits (hybrid only): gather a batch when the one before has moved its rows; else one ahead. The
    Problem's arrays stay as they are. device: PyTorch's name of the GPU, found if None; "cpu" does
    without. What goes wrong in a worker is raised here.
    """
    import torch

    if placement not in PLACEMENTS:
        raise ValueError(f"A placement is one of {', '.join(PLACEMENTS)}, not {placement!r}.")
    task = task or problem()
    gpu = device or ("cuda" if torch.cuda.is_available() else "cpu")
    if placement == "all CPU":
        cores = quicker(task)
        where = "one stage at a time on " + ("one core" if cores == 1 else f"{cores} cores")
        tasks, losses = alone(task, cores)
    elif placement == "hybrid":
        where = "table on the CPU, network on the GPU"
        if gpu == "cpu":
            where = "two CPU threads" + ("; no GPU here" if torch_gpu.why_not() else "")
        tasks, losses = two_workers(task, gpu, waits)
    else:
        if gpu == "cpu":
            raise ValueError(f"There is no GPU here for the table: {torch_gpu.why_not()}.")
        where = "table and network on the GPU"
        tasks, losses = on_the_gpu(task, gpu)
    stale = staleness(task.ids) if placement == "hybrid" and not waits else 0.0
    return Run(placement, where, task.ids.shape[1], tuple(tasks), tuple(losses), stale)


def quicker(task):
    """One core or all, whichever has the first batches done sooner: the honest CPU is the best."""
    few, took = replace(task, ids=task.ids[:4], labels=task.labels[:4]), {}
    for cores in thread_choices():
        tasks, _ = alone(few, cores)
        took[cores] = tasks[-1].stop
    return min(took, key=took.get)


def alone(task, cores):
    """One stage after the other on so many cores of the CPU."""
    with threads(cores):
        steps(first(task), "cpu", True, cores)
        return steps(task, "cpu", True, cores)


def two_workers(task, device, waits):
    """This thread gathers and updates, another one computes; who is ahead waits for the other."""
    with threads(1), ThreadPoolExecutor(1) as pool:  # a second core would be the other's
        steps(first(task), device, waits, 1, pool)
        return steps(task, device, waits, 1, pool)


def first(task):
    """A little of it, for whatever must compile."""
    return replace(task, ids=task.ids[:1, :2], labels=task.labels[:1, :2])


def steps(task, device, waits, cores, pool=None):
    """([Task], [loss of each batch]). pool: where the network computes, if not here."""
    network = Dense(task.weights, device)
    dense = dense_on_cpu if device == "cpu" else dense_on_gpu
    gather = embedding.versions[f"Numba, {'one' if cores == 1 else 'every'} core"]
    table, moments, batches = task.table.copy(), task.moments.copy(), len(task.ids)
    tasks, losses, begun = [], [], perf_counter()

    def done(worker, stage, batch, start, stop):
        tasks.append(Task(worker, stage, batch, start - begun, stop - begun))

    def begin(n):
        """Gather, and have the network called: a function that returns what it does."""
        start = perf_counter()
        bags = gather(table, task.ids[n])
        done(SPARSE, "gather", n, start, perf_counter())
        call = partial(dense, network, bags, task.labels[n])
        return pool.submit(call).result if pool else call

    under_way = begin(0)
    for n in range(batches):
        more = n + 1 < batches
        ahead = begin(n + 1) if more and not waits else None
        loss, gradient, stages = under_way()  # raises what was raised there
        for stage, *when in stages:
            done(DENSE, stage, n, *when)
        start = perf_counter()
        update_in_place(table, moments, task.ids[n], gradient, LEARNING_RATE, cores=cores)
        done(SPARSE, "update", n, start, perf_counter())
        losses.append(loss)
        under_way = begin(n + 1) if more and waits else ahead
    return tasks, losses


def on_the_gpu(task, device):
    """The same; ids and labels are sent, all else stays. One stream: nothing overlaps."""
    import torch

    network, tasks, losses = Dense(task.weights, device), [], []
    table, moments = (torch.tensor(a, device=device) for a in (task.table, task.moments))
    begun = perf_counter()
    for n, (ids, labels) in enumerate(zip(task.ids, task.labels, strict=True)):
        marks = events(5)
        marks[0].record()
        ids, labels = (torch.from_numpy(a).to(device) for a in (ids, labels))
        marks[1].record()
        bags = torch.nn.functional.embedding_bag(ids, table, mode="sum")
        marks[2].record()
        loss, gradient = network.learn(bags, labels)
        marks[3].record()
        update_pytorch_in_place(table, moments, ids, gradient, LEARNING_RATE)
        marks[4].record()
        for stage, start, stop in between(marks, ("send", "gather", "dense", "update")):
            worker = DENSE if stage == "dense" else SPARSE
            tasks.append(Task(worker, stage, n, start - begun, stop - begun))
        losses.append(float(loss))
    return tasks, losses


def staleness(ids):
    """The share of all ids that the batch before touches too. ids: (batches, …)."""
    pairs = zip(ids[1:], ids[:-1], strict=True)
    old = sum(int(np.isin(now, before).sum()) for now, before in pairs)
    return old / ids.size
