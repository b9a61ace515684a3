"""Bytes that a decoder reads for each token that it writes: weights are shared, a cache is not."""

from gpulessons.exercises.asking import a_function

text = '''\
def my_token_bytes(weights, cached, batch, context, bits):
    """Bytes that must be read for each token that is written.

    weights: numbers that a step reads, once for all sequences. cached: numbers that a token leaves
    in its sequence's cache. Each of `batch` sequences gets one token in a step, and has `context`
    tokens in its cache. bits: of a weight and of a cached number.
    """
    ### BEGIN SOLUTION
    return bits / 8 * (weights / batch + cached * context)
    ### STUB
    return 2 * weights  # Your turn: who shares what?
    ### END SOLUTION
'''

CASES = ((7_000, 40, 1, 0, 16), (7_000, 40, 1, 10, 16), (7_000, 40, 4, 10, 16), (900, 4, 3, 5, 8),
         (7_000, 40, 8, 300, 4), (6_607_077_376, 524_288, 64, 4_096, 16))  # fmt: skip
mistakes = (
    ("Each sequence has a cache of its own: more sequences share no keys and values.",
     "(weights / batch + cached * context)", "(weights + cached * context) / batch"),
    ("All sequences of a step use a weight that is read once.", "weights / batch", "weights"),
    ("That forgets the cache.", " + cached * context", ""),
)  # fmt: skip
hints = (
    "Write down what a whole step reads, for all sequences; then divide by the tokens it writes.",
    "return bits / 8 * (weights / batch + cached * context)",
)

exercise = a_function(
    __name__, text, CASES, "what a whole step reads, and how many tokens it writes.",
    "A batch divides the weights, and nothing else.", mistakes, hints,
)
