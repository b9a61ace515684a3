"""How many places does a kernel find along one side of a picture?"""

from itertools import product
from numbers import Integral

from gpulessons.grader import check as checking
from gpulessons.grader.diagnosis import Trouble, steps

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

wrong = [
    (" + 1", "", "one too few"),
    ("2 * padding", "padding", "two ends"),
    ("// stride", "/ stride", "is no whole number"),
    (" // stride + 1", " + 1", "steps of 1"),
    ("(n + 2 * padding - kernel) // stride + 1", "-((kernel - n - 2 * padding) // stride) + 1",
     "sticks out"),
    ("(n + 2 * padding - kernel) // stride + 1", "n // stride", "ResNet's layers"),
    ("2 * padding - kernel", "2 * padding + kernel", "62, where 56 is due."),
    ("n + 2 * padding", "n", "places too"),
    ("(n + 2 * padding - kernel) // stride + 1",
     "sum(1 for at in range(-padding, n + padding - kernel + 1, stride))", "steps of Python"),
    ("    return (", "    (", "returned nothing"),
    ("(n + 2", "(N + 2", "NameError"),
]  # fmt: skip

right = [
    ("(n + 2 * padding - kernel) // stride + 1",
     "-(-(n + padding - kernel + padding + 1) // stride)"),
    ("(n + 2 * padding - kernel) // stride + 1",
     "int(np.floor((n + 2 * padding - kernel) / stride) + 1)"),
    ("(n + 2 * padding - kernel) // stride + 1",
     "len(range(-padding, n + padding - kernel + 1, stride))"),
]  # fmt: skip

LOOK = "the last place: where does the kernel start there, and how many steps is that?"


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
    answers = [whole(checking.run(attempt, case, {})) for case in CASES]
    for case, got in zip(CASES, answers, strict=True):
        if got != walk(*case):
            sentence = f"{in_words(case)}: {got}, where {walk(*case)} is due. {why(answers)}"
            raise Trouble(sentence.strip(), LOOK)
    near, far = (steps(attempt, n, 3, 1, 1) for n in (9, 999))
    if far > near:
        raise Trouble(f"Right, but {far:,} steps of Python for 999 pixels, and {near:,} for 9.",
                      "the loop: a division says how many strides fit.")  # fmt: skip
    return f"Tried {len(CASES)} cases against a walk along the picture."


def whole(got):
    if got is None:
        raise Trouble("It returned nothing.", "its last line: return the result.")
    if isinstance(got, bool) or not isinstance(got, Integral):
        raise Trouble(f"{got!r} is no whole number of places.", LOOK)
    return got


def in_words(case):
    n, kernel, stride, padding = case
    return f"{n} pixels, kernel {kernel}, stride {stride}, padding {padding}"


def why(answers):
    """The mistake, recognized by all that it answers."""
    return next((why for wrong, why in WHY if answers == [wrong(*case) for case in CASES]), "")
