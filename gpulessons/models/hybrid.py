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

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from html import escape
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
    waits: bool
    where: str  # in words: what computed
    examples: int  # in a batch
    tasks: tuple[Task, ...]
    losses: tuple[float, ...]  # of each batch that was finished: the mean over its examples
    stale: float  # share of the ids that were gathered one step too early
    stopped: bool  # by Ctrl-C

    @property
    def seconds(self):
        """From the first batch's beginning to the last's end."""
        return max((task.stop for task in self.tasks), default=0.0)

    @property
    def examples_per_second(self):
        return len(self.losses) * self.examples / self.seconds if self.tasks else 0.0

    @property
    def medians(self):
        """{stage: the median of its seconds}, in the order in which a batch meets them."""
        stages = dict.fromkeys(task.stage for task in self.tasks)
        return {stage: median(t.stop - t.start for t in self.tasks if t.stage == stage)
                for stage in stages}  # fmt: skip

    def __repr__(self):
        took = ", ".join(f"{stage} {units.seconds(s)}" for stage, s in self.medians.items())
        order = "waits for every update" if self.waits else f"{self.stale:.0%} of the ids one old"
        cut = f", stopped after {len(self.losses)} batches" if self.stopped else ""
        return (
            f"{self.placement} ({self.where}; {order}): "
            f"{units.count(self.examples_per_second)} examples per second{cut}; {took}"
        )

    def _repr_html_(self):
        return f"<p>{escape(repr(self))}</p>"


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

        self.device, self.rate = device, rate
        self.weights = [torch.tensor(w, device=device, requires_grad=True) for w in weights]

    def learn(self, bags, labels):
        """(mean loss, the gradient of the bags: like bags), tensors; the weights move."""
        import torch

        x = bags.detach().requires_grad_()
        score = x
        for w in self.weights[:-1]:
            score = torch.relu(score @ w.T)
        score = (score @ self.weights[-1].T)[:, 0]
        loss = torch.nn.functional.binary_cross_entropy_with_logits(score, labels)
        gradient, *slopes = torch.autograd.grad(loss, [x, *self.weights])
        with torch.no_grad():
            for w, slope in zip(self.weights, slopes, strict=True):
                w -= self.rate * slope
        return loss.detach(), gradient


# -- The dense worker, on the CPU or on a GPU behind a link: bags in, loss and gradient out.


def dense_on_cpu(network, bags, labels):
    """(loss, gradient as NumPy has it, [(stage, start, stop)] by the caller's clock)"""
    import torch

    start = perf_counter()
    loss, gradient = network.learn(torch.from_numpy(bags), torch.from_numpy(labels))
    return float(loss), gradient.numpy(), [("dense", start, perf_counter())]


def dense_on_gpu(network, bags, labels):
    """The same with a journey before and after, from pinned memory, timed by events in the stream.

    The last event is waited for, and so ties the GPU's clock to the caller's.
    """
    import torch

    marks = [torch.cuda.Event(enable_timing=True) for _ in range(4)]
    pinned = torch.from_numpy(bags).pin_memory(), torch.from_numpy(labels).pin_memory()
    marks[0].record()
    sent = [array.to(network.device, non_blocking=True) for array in pinned]
    marks[1].record()
    loss, gradient = network.learn(*sent)
    marks[2].record()
    fetched = torch.empty(gradient.shape, pin_memory=True).copy_(gradient, non_blocking=True)
    marks[3].record()
    marks[3].synchronize()
    now = perf_counter()
    at = [now - 1e-3 * mark.elapsed_time(marks[3]) for mark in marks]
    stages = zip(("send", "dense", "fetch"), at[:-1], at[1:], strict=True)
    return float(loss), fetched.numpy(), list(stages)


# -- The placements.


def measure(placement, task=None, *, waits=False, rate=LEARNING_RATE, device=None, cores=None,
            tell=None):  # fmt: skip
    """Train on every batch of a Problem in one of PLACEMENTS, and return a Run.

    waits (hybrid only): gather a batch when the one before has moved its rows; else one ahead. The
    Problem's arrays stay as they are. device: PyTorch's name of the GPU, found if None; "cpu" does
    without. cores: of all CPU, found if None. tell(done, total, words): called after every batch.
    Ctrl-C keeps what was measured; what goes wrong in a worker is raised here.
    """
    import torch

    if placement not in PLACEMENTS:
        raise ValueError(f"A placement is one of {', '.join(PLACEMENTS)}, not {placement!r}.")
    task = task or problem()
    gpu = device or ("cuda" if torch.cuda.is_available() else "cpu")
    alone = placement == "all CPU"
    if placement == "all GPU":
        check_misfit(task, gpu)
    network, spare = (Dense(task.weights, "cpu" if alone else gpu) for _ in range(2))
    each = (cores or quicker(task, rate)) if alone else 1
    kept = Kept(task, tell)
    with threads(each):  # of two workers each has one core: a second would take the other's
        if placement == "all GPU":
            on_the_gpu(task, network, rate, kept)
        else:
            dense = dense_on_cpu if network.device == "cpu" else dense_on_gpu
            warm_up(task, dense, spare, rate, each)
            pipeline(task, partial(dense, network), rate, waits or alone, each, kept)
    waits = waits or placement != "hybrid"
    old, where = 0.0 if waits else staleness(task.ids), in_words(placement, gpu, each)
    return Run(placement, waits, where, task.ids.shape[1], tuple(kept.tasks), tuple(kept.losses),
               old, kept.stopped)  # fmt: skip


