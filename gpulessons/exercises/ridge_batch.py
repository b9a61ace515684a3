"""How many sequences at once until a decoder's products wait for arithmetic, not for weights."""

from gpulessons.exercises.asking import a_function

text = '''\
def my_batch(flop_rate, bandwidth, bits):
    """The least whole batch whose products take as long as its weights, or longer.

    A weight is read once, bits / 8 bytes, and does two FLOPs for each sequence. Caches are empty.
    """
    ### BEGIN SOLUTION
    from math import ceil

    return ceil(flop_rate / bandwidth * (bits / 8) / 2)
    ### STUB
    return flop_rate / bandwidth  # Your turn: FLOPs for a byte, but how many for a weight?
    ### END SOLUTION
'''

CASES = ((1_000, 10, 16), (1_000, 10, 8), (1_000, 10, 32), (1_010, 10, 4), (312e12, 2039e9, 16),
         (7e12, 320e9, 8))  # fmt: skip
mistakes = (
    ("A weight does two FLOPs: a multiplication and an addition.", " / 2)", ")"),
    ("A weight has bits / 8 bytes.", " * (bits / 8)", ""),
    ("The batch before that still waits for its weights.", "ceil(", "int("),
)  # fmt: skip
hints = (
    "Seconds for a weight's bytes: bits / 8 / bandwidth. For its FLOPs: 2 * batch / flop_rate.",
    "return ceil(flop_rate / bandwidth * (bits / 8) / 2)",
)

exercise = a_function(
    __name__, text, CASES, "the seconds of one weight: its bytes, and its FLOPs for a batch.",
    "Fewer bits: half the batch does.", mistakes, hints,
)
