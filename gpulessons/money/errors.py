"""How wrong a predicted time is: judged on machines that were measured.

    by its ceilings   the roof alone. How far from it an op stays is the share that it reaches
    by shares         the roof there × the share reached here: "the same share there"

The second is what somebody does who owns one machine and thinks of buying another. Three trials of
it: this machine by its own ceilings; all its cores, predicted from one core; recordings of other
machines, predicted from here. Each tells the typical factor by which it is wrong, the worst, and
which of the model's assumptions broke there.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from math import nan
from statistics import median

from gpulessons import units
from gpulessons.hardware import buffer_bytes, ceilings, cores, machine, threads
from gpulessons.hardware.budget import capped, note
from gpulessons.hardware.card import STREAMS, last_cache
from gpulessons.hardware.system import caches
from gpulessons.measure.problem import Problem
from gpulessons.measure.rounds import Run
from gpulessons.operation import find
from gpulessons.ops.activations import relu
from gpulessons.ops.attention import attention
from gpulessons.ops.copy import copy
from gpulessons.ops.dense import dense
from gpulessons.ops.lstm_sequence import lstm_sequence
from gpulessons.ops.matmul import matmul
from gpulessons.ops.reduce import dot, total
from gpulessons.ops.softmax import softmax
from gpulessons.ops.transpose import transpose
from gpulessons.progress import progress_bar
from warplens.tables import Table

from .devices import Device, of_machine
from .prediction import Prediction, Work, as_work, of_network

FAR = 1.5  # times too fast or too slow: from here on a reason is due
ABOVE = 1.005  # a share from which on more than the roof was reached
CACHED = ("Above 100%: faster than what the roof was measured with. A cache may have held part of "
          "the data: expect no such share of a machine with another cache.")  # fmt: skip
BRIEF = 1e-4  # seconds: beside this, starting threads or a kernel is something
ON_GPU = ("gpu", "torch_gpu")


@dataclass(frozen=True)
class Measured:
    """A device, and works with the seconds that they took on it."""

    device: Device
    works: Sequence[Work]
    cache: int | None = None  # bytes of the device's last cache

    def find(self, work):
        """The same work here, or None."""
        same = (w for w in self.works if (w.name, w.size) == (work.name, work.size))
        return next(same, None)


def measured(here, timings, kind="live"):
    """[Measured] of a hardware.Machine: what its CPU took for each op, and its GPU if it has one.

    timings: of any versions, sizes and backends; the fastest of an op at a size stands for it.
    """
    found = []
    for device, on_gpu in zip(of_machine(here, kind=kind), (False, True), strict=False):
        own = [t for t in timings if (t.backend in ON_GPU) == on_gpu]
        fastest = {}
        for timing in sorted(own, key=lambda timing: -timing.median):
            fastest[timing.op, timing.size] = as_work(timing)
        cache = (here.gpu or {}).get("l2") if on_gpu else here.last_cache
        if fastest:
            found.append(Measured(device, tuple(fastest.values()), cache))
    return found


@dataclass(frozen=True, repr=False)
class Miss:
    """One prediction beside its measurement."""

    prediction: Prediction
    work: Work  # as measured
    why: str = ""  # the assumption that broke; "" where it held

    @property
    def predicted(self):
        """Seconds, modelled."""
        return self.prediction.seconds

    @property
    def measured(self):
        """Seconds, live or recorded."""
        return self.work.seconds

    @property
    def factor(self):
        """Measured over predicted: above 1 it took longer than was predicted."""
        return self.measured / self.predicted

    @property
    def off(self):
        """The same without its direction, at least 1."""
        return max(self.factor, 1 / self.factor)

    @property
    def was(self):
        """How it was, in words: "2× the predicted time"."""
        times = units.ratio(self.factor)
        return "as predicted" if times == "1×" else f"{times} the predicted time"

    @property
    def reached(self):
        """The share of the roof that was reached, as measured."""
        return self.prediction.share / self.factor

    def __repr__(self):
        return (f"{self.work.label}: predicted {units.seconds(self.predicted)}, measured "
                f"{units.seconds(self.measured)}, {self.was}")  # fmt: skip


@dataclass(frozen=True, repr=False)
class Errors:
    """The misses of one way to predict, on one device."""

    misses: Sequence[Miss]
    known: str  # what it was predicted from
    device: Device | None  # where it was measured
    note: str = ""
    shares: str = "assumed"  # by the model, or "reached": which shares of the roof are shown
    disturbed: bool = False  # something else was running, as the note says: these are no result

    @property
    def median(self):
        """The factor that half of the predictions are wrong by, or more; NaN without any."""
        return median(miss.off for miss in self.misses) if self.misses else nan

    @property
    def reached(self):
        """The share of the roof that half of them reach, or more; NaN without any."""
        return median(miss.reached for miss in self.misses) if self.misses else nan

    @property
    def worst(self):
        """The Miss that is furthest off, or None."""
        return max(self.misses, key=lambda miss: miss.off, default=None)

    def within(self, factor=2):
        """How many are wrong by no more than this factor."""
        return sum(miss.off <= factor for miss in self.misses)

    @property
    def verdict(self):
        """The size of the error in words, with what broke in the worst case."""
        if not self.misses:
            return self.note or "Nothing could be judged: no op was measured on both."
        if self.disturbed:
            return f"No result: {self.note}"
        n, worst = len(self.misses), self.worst
        if self.shares == "reached":  # a roof is a bound: it is not off
            least, most = (pick(m.reached for m in self.misses) for pick in (min, max))
            return (f"They reach {least:.0%} to {most:.0%} of the roof, in the median "
                    f"{self.reached:.0%}.")  # fmt: skip
        one = self.within() == 1
        told = (
            f"{self.within()} of {n} predictions {'is' if one else 'are'} within a factor of 2; "
            f"typically off by {units.ratio(self.median)}, at worst {worst.was}, {worst.work.label}"
        )
        return told + (f" ({worst.why})." if worst.why else ".")

    def table(self):
        reached = self.shares == "reached"
        head = ["", "limit", f"share {self.shares}",
                "at its roof (modelled)" if reached else "predicted (modelled)",
                f"measured ({self.device.kind})", *["it took"] * (not reached)]  # fmt: skip
        shares = [m.reached if reached else m.prediction.share for m in self.misses]
        rows = [
            [m.work.label, m.prediction.limit, f"{share:.0%}", units.seconds(m.predicted),
             units.seconds(m.measured), *[m.was] * (not reached)]
            for m, share in zip(self.misses, shares, strict=True)
        ]  # fmt: skip
        notes = [self.verdict, *[self.note] * bool(self.note and not self.disturbed)]
        if max(shares, default=0) >= ABOVE:
            notes.append(CACHED)
        whys = [m.why for m in self.misses]
        if len(whys) > 1 and whys[0] and len({*whys}) == 1:  # one guess for all of them
            notes.append(f"Where it broke (a guess, the same for each): {whys[0]}.")
        else:
            head.append("where it broke (a guess)")
            rows = [[*row, why] for row, why in zip(rows, whys, strict=True)]
        return Table(f"{self.device.name}, predicted from {self.known}", head, rows, notes)

    def __repr__(self):
        return repr(self.table()) if self.misses else self.verdict

    def _repr_html_(self):
        return self.table()._repr_html_() if self.misses else f"<p>{self.verdict}</p>"


def by_ceilings(there, note=""):
    """Errors of the roof alone: predicted / measured is the share of it that is reached."""
    misses = [
        Miss(p, work, why_off(p.seconds, work, there))
        for work in there.works if (p := Prediction(work, there.device)).seconds
    ]  # fmt: skip
    return Errors(misses, "its own ceilings", there.device, note, shares="reached")


def by_shares(here, there, note=""):
    """Errors of "the same share there": each op that was measured on both, predicted from here."""
    misses = []
    for work in there.works:
        known = here.find(work)
        share = known and share_of_roof(known, here.device)
        if share and (p := Prediction(work, there.device, share)).seconds:
            misses.append(Miss(p, work, why_other(p.seconds, known, here, work, there)))
    return Errors(misses, f"the share reached on {here.device.name}", there.device, note)


def share_of_roof(work, device):
    """Predicted over measured, on the device where it was measured; None where unknown."""
    best = Prediction(work, device).seconds
    return best and best / work.seconds


def why_off(predicted, work, there):
    """Which assumption of the roof broke, in a few words; "" where it held."""
    factor = work.seconds / predicted
    if 1 / FAR <= factor <= FAR:
        return ""
    if factor < 1:
        return caching(work, there) or "faster than what was taken for the roof"
    if work.seconds < BRIEF:
        return f"launch: in {units.seconds(work.seconds)} starting it is part of it"
    if work.threads is None and (there.device.cores or 1) > 1:
        return f"threads: it computes in one, the roof is that of {there.device.cores:g}"
    return "neither limit: new memory, many short calls, latency, or steps that wait"


def caching(work, there):
    """Why bytes moved faster than the memory moves them; "" where no cache explains it."""
    by_bytes = Prediction(work, there.device).limit == "bytes/s"
    if by_bytes and there.cache and work.bytes <= there.cache:
        return (f"caches: its {units.size(work.bytes)} fit the last one, of "
                f"{units.size(there.cache)}")  # fmt: skip
    return ""


def why_other(predicted, known, here, work, there):
    """Which assumption of "the same share there" broke, in a few words; "" where it held."""
    factor = work.seconds / predicted
    if 1 / FAR <= factor <= FAR:
        return ""
    more = (there.device.cores or 1) > (here.device.cores or 1)
    if factor > 1 and more and work.threads is None:
        return f"threads: it computes in one, so {there.device.cores:g} cores are no help"
    if factor > 1 and work.seconds < BRIEF:
        return f"launch: in {units.seconds(work.seconds)} starting it is part of it"
    held, holds = caching(known, here), caching(work, there)
    if bool(held) != bool(holds) and bool(holds) == (factor < 1):
        return holds or f"{held}, on {here.device.name}; here it is too large for one"
    if holds and factor < 1:
        return f"{holds}, which is faster by more than the memory is"
    if known.version != work.version:
        return f"another program: {known.version} there, {work.version} here"
    best = [Prediction(w, each.device).seconds for w, each in ((known, here), (work, there))]
    grew, got = best[0] / best[1], known.seconds / work.seconds
    gained = f"{units.ratio(got)} as fast, under a roof {units.ratio(grew)} as high"
    if factor > 1 and more:
        return ("threads: part of it runs in one, starting them takes long, or others were at "
                f"work on the cores ({gained})")  # fmt: skip
    return f"the share: it is {gained}"


def elsewhere(here, recording):
    """[Errors]: the devices of a Recording, each predicted from here by shares."""
    timings = [t for comparison in recording.comparisons for t in comparison.timings]
    return [by_shares(here, each) for each in measured(recording.machine, timings, "recorded")]


# -- One core is the machine that is known, all of them the one that is not.

# Of each op a version that uses every core, but one that does not: someone will have it.
TRIED = (
    (copy, "Numba, every core", 4_000_000), (relu, "Numba, every core", 4_000_000),
    (transpose, "Numba, tiled, every core", 4_000_000), (total, "NumPy", 4_000_000),
    (dot, "Numba, every core", 4_000_000), (softmax, "Numba, online", 1_000_000),
    (matmul, "NumPy", 1024), (dense, "NumPy", 256), (attention, "NumPy", 256),
    (lstm_sequence, "NumPy, input products batched", 64),
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class Trial:
    """One core and every core of this machine, both measured; or why there is no such trial."""

    one: Measured | None = None
    every: Measured | None = None
    why: str = ""  # there is none
    note: str = ""

    @property
    def by_ceilings(self):
        """Errors of every core, predicted from its own ceilings; empty where there is no trial."""
        return self.judged(by_ceilings(self.every)) if self.every else nothing(self.why)

    @property
    def by_shares(self):
        """Errors of every core, predicted from both ceilings and the share that one core reaches:
        on every core no op was looked at."""
        return self.judged(by_shares(self.one, self.every)) if self.every else nothing(self.why)

    @property
    def disturbed(self):
        """Was something else at work? Then its errors are no result, and the note says why."""
        return bool(self.every and [*crowded(self.one, self.every)])

    def judged(self, errors):
        """With the note; where it is disturbed, without reasons: the note is the reason."""
        misses = [replace(m, why="") for m in errors.misses] if self.disturbed else errors.misses
        return replace(errors, misses=misses, note=self.note, disturbed=self.disturbed)

    def __repr__(self):
        return self.why or f"{self.by_ceilings!r}\n\n{self.by_shares!r}"

    def _repr_html_(self):
        if self.why:
            return f"<p>{self.why}</p>"
        return self.by_ceilings._repr_html_() + self.by_shares._repr_html_()


def nothing(why):
    return Errors((), "nothing", None, why)


def one_core_to_all(tried=TRIED, budget=0.1):
    """The Trial of this machine. budget: seconds for each op on one core, and on all.

    tried: (op, version's name, size). Its ceilings are measured again, on one core and on all.
    """
    counts = 1, cores()
    if counts[1] == 1:
        return Trial(why="Not tried here: this machine has one core, so all of them are that one.")
    rough, found = note(), {n: [] for n in counts}
    with progress_bar("one core and all") as tell:
        for done, (op, version, size) in enumerate(tried):
            with suppress(Exception):  # one that cannot run here has no figure; the others do
                took = in_turn(Problem(op, size), version, counts, capped(budget))
                if all(hasattr(each, "samples") for each in took.values()):  # none failed
                    for n, timing in took.items():
                        found[n].append(as_work(timing))
            if tell:
                tell(done, len(tried), op.name)
        rates = rates_of(counts)
        if below(rates[counts[1]], rates[1]):  # something else ran: it may be over by now
            again = rates_of(counts)
            rates = {n: tuple(map(max, rates[n], again[n])) for n in counts}
        if tell:
            tell(len(tried), len(tried), "")
    cache = last_cache(caches())
    one, every = (
        Measured(Device(f"{n} core{'s' * (n > 1)} of this machine", n, None, *rates[n],
                        kind="live", where="measured just now"), found[n], cache)
        for n in counts
    )  # fmt: skip
    return Trial(one, every, note="; ".join([*[rough] * bool(rough), *crowded(one, every)]))


def crowded(one, every):
    """A doubt, where all cores took longer than one: others were at work on them.

    One op in ten may: on many cores, starting threads can cost a small one more than they bring.
    """
    pairs = [*zip(one.works, every.works, strict=True)]
    slower = sum(more.seconds > 1.2 * alone.seconds for alone, more in pairs)
    lower = below(*((m.device.flop_rate, m.device.bandwidth) for m in (every, one)))
    if slower > len(pairs) / 10 or lower:
        yield (f"{slower} of {len(pairs)} took longer on all cores than on one"
               f"{', and their ceiling was lower' * lower}: something else was running, and these "
               "errors are partly its work. Try again on an idle machine.")  # fmt: skip


def below(all_rates, one_rates):
    """Are the (FLOP/s, bytes/s) of all cores below those of one? One may fill the memory's way."""
    return all_rates[0] < one_rates[0] or all_rates[1] < 0.9 * one_rates[1]


def in_turn(problem, version, counts, budget):
    """{threads: Timing} of a version, checked, with so many threads and no others."""
    first = Run(problem, find(problem.op, version))
    first.begin()
    first.choose_calls(first.sample(keep=False))
    first.helped = first.has_helpers()
    runs = {n: replace(first, threads=n, samples=[], waits=[], spent=0.0) for n in counts}
    for run in runs.values():
        run.choose_calls(min(run.sample(keep=False) for _ in range(2)))
    while any(run.spent < budget or len(run.samples) < 3 for run in runs.values()):
        for run in runs.values():
            run.take(again=False)
    return {n: run.result() for n, run in runs.items()}


def rates_of(counts):
    """{threads: (FLOP/s, bytes/s)}, the ceilings of this CPU with so many threads."""
    tests = ceilings.host(buffer_bytes())
    found = {}
    for n in counts:
        with threads(n):
            streams = (tests[f"host {name}"](n).each_second for name in STREAMS)
            found[n] = tests["host float32"](n).each_second, max(streams)
    return found


# -- The six networks, as large as this machine can take.


def steps_here(seconds=0.1):
    """Measured: a step of each of the six networks on this CPU, shrunk to about so many seconds."""
    from gpulessons.models.six_networks import FULL, fitted, timed  # imports PyTorch

    here = machine()
    cpu = of_machine(here)[0]
    fit = partial(fitted, seconds=seconds, flop_rate=cpu.flop_rate, bandwidth=cpu.bandwidth)
    works = []
    with progress_bar("a step of each network") as tell:
        for done, size in enumerate(map(fit, FULL.values())):
            took = timed(size, seconds=4 * seconds)
            works.append(replace(of_network(size, took.cpu), threads=here.cores))
            if tell:
                tell(done + 1, len(FULL), size.name)
    return Measured(cpu, works, here.last_cache)
