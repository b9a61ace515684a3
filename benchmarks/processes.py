"""How the rows about several processes are measured: each a Ratio, as in contests."""

from statistics import median

import two_hosts
from measure_links import fit
from two_hosts import SILENT

import gpulessons
from gpulessons.illustrations.learning_curves import goal, reached
from gpulessons.measure.results import Ratio, quartiles

FITTED, HELD_OUT = (2**12, 2**16, 2**20, 2**24), (2**14, 2**18, 2**22)  # bytes
LARGE = 2**18, 2**20, 2**22, 2**24  # more than the limit on a link lets pass at once
NETWORK = {"hidden": 1024, "batch": 1024, "steps": 12, "how": "flat"}


def hogwild_or_one(launches=5):
    """How many times sooner two processes without a lock are at the loss of one."""
    from gpulessons.workers.programs.hogwild import ALONE, FREE

    factors = []
    for _ in range(launches):
        found = gpulessons.launch("hogwild", workers=2, ways=[ALONE, FREE], **SILENT)[0]
        # What else a machine has to do only makes it slower.
        one, two = (min(found[way], key=lambda ran: ran.seconds) for way in (ALONE, FREE))
        target = goal([one, two])
        factors.append(reached(one.curve, target) / reached(two.curve, target))
    return Ratio(median(factors), *quartiles(factors))


def engine_or_model(rounds=3):
    """The nearness of the backend's all-reduce to its model, at sizes it was not fitted to."""
    found = []
    for _ in range(rounds):
        sizes = FITTED + HELD_OUT
        samples = gpulessons.launch("measure_links", workers=2, sizes=sizes, **SILENT)[0]
        link = fit([sample for sample in samples if sample.bytes in FITTED])
        for sample in samples:
            if sample.bytes in HELD_OUT:
                found.append(near(link.seconds("backend", 2, sample.bytes) / sample.seconds))
    return Ratio(median(found), *quartiles(found))


def hosts_or_model(megabits, rounds=3):
    """The nearness of data parallelism's efficiency on two hosts to what the model says of it.

    The model knows what a step takes on each host by itself, and the fitted link between them.
    """
    with two_hosts.joined(megabits) as names:
        runs = {"runs": [NETWORK] * rounds}
        half = {"runs": [{**NETWORK, "batch": NETWORK["batch"] // 2}] * rounds}
        apart = two_hosts.launched(names, "several", apart=True, **half)
        large = {"sizes": LARGE, "rounds": 8}
        samples = two_hosts.launched(names, "measure_links", **large)[0]
        together = two_hosts.launched(names, "several", **runs)[0]
    link, found = fit(samples), []
    for *alone, both in zip(*apart, together, strict=True):
        computing = max(one.seconds for one in alone)
        telling = link.seconds("backend", 2, both.bytes / NETWORK["steps"])
        measured, predicted = computing / both.seconds, computing / (computing + telling)
        print(f"{megabits} Mbit/s: {measured:.1%} of the time computing, predicted {predicted:.1%}")
        found.append(near(measured / predicted))
    return Ratio(median(found), *quartiles(found))


def near(ratio):
    """1 where both agree, less the farther they are apart, whichever is larger."""
    return min(ratio, 1 / ratio)
