"""Choose a schedule and a number of micro-batches: a small bubble within a memory limit."""

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Mismatch, NotTried
from gpulessons.units import percent
from gpulessons.workers.schedules import bubble, kept, simulate

STAGES, BATCH, ROOM, LEAST = 4, 256, 50, 8
NAMES = "GPipe", "1F1B"

text = '''\
# 4 stages, and a minibatch of 256 examples. The bubble is to be below 10 %. A stage has room for
# the activations of 50 examples. Micro-batches of fewer than 8 examples waste the arithmetic.
### BEGIN SOLUTION
my_schedule, my_micro = "1F1B", 32  # (4 - 1) / (32 + 4 - 1) is 8.6 %; 4 times 8 examples are kept
### STUB
my_schedule, my_micro = ..., ...  # "GPipe" or "1F1B"; into how many micro-batches?
### END SOLUTION
my_choice = my_schedule, my_micro
'''


def judge(answer):
    """(schedule, micro-batches): within all three limits."""
    hint = "the formula: (stages − 1) / (micro-batches + stages − 1)."
    pair = isinstance(answer, tuple | list) and len(answer) == 2
    if pair and ... in answer:
        raise NotTried("The answer is still to come: a name and a whole number.", hint)
    if not pair or answer[0] not in NAMES or answer[1] not in range(1, BATCH + 1):
        raise Mismatch(f'{answer!r} is not a name and a whole number, as in ("GPipe", 2).',
                       f"the names: {', '.join(NAMES)}.")  # fmt: skip
    schedule, micro = answer[0], int(answer[1])  # 32.0 is a whole number
    if BATCH % micro:
        raise Mismatch(f"{micro} does not divide {BATCH} examples evenly.", "powers of two.")
    share, size = bubble(STAGES, micro), BATCH // micro
    if share >= 0.1:
        raise Mismatch(f"The bubble is {percent(share)} of the time.", hint)
    if size < LEAST:
        raise Mismatch(f"Micro-batches of {size} examples are too small.", "the largest that do.")
    held = kept(simulate(schedule, STAGES, micro), stage=0) * size
    if held > ROOM:
        raise Mismatch(f"Stage 0 keeps {held} examples; it has room for {ROOM}.", "who keeps less.")
    return f"A bubble of {share:.1%}, and {held} examples kept, whatever the minibatch."


exercise = Exercise(__name__, text, judge=judge)
