"""Which of very many classes comes next: a task whose answer is known, and the layers that learn it.

Classes are as frequent as words: p[c] ∝ 1 / (c + 1) (Zipf). They are dealt out to groups, and each
context belongs to one. An example is made backward: a class by its frequency; then, 9 times out of
10, a context of the class's own group, and else of any group.

    p(class | context) = p[class] (0.9 / (share of the group) if it is of the context's group, + 0.1)

So the classes are exactly as frequent as Zipf has them, and the entropy of a class given its
context, below which no loss goes but by chance, is one sum over the classes.

    task = Task(10_000)
    for point in train(Full(task.classes, 48), task, rate=0.3, seconds=2):
        print(point)

The model: h = embedding[context], an output layer on top, and both learn by gradient descent.
"""

import math
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from gpulessons import units
from gpulessons.hardware import thread_choices, threads
from gpulessons.hardware.budget import capped

OWN = 0.9  # how much of what follows a context is of its own group


class Task:
    """Contexts and the classes that follow them. groups: as many as kinds of contexts."""

    def __init__(self, classes, contexts=400, groups=40):
        if not 1 <= groups <= min(classes, contexts):
            raise ValueError(
                f"Groups are 1 to {min(classes, contexts)} here: every group has a class and a "
                f"context; not {groups}."
            )
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

    def probabilities(self, context):
        """(classes,) float64: how likely each class is after this context."""
        group = self.group_of(context)
        own = self.group_of(np.arange(self.classes)) == group
        return self.frequency * (OWN / self.shares[group] * own + 1 - OWN)

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
        """The entropy of a class when nothing is known of its context: what frequency alone gives."""
        return float(-(self.frequency * np.log(self.frequency)).sum())


@dataclass(frozen=True)
class Point:
    """Where a training stands."""

    steps: int
    seconds: float  # of training, without the looks at the held-out examples
    examples: int
    loss: float  # the mean of −log p over the held-out examples

    def __repr__(self):
        return f"{units.count(self.steps)} steps, {units.seconds(self.seconds)}: {self.loss:.3f}"


@dataclass
class Learner:
    """A row for each context, and an output layer on top."""

    layer: object
    contexts: int
    seed: int = 0
    embedding: np.ndarray = field(init=False)

    def __post_init__(self):
        rng = np.random.default_rng(self.seed)
        shape = self.contexts, self.layer.columns
        self.embedding = rng.standard_normal(shape, np.float32)

    def step(self, contexts, labels, rate):
        """Learn from some examples; the mean of their losses as the layer itself sees them."""
        losses, dh = self.layer.step(self.embedding[contexts], labels, rate)
        np.subtract.at(self.embedding, contexts, np.float32(rate) * dh)
        return float(losses.mean())

    def loss(self, contexts, labels):
        return self.layer.loss(self.embedding[contexts], labels)


def train(layer, task, rate, seconds=2.0, steps=None, batch=64, held_out=1000, seed=1):
    """Yield a Point before the first step, then ever more steps apart, and at the end.

    It ends after so many seconds of training (at most GPULESSONS_BUDGET), or after so many steps.
    Not on the clock: making examples, the looks at held-out ones, and what compiles. The layer
    gets as many cores as it is quickest with. A loss that is no number any more ends it as well.
    """
    seconds, steps = (capped(seconds), math.inf) if steps is None else (math.inf, steps)
    learner, held = Learner(layer, task.contexts), task.examples(held_out, seed=0)
    cores = quickest_cores(learner, *task.examples(batch, seed=2))
    done, spent, look, start = 0, 0.0, 1, seed
    yield Point(0, 0.0, 0, learner.loss(*held))
    while done < steps and spent < seconds:
        few = min(look - done, steps - done)
        contexts, labels = (part.reshape(few, batch) for part in task.examples(few * batch, start))
        start += 1
        with threads(cores):
            for context, label in zip(contexts, labels, strict=True):
                began = perf_counter()
                learner.step(context, label, rate)
                spent += perf_counter() - began
                done += 1
                if spent >= seconds:
                    break
        point = Point(done, spent, done * batch, learner.loss(*held))
        yield point
        if not math.isfinite(point.loss):
            return
        look = done + max(1, done // 3)


def quickest_cores(learner, contexts, labels):
    """How many threads a step is quickest with. At a rate of 0 it learns nothing yet."""
    took = {}
    for cores in thread_choices():
        with threads(cores):
            learner.step(contexts, labels, 0.0)
            began = perf_counter()
            learner.step(contexts, labels, 0.0)
            took[cores] = perf_counter() - began
    return min(took, key=took.get)
