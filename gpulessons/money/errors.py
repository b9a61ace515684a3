"""How wrong a predicted time is: judged on this machine, which was measured.

    by its ceilings   the roof alone. How far from it an op stays is the share that it reaches
    by shares         the roof there × the share reached here: "the same share there"

The second is what somebody does who owns one machine and thinks of buying another. Two trials of
it: this machine by its own ceilings; and all its cores, predicted from one core. Each tells the
typical factor by which it is wrong, the worst, and a guess at what the model left out there.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from statistics import median

from gpulessons import units
from gpulessons.hardware import buffer_bytes, ceilings, cores, machine, threads
from gpulessons.hardware.budget import note
from gpulessons.hardware.card import STREAMS, last_cache
from gpulessons.hardware.system import caches
from gpulessons.measure.turns import alternate
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
from warplens.units import percent

from .devices import Device, of_machine
from .prediction import Prediction, Work, of_network

FAR = 1.5  # times too fast or too slow: from here on a reason is wanted
BRIEF = 1e-4  # seconds: beside this, starting threads or a kernel is something


@dataclass(frozen=True)
class Measured:
    """A device, and works with the seconds that they took on it."""

    device: Device
    works: Sequence[Work]
    cache: int | None = None  # bytes of the device's last cache


@dataclass(frozen=True, repr=False)
class Miss:
    """One prediction beside its measurement."""

    prediction: Prediction
    work: Work  # as measured
    why: str = ""  # a guess at the assumption that broke; "" where it held

    @property
    def predicted(self):
        """Seconds, modelled."""
        return self.prediction.seconds

    @property
    def measured(self):
        """Seconds, live."""
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
        """The factor as text: "2× the predicted time"."""
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
        """The factor that half of the predictions are wrong by, or more."""
        return median(miss.off for miss in self.misses)

    @property
    def reached(self):
        """The share of the roof that half of them reach, or more."""
        return median(miss.reached for miss in self.misses)

    @property
    def worst(self):
        """The Miss that is furthest off, or None."""
        return max(self.misses, key=lambda miss: miss.off, default=None)

    @property
    def verdict(self):
        """The size of the error as text, with what broke in the worst case."""
        if not self.misses:
            return self.note or "Nothing could be judged: no op was measured on both."
        if self.disturbed:
            return f"No result: {self.note}"
        if self.shares == "reached":  # a roof is a bound: it is not off
            shares = [miss.reached for miss in self.misses]
            return (f"They reach {percent(min(shares))} to {percent(max(shares))} of the roof, in "
                    f"the median {percent(self.reached)}.")  # fmt: skip
        worst = self.worst
        text = (f"{len(self.misses)} predictions: typically off by {units.ratio(self.median)}, at "
                f"worst {worst.was}, {worst.work.label}")  # fmt: skip
        return text + (f" ({worst.why})." if worst.why else ".")

    def table(self):
        reached = self.shares == "reached"
        head = ["", "limit", f"share {self.shares}",
                "at its roof (modelled)" if reached else "predicted (modelled)",
                f"measured ({self.device.kind})", "it took",
                "where it broke (a guess)"]  # fmt: skip
        rows = [
            [miss.work.label, miss.prediction.limit,
             percent(miss.reached if reached else miss.prediction.share),
             units.seconds(miss.predicted), units.seconds(miss.measured), miss.was, miss.why]
            for miss in self.misses
        ]  # fmt: skip
        notes = [self.verdict, *[self.note] * bool(self.note and not self.disturbed)]
        return Table(f"{self.device.name}, predicted from {self.known}", head, rows, notes)

    def __repr__(self):
        return repr(self.table()) if self.misses else self.verdict

    def _repr_html_(self):
        return self.table()._repr_html_() if self.misses else f"<p>{self.verdict}</p>"


def by_ceilings(there):
    """Errors of the roof alone: predicted / measured is the share of it that is reached."""
    predictions = [(Prediction(work, there.device), work) for work in there.works]
    misses = [Miss(p, work, guess(p, work, there.cache)) for p, work in predictions if p.seconds]
    return Errors(misses, "its own ceilings", there.device, shares="reached")


def by_shares(here, there):
    """Errors of "the same share there": each work measured on both, predicted from here."""
    known = {(work.name, work.size): work for work in here.works}
    misses = []
    for work in there.works:
        one = known.get((work.name, work.size))
        roof = one and Prediction(one, here.device).seconds
        if roof and (p := Prediction(work, there.device, roof / one.seconds)).seconds:
            misses.append(Miss(p, work, guess(p, work, there.cache, one)))
    return Errors(misses, f"the share reached on {here.device.name}", there.device)


def guess(prediction, work, cache, alone=None):
    """Which assumption broke; "" where it held. alone: the same work on the known device."""
    factor = work.seconds / prediction.seconds
    if 1 / FAR <= factor <= FAR:
        return ""
    if factor < 1 and cache and prediction.limit == "bytes/s" and work.bytes <= cache:
        return (f"caches: its {units.size(work.bytes)} fit the last one, of "
                f"{units.size(cache)}")  # fmt: skip
    if factor < 1:
        return "faster than what was taken for the roof"
    if work.seconds < BRIEF:
        return f"launch: in {units.seconds(work.seconds)} starting it is part of it"
    if alone and work.seconds > 0.8 * alone.seconds:
        return "threads: most of it runs in one, so more cores are no help"
    return "neither limit: new memory, many short calls, latency, or steps that wait"


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
    disturbed: bool = False  # others were at work on the cores, as the note says

    @property
    def by_ceilings(self):
        """Errors of every core, predicted from its own ceilings; empty where there is no trial."""
        return self.judged(by_ceilings(self.every)) if self.every else nothing(self.why)

    @property
    def by_shares(self):
        """Errors of every core, predicted from both ceilings and the share that one core reaches:
        empty where there is no trial."""
        return self.judged(by_shares(self.one, self.every)) if self.every else nothing(self.why)

    def judged(self, errors):
        """With the trial's note; a disturbed one guesses at nothing."""
        misses = [replace(m, why="" if self.disturbed else m.why) for m in errors.misses]
        return replace(errors, misses=misses, note=self.note, disturbed=self.disturbed)


