"""Reduce-scatter: every piece once round the ring, and each worker ends with one finished sum."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from queue import Empty, Queue

import numpy as np

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Mismatch, Wasteful

text = '''\
def my_reduce_scatter(pieces, rank, exchange):
    """Returns the number of that one of `pieces` which holds all workers' sum in the end.

    pieces: this worker's vector, cut into as many pieces as there are workers. exchange(piece)
    sends it to the next worker (rank + 1), and returns what the one before (rank - 1) has sent.
    """
    world = len(pieces)
    for step in range(world - 1):
        ### BEGIN SOLUTION
        leaves, grows = (rank - step) % world, (rank - step - 1) % world
        pieces[grows] += exchange(pieces[leaves])
    return (rank + 1) % world
    ### STUB
        arrived = exchange(pieces[0])  # Your turn: which one leaves, and which one grows?
    return 0
    ### END SOLUTION
'''

HINT = "the pieces' numbers, in each step: what leaves is what has just grown."


def judge(attempt):
    """One to five workers, a thread each; what a piece holds tells whose shares are in it."""
    for world in range(1, 6):
        shares = np.random.default_rng().uniform(1, 2, (world, world))  # of each piece, by worker
        vectors = [[share * np.eye(world)[rank] for share in shares] for rank in range(world)]
        queues, sent = [Queue() for _ in range(world)], [0] * world
        with ThreadPoolExecutor(world) as pool:
            ends = [partial(exchange, queues, sent, rank) for rank in range(world)]
            owned = [*pool.map(lambda *given: run(attempt, given, {}), vectors, range(world), ends)]
        for rank, piece in enumerate(owned):
            complete(rank, piece, vectors[rank], shares)
        if len(set(owned)) < world:
            raise Mismatch(f"Of {world} workers two own the same piece: {owned}.", HINT)
        if max(sent) > world * (world - 1):
            pieces = f"{max(sent) / world:g} pieces of {world}, where {world - 1} would do."
            raise Wasteful(f"a worker sent {pieces}", "the turns of the loop.")
    return "1 to 5 workers: each ends with one finished piece, and has sent n − 1 of n."


def exchange(queues, sent, rank, piece):
    """To the next worker's queue, and from the own."""
    piece = np.array(piece)  # a copy: it may grow while it is under way
    sent[rank] += piece.size
    queues[(rank + 1) % len(queues)].put(piece)
    try:
        return queues[rank].get(timeout=2)
    except Empty:
        said = f"Of {len(queues)} workers number {rank} waits for a piece that nobody sends."
        raise Mismatch(said, "whether all exchange equally often.") from None


def complete(rank, number, pieces, all_shares):
    """Mismatch unless this piece holds every worker's share, once."""
    world, where = len(pieces), f"Worker {rank} of {len(pieces)}"
    if not isinstance(number, int | np.integer) or not 0 <= number < world:
        raise Mismatch(f"{where} returned {number!r}, and its pieces are 0 to {world - 1}.", HINT)
    shares, due = np.asarray(pieces[number]), all_shares[number]
    if shares.shape != (world,) or not np.allclose(shares, due):
        pure = shares.shape == (world,) and np.all((shares == 0) | np.isclose(shares, due))
        held = ", ".join(map(str, np.flatnonzero(shares)))
        said = f"the shares of {held} alone" if pure else "others' shares in it, or one twice"
        raise Mismatch(f"{where} returned {number}, and piece {number} has {said}.", HINT)


hints = (
    "Follow one piece: in step 0 worker 2 sends it, so in step 0 it grows at worker 3. Who sends "
    "it in step 1? Which number, then, does worker 3 send in step 1, if it has sent 3 before?",
    "leaves, grows = (rank - step) % world, (rank - step - 1) % world",
)

exercise = Exercise(__name__, text, judge=judge, hints=hints)
