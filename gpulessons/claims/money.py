"""Claims of the last part: money. Prices are the learner's; without them little can be said."""

import math

from gpulessons import units
from gpulessons.hardware import machine
from gpulessons.money import brain
from gpulessons.money.cores import K80_CORES, K80_FLOPS, SOURCE, beside_the_k80
from gpulessons.money.devices import PUBLISHED, latest, of_machine
from gpulessons.money.prediction import networks, worth
from gpulessons.money.renting import HOURS_PER_YEAR

from .claim import A_GPU, PRICES, QUIET, Figure, claim, holds, limits, refuted, untested, weakest
from .evidence import counted, live, missing, modelled, published

NO_PRICES = "it takes two devices with prices, which are yours: see notebook 15"
NO_RENT = "it takes a device with a price and a rent, which are yours: see notebook 15"
BRAIN = "T. Dettmers, “The Brain vs Deep Learning Part I”, 2015"
YEARS = 3  # in which a device that is bought is used, day and night


def slow_and_fast(given):
    """Of the devices that you gave prices: what a TFLOP/s costs from the one with the fastest
    workers, over what it costs from the one with the slowest. A worker is a lane, which makes one
    number at a time. What was not measured, here or on a named machine, its box promises.
    """
    priced = [d for d in given.devices if d.price and d.flop_rate and d.lanes]
    speed = {d.name: d.flop_rate / d.lanes for d in priced}
    faster, price = "speed of the fastest workers over the slowest", "their costs per FLOP/s"
    if len(set(speed.values())) < 2:
        return {"workers": missing(faster, NO_PRICES, PRICES),
                "costs": missing(price, NO_PRICES, PRICES)}  # fmt: skip
    fast, slow = (pick(priced, key=lambda d: speed[d.name]) for pick in (max, min))
    measured = {fast.kind, slow.kind} <= {"live", "recorded"}
    kind, where = "recorded" if measured else "published", f"{fast.name}, {slow.name}"
    cost = (fast.price / fast.flop_rate) / (slow.price / slow.flop_rate)
    return {
        "workers": Figure(faster, speed[fast.name] / speed[slow.name], "×", kind, where),
        "costs": Figure(price, cost, "×", kind, f"{where}, at your prices"),
    }


@claim(
    2, "Many slow workers beat a few fast ones per unit of money when the work divides (the "
    "French-fries kitchen).", source="A", notebooks="01 15", measure=slow_and_fast,
    changes="Prices; and work that does not divide, for which only the speed of one worker counts.",
)  # fmt: skip
def slow_workers_are_cheaper(workers, costs):
    found = (f"Workers {units.three_digits(workers)} times as fast make a TFLOP/s "
             f"{units.three_digits(costs)} times as expensive, at your prices")  # fmt: skip
    if costs <= 1:
        return refuted(f"{found}: the fast ones are no more expensive.")
    return limits(f"{found}. It says nothing about work that does not divide.")


def rent_or_buy(given):
    """Of the devices that you gave both a price and a rent, which may be 0: what three years of
    rent cost, day and night, over the price.
    """
    both = [d for d in given.devices if d.price and d.price_per_hour is not None]
    what = "three years of rent over the price"
    if not both:
        return {"rent": missing(what, NO_RENT, PRICES)}
    most = max(both, key=lambda d: d.price_per_hour / d.price)
    rent = most.price_per_hour * YEARS * HOURS_PER_YEAR / most.price
    return {"rent": modelled(what, rent, "×", where=f"{most.name}, at your prices")}


@claim(
    9, "Nobody has to build a rig: renting, or a free notebook service, will do.", source="A",
    notebooks="15", measure=rent_or_buy,
    changes="How many hours you use it: energy, the machine around it and its resale are on "
    "sliders in notebook 15.",
)  # fmt: skip
def renting_is_cheaper(rent):
    if rent <= 1:
        return holds(f"Three years of rent, day and night, cost {units.three_digits(rent)} times "
                     "the price: no more than the device.")  # fmt: skip
    found = f"The rent reaches the price after {1 / rent:.1%} of three years of use, day and night"
    if rent > 50:
        return refuted(f"{found}: within weeks.")
    return limits(f"{found}. Who uses it less should rent, who uses it more should buy.")


def cores_of_a_k80(given):
    """The FLOP/s of one core here, in a float32 product, beside those of one of the K80's 4,992
    cores, whose board's specification is the most that it can do; and where there is a GPU, what
    one of its multiprocessors does.
    """
    here = machine()
    gpu_rate = here.ceiling("gpu", "float32")
    each = gpu_rate / here.gpu["multiprocessors"] if gpu_rate and here.gpu else None
    one, what = "one core of the CPU, a float32 product", "a multiprocessor of the GPU"
    beside = beside_the_k80(card=here)
    return {
        "core": missing(one, beside.doubt, QUIET) if beside.doubt
        else live(one, beside.core_flops, "FLOP/s"),
        "k80": published("a K80's core, with boost", K80_FLOPS / K80_CORES, "FLOP/s", SOURCE),
        "gpu_multiprocessor": live(what, each, "FLOP/s", of_gpu=True)
        if each else missing(what, "none was measured", "" if here.gpu else A_GPU),
    }  # fmt: skip


