"""How many bytes does each of eight workers send in a ring? Count the steps and the pieces."""

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Mismatch, number

text = '''\
### BEGIN SOLUTION
my_bytes = 2 * (8 - 1) * 4 * 1_000_000 / 8  # 14 steps, an eighth of the vector each
### STUB
my_bytes = ...  # sent by each of 8 workers, for one million float32 numbers in a ring
### END SOLUTION
'''
REASONS = {
    3_500_000: "That counts the pieces only while they are added up. Then they must be shown.",
    56_000_000: "That sends the whole vector in every step, or counts all eight workers.",
    1_750_000: "That counts numbers, not bytes: a float32 is four bytes.",
}


def judge(answer):
    """2 (n − 1)/n of the four million bytes."""
    hint = "how many steps there are, and what one worker sends in each."
    if number(answer, hint) == 7_000_000:
        return "14 steps, 500,000 bytes in each: 1.75 vectors, and never 2."
    other = f"{answer:,} bytes is not what one worker sends."
    raise Mismatch(REASONS.get(answer, other), hint)


exercise = Exercise(__name__, text, judge=judge)
