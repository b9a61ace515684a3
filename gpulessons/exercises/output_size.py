"""How many places does a kernel find along one side of a picture?"""

from itertools import product

from gpulessons.exercises.asking import check_like
from gpulessons.grader.check import Exercise
from gpulessons.grader.waste import check_steps, steps_of

text = '''\
def my_output_size(n, kernel, stride, padding):
    """Positions of a kernel along n pixels, with `padding` zeros before and after them."""
    ### BEGIN SOLUTION
    return (n + 2 * padding - kernel) // stride + 1
    ### STUB
    raise NotImplementedError  # Your turn. No loop: one line of arithmetic.
    ### END SOLUTION
'''

CASES = [(56, 3, 1, 1), *product(range(5, 12), range(1, 5), (1, 2, 3), (0, 1, 2))]
HINT = "the last place: where does the kernel start there, and how many steps is that?"
mistakes = (
    ("That is one too few: the first place takes no step.", " + 1", ""),
    ("A picture has two ends, and each has its zeros.", "2 * padding", "padding"),
    ("Those are steps of 1, at any stride.", "// stride", ""),
)


def judge(attempt):
    """Every small case; then no loop."""
    check_like(text, attempt, CASES, HINT, mistakes)
    few, many = (steps_of(attempt, n, 3, 1, 1) for n in (9, 999))
    check_steps(few, many, "9 and 999 pixels", "the loop: a division says how many strides fit.")
    return f"Tried {len(CASES)} cases."


exercise = Exercise(__name__, text, judge=judge)
