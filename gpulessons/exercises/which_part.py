"""Which device to buy for this network? The one on which a step costs least."""

import random

from gpulessons.exercises.asking import a_function

text = '''\
def which_part(flops, bytes_moved, devices):
    """The name of the device on which one step costs least: its price × its time for the step.

    flops, bytes_moved: of one step. devices: tuples (name, FLOP/s, bytes/s, price). A price is
    None where nobody knows it: leave those out. None if no price is known.
    """
    def cost(device):
        name, flop_rate, bandwidth, price = device
        ### BEGIN SOLUTION
        return price * max(flops / flop_rate, bytes_moved / bandwidth)

    priced = [device for device in devices if device[3] is not None]
    return min(priced, key=cost)[0] if priced else None
        ### STUB
        return 1 / flop_rate  # Your turn: what does a step wait for, and what does waiting cost?

    return min(devices, key=cost)[0]
        ### END SOLUTION
'''

NAMES = ("slate", "amber", "coral", "olive")  # of nothing that is sold


def drawn(rng):
    """(flops, bytes, devices): a step on either side of each ridge point, one price unknown."""
    devices = [
        (name, 10 ** rng.uniform(12, 13), 10 ** rng.uniform(11, 12), 10 ** rng.uniform(2, 3))
        for name in NAMES
    ]
    unknown = rng.randrange(len(NAMES))
    devices[unknown] = (*devices[unknown][:3], None)
    nbytes = 10 ** rng.uniform(8, 11)
    return nbytes * 10 ** rng.uniform(0, 2), nbytes, devices


FREE = (1e12, 1e10, [*((name, 1e13, 1e12, 100) for name in NAMES[:3]), (NAMES[3], 1e9, 1e9, 0)])
UNKNOWN = (1e12, 1e10, [(name, 1e13, 1e12, None) for name in NAMES])
CASES = [*map(drawn, [random.Random(0)] * 40), FREE, UNKNOWN]
mistakes = (
    ("It looks at FLOP/s alone: a step also waits for its bytes.",
     "max(flops / flop_rate, bytes_moved / bandwidth)", "flops / flop_rate"),
    ("It adds both times: on a roofline they overlap, and the longer one is the limit.",
     "max(flops / flop_rate, bytes_moved / bandwidth)",
     "(flops / flop_rate + bytes_moved / bandwidth)"),
    ("It names the fastest device: what is asked for is the cheapest step.", "price * max", "max"),
)  # fmt: skip

exercise = a_function(
    __name__, text, CASES,
    "price × the longer of both times, on each device; a price that is None, and one that is 0.",
    "42 steps and sets of devices, one with a free device, one without any price.", mistakes,
)
