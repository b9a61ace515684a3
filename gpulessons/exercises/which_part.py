"""Which device to buy for this network? The one on which a step costs least."""

import random

from gpulessons.exercises.asking import a_function

text = '''\
def which_part(flops, bytes_moved, launched, held, devices):
    """The name of the device on which one step costs least: its price × its time for the step.

    flops, bytes_moved: of one step. launched: the seconds of its launches, the same on each device.
    held: the bytes that must fit. devices: tuples (name, memory in bytes, FLOP/s, bytes/s, price).
    A price is None where nobody knows it. None if no device that fits has a price.
    """
    def cost(device):
        name, memory, flop_rate, bandwidth, price = device
        ### BEGIN SOLUTION
        return price * max(flops / flop_rate, bytes_moved / bandwidth, launched)

    choice = [each for each in devices if each[4] is not None and each[1] >= held]
    return min(choice, key=cost)[0] if choice else None
        ### STUB
        return 1 / flop_rate  # Your turn: what does a step wait for, and what does waiting cost?

    return min(devices, key=cost)[0]  # Your turn: which devices are a choice at all?
        ### END SOLUTION
'''

NAMES = ("slate", "amber", "coral", "olive")  # of nothing that is sold


def drawn(rng):
    """(flops, bytes, launched, held, devices): a step on either side of each ridge point, some with
    long launches, one price unknown, and room on some."""
    devices = [
        (name, 10 ** rng.uniform(9, 11), 10 ** rng.uniform(12, 13), 10 ** rng.uniform(11, 12),
         10 ** rng.uniform(2, 3))
        for name in NAMES
    ]
    unknown = rng.randrange(len(NAMES))
    devices[unknown] = (*devices[unknown][:4], None)
    nbytes = 10 ** rng.uniform(8, 11)
    flops, launched = nbytes * 10 ** rng.uniform(0, 2), nbytes / 10 ** rng.uniform(10.5, 12.5)
    return flops, nbytes, launched, 10 ** rng.uniform(8, 10.5), devices


GB = 10**9
ONE = ("slate", 80 * GB, 1e13, 1e12, 100)  # a step of FIRST waits 10 ms for its bytes
FAST = ("coral", 80 * GB, 4e13, 2e12, 900)  # 5 ms, and nine times as dear
FIRST = (1e10, 1e10, 1e-3, GB, [ONE, FAST])
LAUNCHES = (1e10, 1e10, 0.1, GB, [ONE, (*FAST[:4], 60)])  # no device makes it faster
FREE = (1e10, 1e10, 1e-3, GB, [ONE, FAST, ("amber", 80 * GB, 1e9, 1e9, 0)])
FULL = (1e10, 1e10, 1e-3, 24 * GB, [ONE, FAST, ("amber", 24 * GB, 1e13, 1e12, 99)])  # it just fits
UNKNOWN = (1e12, 1e10, 1e-3, GB, [(*ONE[:4], None), ("amber", 80 * GB, 1e13, 1e12, None)])
NO_ROOM = (1e12, 1e10, 1e-3, 112 * GB, [ONE, ("amber", 24 * GB, 1e13, 1e12, 50)])
CASES = [FIRST, LAUNCHES, FREE, FULL, UNKNOWN, NO_ROOM, *map(drawn, [random.Random(0)] * 40)]
mistakes = (
    ("It leaves out the launches, which no device makes shorter.", ", launched)", ")"),
    ("It names the fastest device: what is asked for is the cheapest step.", "price * max", "max"),
    ("It buys a device in which the step does not fit.", " and each[1] >= held", ""),
)  # fmt: skip

exercise = a_function(
    __name__, text, CASES,
    "price × the longest of three times, on a device with room for it; a price may be None, or 0.",
    "46 steps and sets of devices: one free, one that just fits; no price known, no room at all.",
    mistakes,
)
