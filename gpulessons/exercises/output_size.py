"""How many places does a kernel find along one side of a picture?"""

from itertools import product
from numbers import Integral

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Trouble, refuse_loop, returned, steps_of
from gpulessons.grader.ownership import names_in

stub = '''\
def my_output_size(n, kernel, stride, padding):
    """Positions of a kernel along n pixels, with `padding` zeros before and after them."""
    raise NotImplementedError  # Your turn. No loop: one line of arithmetic.
'''

solution = '''\
def my_output_size(n, kernel, stride, padding):
    """Positions of a kernel along n pixels, with `padding` zeros before and after them."""
    return (n + 2 * padding - kernel) // stride + 1
'''

HINT = "the last place: where does the kernel start there, and how many steps is that?"


def walk(n, kernel, stride, padding):
    """The truth, by going there."""
    return len(range(-padding, n + padding - kernel + 1, stride))


CASES = [(56, 3, 1, 1), *product(range(5, 12), range(1, 5), (1, 2, 3), (0, 1, 2))]
WHY = [
    (lambda n, k, s, p: (n + 2 * p - k) // s,
     "That is one too few: the first place takes no step."),
    (lambda n, k, s, p: n // s,
     "That is right for ResNet's layers alone, whose padding fits their kernel."),
    (lambda n, k, s, p: (n + p - k) // s + 1,
     "A picture has two ends, and each has its zeros."),
    (lambda n, k, s, p: (n - k) // s + 1,
     "The zeros around the picture are places too."),
    (lambda n, k, s, p: n + 2 * p - k + 1,
     "Those are steps of 1, at any stride."),
    (lambda n, k, s, p: -((k - n - 2 * p) // s) + 1,
     "At the last place counted, the kernel sticks out of the picture."),
]  # fmt: skip


def judge(attempt):
    """Every small case against a walk, the first that differs with its reason; then no loop."""
    answers = [whole(returned(run(attempt, case, {}))) for case in CASES]
    for case, got in zip(CASES, answers, strict=True):
        if got != walk(*case):
            sentence = f"{in_words(case)}: {got}, where {walk(*case)} is due. {why(answers)}"
            raise Trouble(sentence.strip(), HINT)
    few, many = (steps_of(attempt, n, 3, 1, 1) for n in (9, 999))
    refuse_loop(few, many, "9 and 999 pixels", "the loop: a division says how many strides fit.")
    for name in ("sum", "map", "list", "tuple", "arange"):
        if name in names_in(attempt):
            raise Trouble(f"Right, but {name} goes along the pixels, one after the other.",
                          "a division says how many strides fit.")  # fmt: skip
    return f"Tried {len(CASES)} cases against a walk along the picture."


def whole(got):
    if isinstance(got, bool) or not isinstance(got, Integral):
        raise Trouble(f"{got!r} is no whole number of places.", HINT)
    return got


def in_words(case):
    n, kernel, stride, padding = case
    return f"{n} pixels, kernel {kernel}, stride {stride}, padding {padding}"


def why(answers):
    """The mistake, recognized by all that it answers."""
    return next((why for wrong, why in WHY if answers == [wrong(*case) for case in CASES]), "")


exercise = Exercise(__name__, stub, solution, judge=judge)
