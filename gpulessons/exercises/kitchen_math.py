"""Little's law: how many workers must be busy, for so much output with so much delay?"""

from gpulessons.exercises.asking import a_number

text = '''\
# A memory answers after 400 ns. Each request brings 4 bytes. You want one every 0.1 ns.
### BEGIN SOLUTION
my_in_flight = 400 / 0.1  # how many requests must be under way at once?
### STUB
my_in_flight = ...  # how many requests must be under way at once?
### END SOLUTION
'''

reasons = {
    40: "You multiplied latency by the gap; the rate is one over the gap.",
    400: "That would do for a request every 1 ns.",
    16_000: "That counts bytes in flight, not requests.",
}

exercise = a_number(
    __name__, text, 4_000, reasons, "how many start while the first one is under way.",
    "4,000 at once: with fewer under way, the memory waits for you.",
)
