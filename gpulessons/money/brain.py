"""The brain's arithmetic, estimated by taking its neurons for small convolutional networks.

    T. Dettmers, "The Brain vs Deep Learning Part I: Computational Complexity — Or Why the
    Singularity Is Nowhere Near", 2015-07-27, timdettmers.com: 1.075 × 10^21 FLOP/s, a lower bound

Nearly all of it is the cerebellum's. At each firing a neuron's inputs, over a few steps of time,
are weighted (a dense layer), pass a filter as large as its tree of dendrites (a convolution) and
one of its body's, over time alone:

    a firing   = inputs·T + inputs·T × branches·dendrites·T + T        multiply-adds
    per second = 2 × firing rate × (granule cells × theirs + Purkinje cells × theirs) × left out

The source's number of every assumption stands in the post's text; that of the firing rate where it
tells of Kurzweil's estimate, for neurons at large it says 50 to 1000. How the post puts them
together stands only in two pictures, which could not be read: the lines above are our reading of
the text, and come to 1.000 × 10^21, 7 % less. Nothing was fitted to close that gap.
"""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from gpulessons import units
from warplens.tables import as_html, as_text
from warplens.units import percent

PUBLISHED = 1.075e21  # FLOP/s: the source's result
OPS = 2  # a multiply-add is two, here as everywhere in the course

DETTMERS = "Dettmers 2015"
ANDERSEN = "Andersen et al., J. Comp. Neurol. 326 (1992), abstract"
FRACTIONATOR = "J. Comp. Neurol. 290 (1989) 527–532, abstract"
IMPACTS = "AI Impacts, “Neuron firing rates in humans”, 2015"


@dataclass(frozen=True)
class Assumption:
    """A number that the source assumes, and between which two it is let vary here."""

    name: str
    low: float
    source: float
    high: float
    unit: str
    why: str  # who says low and high: a publication, or "ours"


ASSUMPTIONS = (
    Assumption("granule_cells", 50e9, 50e9, 101e9, "cells", f"high: {ANDERSEN}"),
    Assumption("granule_inputs", 12, 15, 16, "synapses",
               f"{DETTMERS}: 4 axons with 3 to 4 synapses each"),
    Assumption("granule_branches", 1, 3, 9, "of a dendrite", "ours: three times less, and more"),
    Assumption("granule_dendrites", 3, 4, 5, "dendrites", "ours: one less, and one more"),
    Assumption("purkinje_cells", 15.4e6, 100e6, 100e6, "cells",
               f"low: {FRACTIONATOR}; 30.5 million: {ANDERSEN}"),
    Assumption("purkinje_inputs", 75e3, 100e3, 200e3, "synapses",
               f"low: {DETTMERS}, “too conservative”; high ours, for his “much higher” ones"),
    Assumption("purkinje_branches", 1, 10, 30, "of a dendrite",
               "ours: from none to three times as many"),
    Assumption("purkinje_dendrites", 1, 1000, 1000, "dendrites",
               "ours: from the one that an input comes in by to all of them, as the source has it"),
    Assumption("time_steps", 2.4, 5, 6, "steps", f"{DETTMERS}: 80 to 200 ms at 30 a second"),
    Assumption("firing_rate", 0.1, 200, 1000, "per second",
               f"low: {IMPACTS}; high: {DETTMERS}, 50 to 1000"),
    Assumption("left_out", 1, 1, 2, "times",
               f"{DETTMERS}: signals that run back “may almost double” it; he counts none"),
)  # fmt: skip


@dataclass(frozen=True)
class Opinion:
    """What somebody else says the brain needs, in FLOP/s."""

    who: str
    flops: float
    words: str


OTHERS = (
    Opinion("Adams 2013", 1e15, "R. Adams, “What is the computational capacity of the brain?”, "
            "lips.cs.princeton.edu: 10^9 neurons, 10^3 inputs, 100 Hz, 10 operations each"),
    Opinion("Carlsmith 2020", 1e15, "J. Carlsmith, Open Philanthropy: more likely than not enough; "
            "more than 10^21 needed with less than 10 %"),
)  # fmt: skip


