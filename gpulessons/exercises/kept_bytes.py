"""How many bytes a worker keeps for each weight under ZeRO's stages."""

from gpulessons.exercises.asking import a_function

text = '''\
def my_bytes(stage, workers):
    """Bytes that a worker keeps, for each weight of the network, in mixed precision.

    A weight has 2 bytes, its gradient 2, and the optimizer keeps 12 (a float32 copy, Adam's two
    means). Stage 0 is data parallelism; 1 shards the optimizer's, 2 gradients too, 3 weights too.
    """
    ### BEGIN SOLUTION
    parts = 12, 2, 2  # in the order in which they are sharded
    return sum(part / workers if stage > at else part for at, part in enumerate(parts))
    ### STUB
    return 2 + 2 + 12  # Your turn: which of these has each worker alone, and which in parts?
    ### END SOLUTION
'''

CASES = (1, 4), (0, 8), (2, 4), (3, 8), (3, 1), (1, 64)
mistakes = (
    ("A stage shards what its number says, and what those before it do.", "stage > at",
     "stage == at + 1"),
    ("Stage 0 shards nothing, and stage 1 the optimizer alone.", "stage > at", "stage >= at"),
    ("Only the optimizer is sharded: from stage 2 on gradients are too.", "stage > at",
     "stage > at == 0"),
)  # fmt: skip
hints = (
    "Write the four sums by hand for 4 workers: 2 + 2 + 12, 2 + 2 + 3, …",
    "parts = 12, 2, 2",
)

exercise = a_function(
    __name__, text, CASES, "a line for each stage: what is whole, and what is a piece.",
    "One of 4 workers keeps {0:g} bytes a weight under ZeRO-1, not 16; of 8 under ZeRO-3 {3:g}.",
    mistakes, hints,
)  # fmt: skip
