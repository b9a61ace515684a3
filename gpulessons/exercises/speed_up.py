"""How many times as fast as one are n workers? A step computes, then sends: latencies and bytes."""

from gpulessons.exercises.asking import a_function

text = '''\
def my_speed_up(compute, size, latency, bandwidth, workers):
    """How many times as fast as one worker so many are, each with its share of the same batch.

    compute: seconds that one needs for the whole batch. size: bytes of the gradient, which a ring
    sums when all have computed. A message takes latency + bytes / bandwidth seconds.
    """
    ### BEGIN SOLUTION
    messages, piece = 2 * (workers - 1), size / workers
    sending = messages * (latency + piece / bandwidth)
    ### STUB
    sending = latency + size / bandwidth  # Your turn: one message. How many follow one another?
    ### END SOLUTION
    return compute / (compute / workers + sending)
'''

CASES = [(1.0, 8.0, 0.25, 8.0, 2), (0.8, 1e8, 14e-6, 1.25e8, 8), (0.1, 1e8, 14e-6, 5e10, 1000)]
mistakes = (
    ("A message carries one of n pieces, not the whole vector.", "size / workers", "size"),
    ("A finished piece goes round once more.", "2 * (workers - 1)", "workers - 1"),
    ("Each message has its own latency.", "messages * (latency", "latency + messages * (0"),
)  # fmt: skip
hints = ("The picture at the top: how many steps for n workers, and what does one carry in each?",
         "messages, piece = 2 * (workers - 1), size / workers")  # fmt: skip

exercise = a_function(
    __name__, text, CASES, "how many messages follow one another, and what each carries.",
    "The bytes stay below two vectors; the latencies grow with n.", mistakes, hints,
)  # fmt: skip
