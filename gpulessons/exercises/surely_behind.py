"""From how many classes on is a GPU's full softmax surely behind a tree? A data sheet's bounds."""

from gpulessons.exercises.asking import a_function

text = '''\
def my_break_even(tree, flops, bandwidth):
    """From how many classes on a full softmax takes this GPU at least `tree` seconds.

    64 examples, 64 columns, float32. Three products: scores, and two gradients. Each row of
    weights is read once and written once. flops, bandwidth: FLOP/s and bytes/s, at most.
    """
    ### BEGIN SOLUTION
    arithmetic = 3 * 2 * 64 * 64 / flops  # seconds that each class takes
    memory = 2 * 4 * 64 / bandwidth
    return tree / max(arithmetic, memory)
    ### STUB
    arithmetic = 64 * 64 / flops  # seconds that each class takes. Your turn: how many FLOPs?
    memory = 64 / bandwidth  # and how many bytes?
    return tree / arithmetic
    ### END SOLUTION
'''

CASES = ((1.0, 24_576, 1e9), (2.0, 1e12, 512), (1e-4, 8.1e12, 320e9), (1e-4, 494e12, 4.8e12))
mistakes = (
    ("A step may move bytes while it computes: the longer of the two is the bound, not their sum.",
     "max(arithmetic, memory)", "(arithmetic + memory)"),
    ("A row is read, and written again, and a float32 has four bytes.", "2 * 4 * 64", "4 * 64"),
    ("Three products, and a multiplication and an addition for each number of each.",
     "3 * 2 * 64", "2 * 64"),
)  # fmt: skip
hints = (
    "One class has 64 weights. Each meets 64 examples in each of three products, by a "
    "multiplication and an addition. And its 64 float32 numbers are read and written.",
    "return tree / max(arithmetic, memory)",
)

exercise = a_function(
    __name__, text, CASES, "the FLOPs of a class, its bytes, and which of the two is the bound.",
    "At least that long, whoever writes the kernel.", mistakes, hints,
)  # fmt: skip
