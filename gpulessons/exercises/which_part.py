"""Which device to buy for this network? The one on which a step costs least."""

import random
from functools import partial
from itertools import count, islice

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Trouble

stub = '''\
def which_part(flops, bytes_moved, devices):
    """The name of the device on which one step costs least: its price × its time for the step.

    flops, bytes_moved: of one step. devices: tuples (name, FLOP/s, bytes/s, price). A price is
    None where nobody knows it: leave those out. None if no price is known.
    """
    def cost(device):
        name, flop_rate, bandwidth, price = device
        return 1 / flop_rate  # Your turn: what does a step wait for, and what does waiting cost?

    return min(devices, key=cost)[0]
'''

solution = '''\
def which_part(flops, bytes_moved, devices):
    """The name of the device on which one step costs least: its price × its time for the step.

    flops, bytes_moved: of one step. devices: tuples (name, FLOP/s, bytes/s, price). A price is
    None where nobody knows it: leave those out. None if no price is known.
    """
    def cost(device):
        name, flop_rate, bandwidth, price = device
        return price * max(flops / flop_rate, bytes_moved / bandwidth)

    priced = [device for device in devices if device[3] is not None]
    return min(priced, key=cost)[0] if priced else None
'''

POWERS = (2, 3, 4, 8)


def mixed(power, a, b, rate, pace, p):
    """The price times a p-norm of both times, hypot among them: nearly the longer one."""
    return p * (a**power + b**power) ** (1 / power)


# What somebody minimizes who makes a mistake: a, b are the seconds of the FLOPs and of the bytes,
# rate and pace the device's two numbers, p its price.
MISTAKES = {
    "It looks at FLOP/s alone: a step also waits for its bytes.":
        (lambda a, b, rate, pace, p: p * a, lambda a, b, rate, pace, p: p / rate),
    "It looks at bytes/s alone: a step also waits for its arithmetic.":
        (lambda a, b, rate, pace, p: p * b, lambda a, b, rate, pace, p: p / pace),
    "It adds both times: on a roof they overlap, and the longer one is the limit.":
        (lambda a, b, rate, pace, p: p * (a + b),),
    "It mixes both times: on a roof they overlap, and the longer one alone is the limit.":
        tuple(partial(mixed, power) for power in POWERS),
    "It takes the shorter of both times: a step is over when the longer one is.":
        (lambda a, b, rate, pace, p: p * min(a, b),),
    "It names the fastest device: what is asked for is the cheapest step.":
        (lambda a, b, rate, pace, p: max(a, b), lambda a, b, rate, pace, p: a + b),
    "It names the device with the lowest price: a slow one is paid for longer.":
        (lambda a, b, rate, pace, p: p,),
    "It names the device with the most FLOP/s, whatever the network asks for.":
        (lambda a, b, rate, pace, p: -rate,),
    "It names the device with the most bytes/s, whatever the network asks for.":
        (lambda a, b, rate, pace, p: -pace,),
    "It divides by the time: what takes longer would be cheaper.":
        (lambda a, b, rate, pace, p: p / max(a, b),),
    "It names the device on which a step costs most.":
        (lambda a, b, rate, pace, p: -p * max(a, b),),
}  # fmt: skip
NAMES = ("slate", "amber", "coral", "olive")  # of nothing that is sold


def chosen(case, key, unpriced=False):
    """The name of the device with the least key; unpriced: even one without a price."""
    flops, nbytes, devices = case
    keys = {
        name: key(flops / rate, nbytes / pace, rate, pace, price)
        for name, rate, pace, price in devices if unpriced or price is not None
    }  # fmt: skip
    return min(keys, key=keys.get)


def due(case):
    return chosen(case, lambda a, b, rate, pace, p: p * max(a, b))


def drawn_case(rng):
    """(flops, bytes, devices): a step on either side of each corner, one price unknown."""
    devices = [
        (name, 10 ** rng.uniform(12, 13), 10 ** rng.uniform(11, 12), 10 ** rng.uniform(2, 3))
        for name in NAMES
    ]
    unknown = rng.randrange(len(NAMES))
    devices[unknown] = (*devices[unknown][:3], None)
    nbytes = 10 ** rng.uniform(8, 11)
    return nbytes * 10 ** rng.uniform(0, 2), nbytes, devices


