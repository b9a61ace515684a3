"""Little's law: how many warps must be there, for so much bandwidth with so much latency?"""

import math

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Mismatch, number

text = '''\
# An A100's memory: 1,555 GB/s, after 408 ns, for all of its 108 multiprocessors.
# A warp's load brings 32 numbers of 4 bytes, and each warp has one under way.
### BEGIN SOLUTION
my_warps = 1555 * 408 / 108 / (32 * 4)  # how many warps must each multiprocessor hold?
### STUB
my_warps = ...  # how many warps must each multiprocessor hold?
### END SOLUTION
'''

EXACT = 1555 * 408 / 108 / (32 * 4)
HINT = "bytes in flight: GB/s × ns is bytes. Then share them out, to multiprocessors and to warps."
REASONS = {
    EXACT * 108: "That is all of the GPU's warps. 108 multiprocessors share them.",
    EXACT * 32: "Those are threads. A warp has 32.",
    EXACT * 128: "Those are bytes. A warp's load brings 32 × 4 of them.",
    EXACT * 4: "A number has 4 bytes.",
}


def judge(answer):
    answer = number(answer, HINT)
    if EXACT - 0.1 <= answer <= math.ceil(EXACT):
        return f"{EXACT:.1f}, so {math.ceil(EXACT)} of the 64 that there is room for."
    said = (said for wrong, said in REASONS.items() if abs(answer - wrong) <= max(1, 0.01 * wrong))
    raise Mismatch(next(said, f"{answer:,} is not it."), HINT)


exercise = Exercise(__name__, text, judge=judge)