def firing(inputs, branches, dendrites, time_steps):
    """Multiply-adds of one neuron at one firing."""
    seen = inputs * time_steps
    return seen + seen * branches * dendrites * time_steps + time_steps


def operations_per_second(**numbers):
    """FLOP/s of the whole. numbers: of ASSUMPTIONS, by name; the source's where left out.

    Each is a number or an array of them. ValueError for one that is not above 0.
    """
    known = {each.name: each.source for each in ASSUMPTIONS}
    for name, value in numbers.items():
        if name not in known:
            raise ValueError(f"There is no assumption {name!r}; there are {', '.join(known)}.")
        if not np.all(np.asarray(value) > 0):
            raise ValueError(f"{name} is a number above 0, not {value!r}.")
    of = SimpleNamespace(**known | numbers)
    granule = firing(of.granule_inputs, of.granule_branches, of.granule_dendrites, of.time_steps)
    purkinje = firing(of.purkinje_inputs, of.purkinje_branches, of.purkinje_dendrites,
                      of.time_steps)  # fmt: skip
    each_firing = granule * of.granule_cells + purkinje * of.purkinje_cells
    return each_firing * OPS * of.firing_rate * of.left_out


def spread(assumptions=ASSUMPTIONS, estimate=operations_per_second, draws=20_000, seed=0):
    """The Spread of an estimate, each assumption drawn on its own, log-uniform from low to high."""
    rng = np.random.default_rng(seed)
    drawn = {a.name: np.exp(rng.uniform(np.log(a.low), np.log(a.high), draws)) for a in assumptions}
    values = estimate(**drawn)
    whole = np.var(np.log(values))
    shares = {}
    for each in assumptions:
        middle = np.sqrt(each.low * each.high)
        held = np.var(np.log(estimate(**drawn | {each.name: middle})))
        shares[each.name] = max(0.0, float(1 - held / whole))
    return Spread(values, dict(sorted(shares.items(), key=lambda item: -item[1])))


@dataclass(frozen=True, eq=False, repr=False)
class Spread:
    """What an estimate comes to when nobody knows its numbers well.

    values: one for each draw. shares: how much of the variance of their logarithm goes when one
    assumption is held in its middle, largest first; they add up to 1 where the estimate is a
    product, and to about that here. A share tells how wide an assumption was let vary, too.
    """

    values: np.ndarray
    shares: dict[str, float]

    @property
    def low(self):
        return float(np.quantile(self.values, 0.05))

    @property
    def high(self):
        return float(np.quantile(self.values, 0.95))

    @property
    def weakest(self):
        """The assumption that moves the result most."""
        return next(iter(self.shares))

    @property
    def title(self):
        return (f"Nine draws of ten lie between {powers(self.low)} and {powers(self.high)} FLOP/s; "
                f"{in_words(self.weakest)} moves the result most.")  # fmt: skip


def in_words(name):
    """An assumption's name as a sentence has it."""
    return name.replace("_", " ").replace("purkinje", "Purkinje")


SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def powers(number, decimals=1):
    """A few digits and a power of ten: 1.075e21 is "1.1×10²¹"."""
    digits, exponent = f"{number:.{decimals}e}".split("e")
    return f"{digits}×10{str(int(exponent)).translate(SUPERSCRIPT)}"


@dataclass(frozen=True, repr=False)
class Assumed:
    """Assumptions as a table: how much, from where to where, and who says so."""

    assumptions: tuple = ASSUMPTIONS

    title = "What is assumed: the source's number, and the least and the most that are tried here."

    def rows(self):
        ours = operations_per_second()
        return [
            *((in_words(a.name), f"{short(a.source)} {a.unit}, {short(a.low)} to {short(a.high)} "
               f"({a.why})") for a in self.assumptions),
            ("together", f"{powers(ours, 3)} FLOP/s as put together here, "
             f"{percent(ours / PUBLISHED)} of the {powers(PUBLISHED, 3)} published: how the source "
             "does it could not be read"),
        ]  # fmt: skip

    def __repr__(self):
        return as_text(self.title, self.rows())

    def _repr_html_(self):
        return as_html(self.title, self.rows())


def short(number):
    """Many as a power of ten, few as they are."""
    return powers(number) if number >= 1e6 else units.three_digits(number)
