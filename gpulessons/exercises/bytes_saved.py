"""How many bytes does fusing save? Say it before you measure it."""

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Mismatch, number

text = '''\
### BEGIN SOLUTION
my_bytes_saved = 2 * 4 * 1_000_000  # the write of x + b, and reading it back
### STUB
my_bytes_saved = ...  # bytes, for one million float32 numbers; leave the small bias out
### END SOLUTION
'''

REASONS = {  # bytes for each number
    4: "That is one of the two trips that fusing saves.",
    2: "That counts numbers, not bytes: a float32 is four bytes.",
    16: "Those are all four trips of the unfused pair; two of them remain.",
}


def judge(answer):
    """8 bytes an element: x + b is neither written nor read back."""
    hint = "what each pass reads, and what it writes."
    per_element = number(answer, hint) / 1_000_000
    if per_element == 8:
        return "x + b is neither written nor read back: half of all traffic."
    other = f"{answer} bytes is {per_element:g} for each number."
    raise Mismatch(REASONS.get(per_element, other), hint)


exercise = Exercise(__name__, text, judge=judge)
