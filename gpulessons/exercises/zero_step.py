"""Write ZeRO-1's step: the same bytes as an all-reduce, and a part of Adam on each worker."""

from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue

import torch

from gpulessons.exercises.asking import named, solved
from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Mismatch, Wasteful
from gpulessons.workers.collectives import Wire, ring
from gpulessons.workers.programs import sharded

text = '''\
from gpulessons.workers.collectives import all_gather, cut, reduce_scatter, ring

def my_step(weights, gradient, adam, wire):
    """One worker's step. weights: its copy of all. gradient: all of it, of its share of the batch.

    adam(weights, gradient) makes the step, in place, for what it is given: all, or a piece. It
    keeps two numbers for each weight that it has ever been given.
    """
    ### BEGIN SOLUTION
    owned = reduce_scatter(gradient, wire)
    piece, slope = (cut(each, wire.world_size)[owned] for each in (weights, gradient))
    adam(piece, slope)
    all_gather(weights, wire, owned)
    ### STUB
    ring(gradient, wire)     # gradient ← the sum over all workers
    adam(weights, gradient)  # Your turn: every worker keeps all of Adam. A piece would do.
    ### END SOLUTION
'''

mistakes = (
    ("Each worker has one new piece, and the others as they were.",
     "    all_gather(weights, wire, owned)\n", ""),
    ("It steps along its own share's gradient: nobody has added the others'.",
     "reduce_scatter(gradient, wire)", "(wire.rank + 1) % wire.world_size"),
    ("The piece that holds the sum is not the one with your rank's number: reduce_scatter returns "
     "its number.", "[owned] for", "[wire.rank] for"),
)  # fmt: skip
WORLDS, LENGTH, STEPS = (1, 2, 3, 4), 7, 3


class Thread(Wire):
    """A wire between threads: boxes[a, b] has what a sent to b."""

    def __init__(self, rank, world_size, boxes):
        self.rank, self.world_size, self.sent, self.boxes = rank, world_size, 0, boxes

    def exchange(self, piece, to, room, source):
        self.sent += piece.nbytes
        self.boxes[self.rank, to].put(piece.clone())
        try:
            room.copy_(self.boxes[source, self.rank].get(timeout=2))
        except Empty:
            raise Mismatch(f"Worker {self.rank} waits for what worker {source} does not send.",
                           "whether all call the same collectives.") from None  # fmt: skip

    def all_reduce(self, x):
        ring(x, self)


def trained(step, world):
    """[(weights, bytes sent, bytes of Adam) of each worker] after some steps, a thread for each."""
    boxes = {(a, b): SimpleQueue() for a in range(world) for b in range(world)}

    def work(rank):
        slots = [torch.empty(LENGTH, dtype=torch.float64) for _ in range(9)]
        wire, known = Thread(rank, world, boxes), sharded.Adam(0.1)
        weights = torch.arange(float(LENGTH), dtype=torch.float64)
        for turn in range(STEPS):
            draw, free = torch.Generator().manual_seed(100 * turn + rank), iter(slots)

            def adam(weights, gradient, free=free):  # its own copy: a learner may hand it a clone
                slot = next(free)
                slot = slot.resize_(len(weights)).copy_(weights)
                known(slot, gradient.clone())
                weights.copy_(slot)

            step(weights, torch.randn(LENGTH, generator=draw, dtype=torch.float64), adam, wire)
        return weights, wire.sent, known.nbytes

    with ThreadPoolExecutor(world) as threads:
        return list(threads.map(work, range(world)))


def judge(step):
    """All have what one worker would have, for an all-reduce's bytes and a piece of Adam."""
    hint = "who has which piece of the sum, and who has which new weights."
    for world in WORLDS:
        found = run(trained, (step, world), {}, step)
        right = trained(solved(text), world)
        if not alike(found, right):
            for sentence, look, wrong in named(text, hint, mistakes):
                if alike(found, trained(wrong, world)):
                    raise Mismatch(sentence, look)
            raise Mismatch(f"Of {world} workers some have other weights than one would have with "
                           "the whole batch.", hint)  # fmt: skip
        for (_, sent, kept), (_, least, piece) in zip(found, right, strict=True):
            if kept > piece:
                raise Wasteful(f"a worker of {world} keeps {kept} bytes of Adam, and {piece} would "
                               "do.", "what adam is given.")  # fmt: skip
            if sent > least:
                raise Wasteful(f"a worker of {world} sends {sent} bytes in {STEPS} steps, and "
                               f"{least} would do.", "what goes round.")  # fmt: skip
    return "The bytes of an all-reduce, and of Adam a piece on each worker."


def alike(found, right):
    both = zip(found, right, strict=True)
    return all(torch.allclose(a, b, 1e-9, 1e-12) for (a, *_), (b, *_) in both)


hints = (
    "A ring all-reduce is a reduce-scatter, then an all-gather. After the first, whose piece of "
    "the sum have you? What must go round the second time?",
    "owned = reduce_scatter(gradient, wire)",
)

exercise = Exercise(__name__, text, judge=judge, hints=hints, forbidden=(sharded.zero_1,))