def made_cases(number=40):
    """As drawn, and for each power two near a corner where the mixed time chooses otherwise."""
    rng = random.Random(0)
    cases = [drawn_case(rng) for _ in range(number)]
    for power in POWERS:
        near = (drawn_case(rng) for _ in count())
        differs = (c for c in near if chosen(c, partial(mixed, power)) != due(c))
        cases += islice(differs, 2)
    return cases


CASES = made_cases()
FREE = (1e12, 1e10, [*((name, 1e13, 1e12, 100) for name in NAMES[:3]), (NAMES[3], 1e9, 1e9, 0)])
UNKNOWN = (1e12, 1e10, [(name, 1e13, 1e12, None) for name in NAMES])


def judge(attempt):
    """Every case right, or one mistake that explains every answer, or the first wrong one."""
    answers = [answer(attempt, case) for case in CASES]
    wants = [due(case) for case in CASES]
    if answers != wants:
        refuse_known(answers)
        refuse_first(attempt, answers, wants)
    if (told := answer(attempt, FREE)) != due(FREE):
        raise Trouble(f"A price of 0 is a price: a step on {due(FREE)} costs nothing, and the "
                      f"answer was {told!r}.", "devices that it leaves out.")  # fmt: skip
    if (told := answer(attempt, UNKNOWN)) is not None:
        raise Trouble(f"No price is known of any device, and the answer was {told!r}.",
                      "devices without a price: if there are no others, None is due.")  # fmt: skip
    return f"{len(CASES)} steps and sets of devices, one with a free device, one without any price."


def answer(attempt, case):
    """The attempt's answer to one case; Trouble where a price that is None was too much for it."""
    flops, nbytes, devices = case
    try:
        return run(attempt, (flops, nbytes, list(devices)), {})
    except Trouble as trouble:
        if isinstance(trouble.__cause__, TypeError) and "NoneType" in trouble.sentence:
            hint = "devices of which nobody knows the price: leave them out."
            raise Trouble("A price is None, and it is used as a number.", hint) from None
        if case is UNKNOWN and isinstance(trouble.__cause__, ValueError):
            sentence = f"No price is known of any device: None is due. {trouble.sentence}."
            raise Trouble(sentence, "what is left when those are left out.") from None
        raise


def refuse_known(answers):
    """Trouble with the reason, where one mistake gives just these answers."""
    for sentence, keys in MISTAKES.items():
        for key in keys:
            for unpriced in (False, True):
                try:
                    mistaken = [chosen(case, key, unpriced) for case in CASES]
                except TypeError:  # it needs the price
                    continue
                if answers == mistaken:
                    hint = "a device's two times: which one is the step's, and what it costs."
                    raise Trouble(sentence, hint)


def refuse_first(attempt, answers, wants):
    """Trouble about the first wrong answer."""
    for case, got, want in zip(CASES, answers, wants, strict=True):
        if got == want:
            continue
        prices = {name: price for name, *_, price in case[2]}
        if not isinstance(got, str) or got not in prices:
            raise Trouble(f"{got!r} is not the name of a device.", "its return: the first of the "
                          "four parts of a device.")  # fmt: skip
        if prices[got] is None:
            raise Trouble(f"It names {got}, whose price nobody knows.", "prices that are None.")
        if answers == [answer(attempt, (c[0], c[1] * 1e30, c[2])) for c in CASES]:
            raise Trouble("Its answer is the same whatever bytes_moved is.",
                          "where bytes_moved comes in.")  # fmt: skip
        raise Trouble(f"{in_words(case)}: {want} costs least, and the answer was {got}.",
                      "price × the longer of both times, on each.")  # fmt: skip


def in_words(case):
    flops, nbytes, devices = case
    told = [f"{name} {price * max(flops / rate, nbytes / pace):.3g}"
            for name, rate, pace, price in devices if price is not None]  # fmt: skip
    return f"A step of {flops:.3g} FLOPs and {nbytes:.3g} bytes costs {', '.join(told)}"


exercise = Exercise(__name__, stub, solution, judge=judge)