@claim(
    20, "The difference is the number of cores (K80: 4,992) and what a thread costs; a CPU with as "
    "many cores would be faster still, and unaffordable.", source="C", notebooks="01 15",
    measure=cores_of_a_k80, about_gpus=True,
    changes="What is called a core: the K80's are lanes of vectors, and a CPU's core has several. "
    "What is unaffordable is not judged: as many cores have a price, in many CPUs.",
)  # fmt: skip
def cores_are_lanes(core, k80, gpu_multiprocessor=None):
    times = core / k80
    many = (f"As many cores as the CPU's would be {units.three_digits(times)} times as fast as "
            "the board, if nothing held them up")  # fmt: skip
    return weakest(
        the_difference_is_the_number=number_of_cores(core, times, gpu_multiprocessor),
        as_many_cores_would_be_faster=limits(f"{many}: arithmetic, for nobody has built it.")
        if times > 1 else refuted(f"{many}: no faster."),
    )  # fmt: skip


def number_of_cores(core, times, gpu_multiprocessor):
    found = (f"One core of the CPU computes like {units.three_digits(times)} of the K80's "
             f"{K80_CORES:,}, at the most that its board is specified for")  # fmt: skip
    if gpu_multiprocessor is not None:
        mine = units.three_digits(gpu_multiprocessor / core)
        found += f"; one multiprocessor of the GPU here does {mine} times the work of a core"
    if times < 2:
        return limits(f"{found}: so far a core is a core.")
    return refuted(f"{found}: the difference is not the number, but what is called a core.")


def what_networks_wait_for(given):
    """The six networks of notebook 10 on the roofline of this CPU, of devices whose data sheets are
    published and of those that you gave: where do some wait for FLOP/s and others for bytes? And is
    one of your devices the best buy for all of them? Times are modelled.
    """
    devices = latest([*PUBLISHED, *given.devices, *of_machine(machine())])
    compared = worth(networks(), [device for device in devices if device.corner])
    works = len(compared.works)
    split = [name for name, flops in compared.limits.items() if 0 < flops < works]
    buys = len(set(compared.buys.values()))
    return {
        "devices": counted("devices", len(compared.devices)),
        "split": modelled("of them: some networks wait for FLOP/s, others for bytes", len(split)),
        "buys": modelled("different best buys among your devices", buys)
        if buys else missing("best buys", NO_PRICES, PRICES),
    }  # fmt: skip


@claim(
    26, "Buying the wrong part wastes money: which number on the box matters depends on the "
    "network you train.", source="E", notebooks="15", measure=what_networks_wait_for,
    changes="Other networks and batches, which move along the roofline, and devices whose corners "
    "lie elsewhere.",
)  # fmt: skip
def numbers_on_the_box(devices, split, buys=None):
    found = (f"By a model, on {split:.0f} of {devices:.0f} devices some of six networks wait for "
             "FLOP/s and others for bytes")  # fmt: skip
    return weakest(
        the_number_that_matters=limits(f"{found}.") if split
        else refuted(f"{found}: one number matters for all of them."),
        the_wrong_part_wastes_money=best_buys(buys),
    )  # fmt: skip


def best_buys(buys):
    if buys is None:
        return untested("What it wastes depends on prices, which are yours.", PRICES)
    if buys == 1:
        return limits("Among your devices the same one is the best buy for all six.")
    return limits(f"Among your devices {buys:.0f} are the best buy for some of them.")


def brains_arithmetic(given):
    """The source's estimate put together again as its text has it. And its assumptions drawn
    between their least and their most: how far apart the results lie, with those ranges alone for
    which others give both ends, and with ours too.
    """
    others = brain.spread([each for each in brain.ASSUMPTIONS if "ours" not in each.why])
    everything = brain.spread()
    again = brain.operations_per_second() / brain.PUBLISHED
    what = "nine draws of ten: the largest over the smallest, "
    result = published("the source's result", brain.PUBLISHED, "FLOP/s", BRAIN, of_gpu=False)
    return {
        "again": modelled("the source's numbers put together, over its result", again, "×"),
        "published": result,
        "apart": modelled(f"{what}others' ranges", others.high / others.low, "×"),
        "wider": modelled(f"{what}and ours", everything.high / everything.low, "×"),
    }


@claim(
    27, "The brain's arithmetic can be estimated by comparing it with a convolutional network.",
    source="E", notebooks="15", measure=brains_arithmetic,
    changes="A brain's arithmetic, measured. That this word is “not testable” is no finding: an "
    "estimate that nothing is held against was not tested.",
)  # fmt: skip
def brain_can_be_estimated(again, published, apart, wider):
    found = f"The source's numbers, put together as its text has it, give {again:.0%} of its result"
    if not 0.5 <= again <= 2:
        return refuted(f"{found}. This is not the estimate that was published.")
    return untested(
        f"{found}. By a model, nine results of ten spread over {math.log10(apart):.1f} powers of "
        f"ten within the ranges that others have published, and over {math.log10(wider):.1f} with "
        "ours. Nothing here measures a brain: how wide an estimate may be is not for a test to say."
    )
