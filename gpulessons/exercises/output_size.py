"""How many places does a kernel find along one side of a picture?"""

from itertools import product
from numbers import Integral

from gpulessons.diagnosis import Trouble

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
]  # fmt: skip

LOOK = "the last place: where does the kernel start there, and how many steps is that?"


def walk(n, kernel, stride, padding):
    """The truth, by going there."""
    return len(range(-padding, n + padding - kernel + 1, stride))


def judge(attempt):
    """Every small case against a walk; the first that differs names the mistake."""
    for case in [(56, 3, 1, 1), *product(range(5, 12), range(1, 5), (1, 2, 3), (0, 1, 2))]:
        got, want = call(attempt, case), walk(*case)
        if isinstance(got, bool) or not isinstance(got, Integral):
            raise Trouble(f"{got!r} is no whole number of places.", LOOK)
        if got != want:
            raise Trouble(f"{in_words(case)}: {got}, where {want} is due. {why(attempt)}", LOOK)
    return "Tried 253 cases against a walk along the picture."


def call(attempt, case):
    try:
        return attempt(*case)
    except NotImplementedError:
        raise Trouble("The stub is as it was.", "the comment that says what to write.") from None
    except Exception as error:
        raise Trouble(f"It raised {type(error).__name__}: {error}", "your one line.") from error


def in_words(case):
    n, kernel, stride, padding = case
    return f"{n} pixels, kernel {kernel}, stride {stride}, padding {padding}"


def why(attempt):
    """The mistake, recognized by simple cases."""
    if attempt(9, 3, 1, 0) == walk(9, 3, 1, 0) - 1:
        return "That is one too few: the first place takes no step."
    if attempt(9, 3, 1, 0) == 9 and attempt(9, 3, 3, 0) == 3:
        return "That is right for ResNet's layers alone, whose padding fits their kernel."
    if attempt(9, 3, 1, 2) == walk(9, 3, 1, 1):
        return "A picture has two ends, and each has its zeros."
    if attempt(9, 3, 2, 0) == walk(9, 3, 1, 0):
        return "Those are steps of 1, at any stride."
    if attempt(10, 3, 2, 0) == walk(10, 3, 2, 0) + 1:
        return "At the last place counted, the kernel sticks out of the picture."
    return ""