def quicker(task, rate):
    """One core or all, whichever has the first batches done sooner: the honest CPU is the best."""
    few = replace(task, ids=task.ids[:4], labels=task.labels[:4])
    runs = {n: measure("all CPU", few, rate=rate, cores=n) for n in thread_choices()}
    return min(runs, key=lambda n: runs[n].seconds)


def in_words(placement, device, each):
    """What computes."""
    if placement == "all CPU":
        return "one stage at a time on " + ("one core" if each == 1 else f"{each} cores")
    if placement == "all GPU":
        return "table and network on the GPU"
    if device != "cpu":
        return "table on the CPU, network on the GPU"
    return "two CPU threads" + ("; no GPU here" if torch_gpu.why_not() else ", no GPU asked for")


class Kept:
    """What has been measured so far, whatever happens next."""

    def __init__(self, task, tell):
        self.tasks, self.losses, self.total, self.tell = [], [], len(task.ids), tell
        self.stopped, self.begun = False, perf_counter()

    def stage(self, worker, stage, batch, start, stop):
        self.tasks.append(Task(worker, stage, batch, start - self.begun, stop - self.begun))

    def finished(self, loss):
        self.losses.append(loss)
        if self.tell:
            self.tell(len(self.losses), self.total, f"batch {len(self.losses)}")


def pipeline(task, dense, rate, waits, each, kept):
    """This thread gathers and updates, another one computes; who is ahead waits for the other.

    each: the cores of a worker; with more than one, all is done here, one after the other.
    """
    table, moments, batches = task.table.copy(), task.moments.copy(), len(task.ids)
    gather, pool = GATHER[each == 1], ThreadPoolExecutor(1)
    submit, kept.begun = at_once if each > 1 else pool.submit, perf_counter()

    def begin(n):
        start = perf_counter()
        bags = gather(table, task.ids[n])
        kept.stage(SPARSE, "gather", n, start, perf_counter())
        return submit(dense, bags, task.labels[n])

    try:
        under_way = begin(0)
        for n in range(batches):
            ahead = begin(n + 1) if not waits and n + 1 < batches else None
            loss, gradient, stages = under_way.result()  # raises what was raised there
            for stage, *when in stages:
                kept.stage(DENSE, stage, n, *when)
            start = perf_counter()
            update_in_place(table, moments, task.ids[n], gradient, rate, cores=each)
            kept.stage(SPARSE, "update", n, start, perf_counter())
            kept.finished(loss)
            under_way = ahead or (begin(n + 1) if n + 1 < batches else None)
    except KeyboardInterrupt:
        kept.stopped = True
    finally:
        pool.shutdown(cancel_futures=True)  # waits for one batch's network at most


GATHER = {alone: embedding.versions[f"Numba, {'one' if alone else 'every'} core"]
          for alone in (True, False)}  # fmt: skip


def at_once(function, *arguments):
    """What an executor's submit is without another thread."""
    done = Future()
    done.set_result(function(*arguments))
    return done


def warm_up(task, dense, spare, rate, each):
    """What must compile, does: on some of the first batch, another network and a table of a row."""
    ids, row = np.zeros_like(task.ids[0, :2]), task.table[:1].copy()
    bags = GATHER[each == 1](row, ids)
    _, gradient, _ = dense(spare, bags, task.labels[0, :2])
    update_in_place(row, np.zeros(1, np.float32), ids, gradient, rate, cores=each)


def on_the_gpu(task, network, rate, kept):
    """Ids and labels are sent, all else stays. One stream: nothing overlaps, nothing is old."""
    import torch

    table, moments = (torch.from_numpy(a).to(network.device) for a in (task.table, task.moments))
    table, moments = table.clone(), moments.clone()
    kept.begun = perf_counter()
    try:
        for n, (ids, labels) in enumerate(zip(task.ids, task.labels, strict=True)):
            marks = [torch.cuda.Event(enable_timing=True) for _ in range(5)]
            marks[0].record()
            ids, labels = (torch.from_numpy(a).to(network.device) for a in (ids, labels))
            marks[1].record()
            bags = torch.nn.functional.embedding_bag(ids, table, mode="sum")
            marks[2].record()
            loss, gradient = network.learn(bags, labels)
            marks[3].record()
            update_pytorch_in_place(table, moments, ids, gradient, rate)
            marks[4].record()
            marks[4].synchronize()
            now = perf_counter()
            at = [now - 1e-3 * mark.elapsed_time(marks[4]) for mark in marks]
            names = (SPARSE, "send"), (SPARSE, "gather"), (DENSE, "dense"), (SPARSE, "update")
            for name, start, stop in zip(names, at[:-1], at[1:], strict=True):
                kept.stage(*name, n, start, stop)
            kept.finished(float(loss))
    except KeyboardInterrupt:
        kept.stopped = True


def check_misfit(task, device):
    """ValueError where the table has no place on the GPU, or there is none."""
    import torch

    if device == "cpu":
        raise ValueError(f"There is no GPU here for the table: {torch_gpu.why_not()}.")
    free, needed = torch.cuda.mem_get_info()[0], task.table.nbytes + task.moments.nbytes
    if needed > free:
        raise ValueError(
            f"The table has {units.size(needed)}, and the GPU {units.size(free)} free: choose the "
            "hybrid placement, or fewer rows."
        )


def staleness(ids):
    """The share of all ids that the batch before touches too. ids: (batches, …)."""
    pairs = zip(ids[1:], ids[:-1], strict=True)
    old = sum(int(np.isin(now, before).sum()) for now, before in pairs)
    return old / ids.size
