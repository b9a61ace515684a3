"""Which of very many classes comes next: a task whose answer is known, and who learns it.

Classes are as frequent as words: p[c] ∝ 1 / (c + 1) (Zipf). They are dealt out to groups, and each
context belongs to one. An example is made backward: a class by its frequency; then, 9 times out of
10, a context of the class's own group, and else of any group.

    p(class | context) = p[class] (0.1 + 0.9 / share of the group)   in the context's group
                       = 0.1 p[class]                                elsewhere

So the classes are exactly as frequent as Zipf has them, and the entropy of a class given its
context, below which no loss goes but by chance, is one sum over the classes.

    task, runs = Task(10_000), {}
    for name, point in race(task):
        runs.setdefault(name, []).append(point)

The model: h = embedding[context], an output layer on top; both learn by gradient descent, without
momentum. `race` trains every layer for the same time, `step_times` asks what a step costs.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import cycle
from time import perf_counter

import numpy as np

from gpulessons import units
from gpulessons.hardware import free_memory, thread_choices, threads
from gpulessons.hardware.budget import capped
from gpulessons.hardware.timer import Spread, interleaved

from .outputs.full import Full
from .outputs.sampled import Sampled
from .outputs.tree import Tree

LAYERS = (Full, Sampled, Tree)
# The best of 0.015, 0.03, 0.06, 0.12 and 0.24 for each: the lowest loss of held-out examples after
# 2.4 s at 10,000 classes on two cores.
RATE = 0.06
COLUMNS, BATCH = 48, 64
HELD_OUT = 1000  # examples that only the loss is computed from
FEEDS = 32  # batches that a timed step is fed with in turn
OWN = 0.9  # how much of what follows a context is of its own group


class Task:
    """Contexts and the classes that follow them. groups: as many as kinds of contexts."""

    def __init__(self, classes, contexts=400, groups=40):
        self.classes, self.contexts, self.groups = classes, contexts, groups
        weights = 1 / np.arange(1, classes + 1)
        self.frequency = weights / weights.sum()
        self.up_to = np.cumsum(self.frequency)
        self.up_to[-1] = 1  # whatever rounding made of it
        self.shares = np.bincount(self.group_of(np.arange(classes)), self.frequency)

    def group_of(self, numbers):
        """The group of these classes, or of these contexts: they are dealt out in turn."""
        return numbers % self.groups

    def examples(self, count, seed):
        """(contexts, classes): (count,) int64 each. The same seed gives the same examples."""
        rng = np.random.default_rng(seed)
        classes = self.up_to.searchsorted(rng.random(count), "right")
        others = np.cumsum(self.shares).searchsorted(rng.random(count), "right")
        others = np.minimum(others, self.groups - 1)
        group = np.where(rng.random(count) < OWN, self.group_of(classes), others)
        rounds = (self.contexts - 1 - group) // self.groups + 1  # the contexts of each group
        return group + self.groups * rng.integers(0, rounds), classes

    @property
    def entropy(self):
        """Of a class given its context, in nats: the mean −log p of who knows all of the above."""
        share, p = self.shares[self.group_of(np.arange(self.classes))], self.frequency
        within, without = p * (OWN / share + 1 - OWN), p * (1 - OWN)
        background = without * np.log(without)
        own = share * within * np.log(within) + (1 - share) * background
        return float(-own.sum())

    @property
    def blind(self):
        """The entropy of a class by frequency alone, when nothing is known of its context."""
        return float(-(self.frequency * np.log(self.frequency)).sum())


@dataclass(frozen=True)
class Point:
    """Where a training stands."""

    steps: int
    seconds: float  # of training, without the looks at the held-out examples
    loss: float  # the mean of −log p over the held-out examples


class Learner:
    """A row for each context, and an output layer on top."""

    def __init__(self, layer, contexts, seed=0):
        rng = np.random.default_rng(seed)
        start = rng.standard_normal((contexts, layer.columns), np.float32)
        self.layer, self.embedding = layer, np.float32(0.3) * start

    def step(self, contexts, labels, rate):
        """Learn from some examples."""
        _, dh = self.layer.step(self.embedding[contexts], labels, rate)
        np.subtract.at(self.embedding, contexts, np.float32(rate) * dh)

    def loss(self, contexts, labels):
        return self.layer.loss(self.embedding[contexts], labels)


def train(layer, task, seconds=1.5, steps=math.inf, rate=RATE):
    """Yield a Point before the first step, then ever more steps apart, and at the end.

    It ends after so many seconds of training (at most GPULESSONS_BUDGET), or after so many steps.
    Not on the clock: making examples, the looks at held-out ones, and what compiles. The layer
    gets as many cores as it is quickest with.
    """
    learner, held = Learner(layer, task.contexts), task.examples(HELD_OUT, seed=0)
    cores = quickest_cores(learner, *task.examples(BATCH, seed=2**32))
    seconds, done, spent, look = capped(seconds), 0, 0.0, 1
    while True:
        with threads(cores):
            loss = learner.loss(*held)
        yield Point(done, spent, loss)
        if done >= steps or spent >= seconds:
            return
        few = min(look, steps) - done
        batches = (each.reshape(few, BATCH) for each in task.examples(few * BATCH, (1, done)))
        with threads(cores):
            for contexts, labels in zip(*batches, strict=True):
                began = perf_counter()
                learner.step(contexts, labels, rate)
                spent += perf_counter() - began
                done += 1
                if spent >= seconds:
                    break
        look = done + max(1, done // 2)


def quickest_cores(learner, contexts, labels):
    """How many threads a step is quickest with. At a rate of 0 it learns nothing yet."""
    took = dict.fromkeys(thread_choices(), 0.0)
    learner.step(contexts, labels, 0.0)  # what must compile, does
    for _ in range(8):  # all of them count: where cores are shared, waiting for one is the rule
        for cores in took:
            with threads(cores):
                began = perf_counter()
                learner.step(contexts, labels, 0.0)
                took[cores] += perf_counter() - began
    return min(took, key=took.get)


def race(task, layers=LAYERS, seconds=1.2, advance=None):
    """Yield (layer's name, Point) as each layer learns the task for so many seconds, one after the
    other. All begin with what frequency alone says. advance(done, total, words): at every Point.
    """
    for n, make in enumerate(layers):
        for point in train(make(task.classes, COLUMNS), task, seconds):
            if advance:
                share = min(1.0, point.seconds / capped(seconds))
                advance(round(100 * (n + share)), 100 * len(layers), make.name)
            yield make.name, point


# -- What a step costs.


@dataclass(frozen=True)
class StepTime:
    """A layer at a number of classes: its Spread of seconds for a training step, and its bytes."""

    layer: str
    classes: int
    spread: Spread
    nbytes: int


def step_times(
    classes=(1_000, 10_000, 100_000, 1_000_000), layers=LAYERS, columns=64, batch=BATCH,
    seconds=0.2, advance=None,
):  # fmt: skip
    """Yield the StepTime of each layer at each number of classes; the layers of one number in turn.

    seconds: for the samples of each, at most GPULESSONS_BUDGET. advance(done, total, name): after
    each number of classes.
    """
    for n, number in enumerate(sorted(classes), 1):
        check_memory(number, len(layers), columns, batch)
        yield from at_one_number(number, layers, columns, batch, seconds)
        if advance:
            advance(n, len(classes), f"{units.count(number)} classes")


def at_one_number(classes, layers, columns, batch, seconds):
    """A function of its own, so that these layers are gone before the next are made."""
    made = {make.name: make(classes, columns) for make in layers}
    calls = {name: stepping(layer, batch) for name, layer in made.items()}
    for name, spread in interleaved(calls, seconds):
        yield StepTime(name, classes, spread, made[name].nbytes)


def stepping(layer, batch):
    """A call that takes one step; the examples are others every time, as rows in caches must be."""
    rng = np.random.default_rng(0)
    labels = Task(layer.classes, contexts=1, groups=1).examples(FEEDS * batch, seed=0)[1]
    h = np.float32(0.3) * rng.standard_normal((FEEDS, batch, layer.columns), np.float32)
    feed = cycle(zip(h, labels.reshape(FEEDS, batch), strict=True))
    return lambda: layer.step(*next(feed), 0.01)


def check_memory(classes, layers, columns, batch):
    """ValueError when the layers of one number of classes would not fit into free memory."""
    needed = 4 * classes * (layers * (columns + 40) + 3 * batch)
    free = free_memory()
    if needed > free:
        raise ValueError(
            f"{layers} layers of {units.count(classes)} classes would need some "
            f"{units.size(needed)}; {units.size(free)} of memory is free. Take fewer classes."
        )


def crossover(a: Mapping[int, float], b: Mapping[int, float]):
    """From how many classes on b is quicker than a, to the end; None if it never is at the last.

    a, b: {classes: seconds}, taken for straight lines on log scales between numbers that both have.
    b quicker everywhere: the smallest number.
    """
    at = sorted(set(a) & set(b))
    lead = [math.log(a[n] / b[n]) for n in at]  # above 0 where b is quicker
    if not at or lead[-1] <= 0:
        return None
    last = max((i for i in range(len(at)) if lead[i] <= 0), default=None)
    if last is None:
        return float(at[0])
    share = lead[last] / (lead[last] - lead[last + 1])
    return math.exp(math.log(at[last]) + share * math.log(at[last + 1] / at[last]))
