"""How many bytes does each of eight workers send in a ring? Count the steps and the pieces."""

from gpulessons.exercises.asking import a_number

text = '''\
### BEGIN SOLUTION
my_bytes = 2 * (8 - 1) * 4 * 1_000_000 / 8  # 14 steps, an eighth of the vector each
### STUB
my_bytes = ...  # sent by each of 8 workers, for one million float32 numbers in a ring
### END SOLUTION
'''

reasons = {
    3_500_000: "That counts the pieces only while they are added up. Then they must be shown.",
    56_000_000: "That sends the whole vector in every step, or counts all eight workers.",
    1_750_000: "That counts numbers, not bytes: a float32 is four bytes.",
}

exercise = a_number(
    __name__, text, 7_000_000, reasons,
    "how many steps there are, and what one worker sends in each.",
    "14 steps, 500,000 bytes in each: 1.75 vectors, and never 2.",
)
