"""Little's law: how many workers must be busy, for so much output with so much delay?"""

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Mismatch, number

text = '''\
# A memory answers after 400 ns. Each request brings 4 bytes. You want one every 0.1 ns.
### BEGIN SOLUTION
my_in_flight = 400 / 0.1  # how many requests must be under way at once?
### STUB
my_in_flight = ...  # how many requests must be under way at once?
### END SOLUTION
'''

REASONS = {
    40: "You multiplied latency by the gap; the rate is one over the gap.",
    400: "That would do for a request every 1 ns.",
    16_000: "That counts bytes in flight, not requests.",
    10: "That is how many requests start per ns; each stays under way for 400 of them.",
}


def judge(answer):
    """Requests in flight = requests per second × seconds that each is under way."""
    hint = "how many start while the first one is under way."
    if abs(number(answer, hint) - 4000) < 1:
        return "4,000 at once: with fewer under way, the memory waits for you."
    raise Mismatch(REASONS.get(round(answer), f"{answer:g} is not it."), hint)


exercise = Exercise(__name__, text, judge=judge)
