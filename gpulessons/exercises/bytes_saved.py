"""How many bytes does fusing save? Say it before you measure it."""

from gpulessons.exercises.asking import a_number

text = '''\
### BEGIN SOLUTION
my_bytes_saved = 2 * 4 * 1_000_000  # the write of x + b, and reading it back
### STUB
my_bytes_saved = ...  # bytes, for one million float32 numbers; leave the small bias out
### END SOLUTION
'''

reasons = {
    4_000_000: "That is one of the two trips that fusing saves.",
    2_000_000: "That counts numbers, not bytes: a float32 is four bytes.",
    16_000_000: "Those are all four trips of the unfused pair; two of them remain.",
}

exercise = a_number(
    __name__, text, 8_000_000, reasons, "what each pass reads, and what it writes.",
    "x + b is neither written nor read back: half of all traffic.",
)