def nothing(why):
    return Errors((), "nothing", None, why)


def one_core_to_all(tried=TRIED, budget=0.1):
    """The Trial of this machine. budget: seconds for each op on one core, and on all.

    tried: (op, version's name, size). Its ceilings are measured again, on one core and on all.
    """
    counts = 1, cores()
    if counts[1] == 1:
        return Trial(why="Not tried here: this machine has one core, so all of them are that one.")
    found = {n: [] for n in counts}
    with progress_bar("one core and all") as progress:
        for done, (op, version, size) in enumerate(tried, 1):
            with suppress(Exception):  # one that cannot run here has no figure; the others do
                for n, work in in_turn(op, version, size, counts, budget).items():
                    found[n].append(work)
            if progress:
                progress(done, len(tried), op.name)
    rates, cache = rates_of(counts), last_cache(caches())
    one, every = (
        Measured(Device(f"{n} core{'s' * (n > 1)} of this machine", n, None, *rates[n],
                        kind="live", where="measured just now"), found[n], cache)
        for n in counts
    )  # fmt: skip
    others = crowded(one, every)
    return Trial(one, every, note="; ".join(filter(None, [note(), others])), disturbed=bool(others))


def in_turn(op, version, size, counts, seconds):
    """{threads: the Work} of a version of an op that computes with so many threads, in turn."""
    arrays, chosen = op.inputs(size), find(op, version)
    call = chosen.bound(map(chosen.backend.put, arrays), chosen.empty(*arrays))
    spreads = dict(alternate({n: partial(with_threads, n, call) for n in counts}, seconds))
    asked = op.flops(*arrays), op.bytes(*arrays), size, chosen.name
    return {n: Work(op.name, *asked, spread.median) for n, spread in spreads.items()}


def with_threads(count, call):
    with threads(count):
        call()


def rates_of(counts):
    """{threads: (FLOP/s, bytes/s)}, the ceilings of this CPU with so many threads."""
    tests = ceilings.host(buffer_bytes())
    found = {}
    for n in counts:
        with threads(n):
            streams = (tests[f"host {name}"](n).each_second for name in STREAMS)
            found[n] = tests["host float32"](n).each_second, max(streams)
    return found


def crowded(one, every):
    """A warning where all cores were slower than one, since others were at work on them; or "".

    One op in ten may be: on many cores, starting threads can cost a small one more than they bring.
    """
    pairs = [*zip(one.works, every.works, strict=True)]
    slower = sum(more.seconds > 1.2 * alone.seconds for alone, more in pairs)
    lower = (every.device.flop_rate < one.device.flop_rate
             or every.device.bandwidth < 0.9 * one.device.bandwidth)  # fmt: skip
    if slower <= len(pairs) / 10 and not lower:
        return ""
    return (f"{slower} of {len(pairs)} took longer on all cores than on one"
            f"{', and their ceiling was lower' * lower}: something else was running, and these "
            "errors are partly its work. Try again on an idle machine.")  # fmt: skip


# -- The six networks, as large as this machine can take.


def steps_here(seconds=0.1):
    """Measured: a step of each of the six networks on this CPU, shrunk to about so many seconds."""
    from gpulessons.models.six_networks import FULL, fitted, timed  # imports PyTorch

    here = machine()
    cpu = of_machine(here)[0]
    fit = partial(fitted, seconds=seconds, flop_rate=cpu.flop_rate, bandwidth=cpu.bandwidth)
    works = []
    with progress_bar("a step of each network") as progress:
        for done, size in enumerate(map(fit, FULL.values()), 1):
            works.append(of_network(size, timed(size, seconds=4 * seconds).cpu))
            if progress:
                progress(done, len(FULL), size.name)
    return Measured(cpu, works, here.last_cache)
