"""How many products of a stack of layers stand in a row, when all that can be done at once is?"""

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Mismatch, number

STEPS, LAYERS = 100, 3

text = '''\
### BEGIN SOLUTION
my_longest_chain = 100 + 3 - 1  # each layer runs one tick behind the one below
### STUB
my_longest_chain = ...  # ticks for 100 steps of 3 layers, with as many cores as you like
### END SOLUTION
'''
REASONS = {
    STEPS: "The third layer starts two ticks after the first.",
    STEPS * LAYERS: "That is layer by layer: a layer need not wait for all steps of the one below.",
    STEPS + LAYERS: "That is one tick too many: the second layer is one behind, not two.",
}


def judge(answer):
    """The last layer begins after layers − 1 ticks, and then needs one for each step."""
    hint = "the picture of two layers: the number in the last box, and that ticks start at 0."
    ticks = number(answer, hint)
    if ticks == STEPS + LAYERS - 1:
        return "300 cells in 102 ticks: nearly three at once, and never fewer than one a step."
    raise Mismatch(REASONS.get(ticks, f"{answer} is not it."), hint)


exercise = Exercise(__name__, text, judge=judge)
