"""How many products of a stack of layers stand in a row, when all that can be done at once is?"""

from gpulessons.exercises.asking import a_number

text = '''\
### BEGIN SOLUTION
my_longest_chain = 100 + 3 - 1  # each layer runs one tick behind the one below
### STUB
my_longest_chain = ...  # ticks for 100 steps of 3 layers, with as many cores as you like
### END SOLUTION
'''

reasons = {
    100: "The third layer starts two ticks after the first.",
    300: "That is layer by layer: a layer need not wait for all steps of the one below.",
    103: "That is one tick too many: the second layer is one behind, not two.",
}

exercise = a_number(
    __name__, text, 102, reasons,
    "the picture of two layers: the number in the last box, and that ticks start at 0.",
    "300 cells in 102 ticks: nearly three at once, and never fewer than one a step.",
)
