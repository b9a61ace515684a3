"""What may befall a page on a reader's machine, brought about in the kernel before its cells run.

Each function below is one disturbance. No page may stop under any of them, and none may say what is
false then.
"""

import importlib
import os
from dataclasses import replace
from zlib import crc32


def noisy():
    """Every comparison is too noisy to say anything."""
    rounds, timer = module("measure.rounds"), module("hardware.timer")
    change(rounds.Run, "timing", lambda timing: replace(timing, samples=shaken(timing.samples)))
    change(timer, "spreads", lambda found: [
        (name, replace(spread, samples=shaken(spread.samples))) for name, spread in found
    ])  # fmt: skip


def coarse():
    """A clock so coarse that samples are alike, and transfers and first calls take nothing."""
    run = module("measure.rounds").Run
    nothing = {"first": 0.0, "h2d": 0.0, "d2h": 0.0}
    change(run, "timing", lambda t: replace(t, samples=(t.median,) * len(t.samples), **nothing))


def beaten():
    """Every cold timing beats the ceiling of its memory, which was measured in a busier minute."""
    compare, results = module("measure.compare"), module("measure.results")
    timings = compare.timings

    def doubted(op, *arguments, cold=False, **options):
        for entry in timings(op, *arguments, cold=cold, **options):
            if cold and isinstance(entry, results.Timing):
                why = replace(entry, cold=True).doubt(entry.bandwidth / 2)
                entry = results.Absent(entry.op, entry.version, entry.backend, entry.size, why)
            yield entry

    compare.timings = doubted


def absent(third):
    """A third of the CPU's versions cannot be timed here."""
    timings, rounds = module("measure.timings"), module("measure.rounds")
    prepare = timings.prepare

    def refused(problem, version, *rest):
        on_cpu = version.backend.name in ("host", "torch_cpu")
        if on_cpu and crc32(version.name.encode()) % 3 == third:
            return rounds.absent(problem, version, "not to be had here")
        return prepare(problem, version, *rest)

    timings.prepare = refused


def ceilings(times):
    """The ceilings were measured this many times too high."""
    card = module("hardware.card")

    def changed(found):
        rates = {name: times * rate for name, rate in found["ceilings"].items()}
        return {**found, "ceilings": rates}

    change(card, "kept_or_measured", changed)


def one_core():
    """The process may use one core alone."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


ALL = {
    "noisy": noisy,
    "coarse": coarse,
    "beaten": beaten,
    "one core": one_core,
    "ceilings low": lambda: ceilings(1 / 3),
    "ceilings high": lambda: ceilings(3),
    **{f"absent {n}": lambda n=n: absent(n) for n in range(3)},
}


def module(name):
    return importlib.import_module(f"gpulessons.{name}")


def change(home, name, after):
    """Have what a function of this home returns changed."""
    whole = getattr(home, name)

    def changed(*given, **options):
        return after(whole(*given, **options))

    setattr(home, name, changed)


def shaken(samples):
    """The same median, and a middle half that spreads over more than itself."""
    return tuple(each * times for each in samples for times in (0.2, 0.6, 1.0, 1.6, 3.0))
