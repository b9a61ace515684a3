"""The roofline: how long an op takes at least, and which of two it waits for."""

from gpulessons.exercises.asking import a_function

text = '''\
def my_roof(flops, moved, peak, bandwidth):
    """(the least seconds of an op, "memory" or "arithmetic": what it waits for).

    flops: its operations; moved: the bytes that DRAM moves for it; peak and bandwidth: of each,
    what the machine does in a second. Where both take equally long, it is arithmetic.
    """
    ### BEGIN SOLUTION
    for_bytes, for_flops = moved / bandwidth, flops / peak
    return max(for_bytes, for_flops), "memory" if for_bytes > for_flops else "arithmetic"
    ### STUB
    return flops / peak + moved / bandwidth, "memory"  # Your turn: both work at the same time.
    ### END SOLUTION
'''

CASES = ((1_000, 100, 50, 20), (1_000, 400, 50, 20), (1_000, 800, 50, 20), (0, 80, 50, 20),
         (14e9, 28e9, 19.5e12, 1.555e12), (1.1e12, 4e8, 19.5e12, 1.555e12))  # fmt: skip
mistakes = (
    ("Bytes and operations overlap: the longer of both is the time.",
     "max(for_bytes, for_flops)", "for_bytes + for_flops"),
    ("More bytes for each operation are a longer wait for memory.", "for_bytes > for_flops",
     "for_bytes < for_flops"),
    ("Bytes go by the bandwidth, operations by the peak.", "moved / bandwidth, flops / peak",
     "moved / peak, flops / bandwidth"),
)  # fmt: skip
hints = (
    "How many seconds would the bytes take alone, how many the operations? Nobody waits for the "
    "sooner one.",
    "for_bytes, for_flops = moved / bandwidth, flops / peak",
)

exercise = a_function(
    __name__, text, CASES, "both times by hand; the longer one is what it waits for.",
    "Six ops on two machines, on both sides of the ridge point.", mistakes, hints,
)
