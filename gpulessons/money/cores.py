"""How many cores is a core? The argument of the K80's 4,992, worked through.

What a box calls a core is not one thing. A core of a CPU fetches instructions of its own and
computes on a vector; NVIDIA counts every lane that can multiply and add:

    rate of a K80's core = 8.74 × 10^12 FLOP/s / 4,992       = 2 FLOPs at a clock of 875 MHz
    a core here is worth = its measured rate / the rate of a K80's core

The rate here is that of one thread in the library's product, alone: its best, once that came again.
All at once, cores may clock lower, and they share what feeds them: 4,992 times that rate is what so
many would do at best.
"""

from dataclasses import dataclass

import numpy as np

from gpulessons import units
from gpulessons.hardware import Machine, ceilings, machine, threads
from gpulessons.hardware.budget import note
from gpulessons.hardware.card import came_again
from warplens.model.devices import sheet
from warplens.tables import as_html, as_text

K80 = sheet("K80 board")  # two GPUs, with boost
K80_CORES, K80_FLOPS, K80_BANDWIDTH = K80.lanes, K80.peaks["float32"], K80.memory
K80_MULTIPROCESSORS = 26  # 13 in each of its two GPUs, of 192 cores
SOURCE = "NVIDIA, Tesla K80 GPU Accelerator, board specification BD-07317-001, 2015"
NUMBER_BITS = 32


@dataclass(frozen=True, repr=False)
class Cores:
    """A CPU beside a K80."""

    cores: int  # logical processors, as the system counts them
    core_flops: float  # FLOP/s of one thread
    flops: float  # of all of them
    bandwidth: float  # bytes/s, copied by all of them
    simd_bits: int | None = None  # of a vector register

    @property
    def k80_core_flops(self):
        return K80_FLOPS / K80_CORES

    @property
    def worth(self):
        """How many of the K80's cores compute as fast as one of these."""
        return self.core_flops / self.k80_core_flops

    @property
    def lanes(self):
        """Numbers in a vector register of one core; None where nobody knows."""
        return self.simd_bits // NUMBER_BITS if self.simd_bits else None

    @property
    def doubt(self):
        """Why the rate of one core and that of all cannot both be right; "" where they can."""
        if 0.8 * self.flops / self.cores <= self.core_flops <= 1.25 * self.flops:
            return ""
        return ("one core alone and all of them do not fit together: one of the two was measured "
                "while others were at work; machine(again=True) measures again")  # fmt: skip

    @property
    def message(self):
        if self.doubt:
            return f"No result: {self.doubt}."
        like = f"One core here computes like {units.three_digits(self.worth)} of a K80's"
        many = f"{K80_CORES:,} of them would be that many times as fast as the K80"
        return f"{like}: {many}, at best."

    def ratios(self):
        """{what: the K80 over this machine}, by what one counts."""
        found = {
            "cores, as on the box": K80_CORES / self.cores,
            "multiprocessors over cores": K80_MULTIPROCESSORS / self.cores,
        }
        if self.lanes:
            lanes = K80_CORES / (self.cores * self.lanes)
            found |= {"lanes, of one unit a core": lanes, "lanes, of two units a core": lanes / 2}
        return found | {"FLOP/s": K80_FLOPS / self.flops, "bytes/s": K80_BANDWIDTH / self.bandwidth}

    def rows(self):
        many = units.rate(K80_CORES * self.core_flops, "FLOP/s")
        return [
            ("a core of the K80, published", f"{units.rate(self.k80_core_flops, 'FLOP/s')}, "
             f"{units.rate(K80_BANDWIDTH / K80_CORES, 'B/s')}"),
            ("a core here, measured", f"{units.rate(self.core_flops, 'FLOP/s')} alone, "
             f"{units.rate(self.bandwidth / self.cores, 'B/s')} when all copy"),
            (f"{K80_CORES:,} cores like it, at best", many), ("published", SOURCE),
        ]  # fmt: skip

    def __repr__(self):
        return as_text(self.message, self.rows())

    def _repr_html_(self):
        return as_html(self.message, self.rows())


def beside_the_k80(card=None):
    """The Cores of this machine, one of them measured now. card: a Machine; else this one's.

    RuntimeError where a ceiling that is needed could not be measured.
    """
    card: Machine = card or machine()
    flops, bandwidth = (card.ceiling("host", what) for what in ("float32", "copy"))
    if not flops or not bandwidth:
        raise RuntimeError(
            "This machine's ceilings could not be measured: see gpulessons.machine()."
        )
    return Cores(card.cores, one_core(), flops, bandwidth, card.simd_bits)


def one_core():
    """FLOP/s of the library's float32 product on one thread: the best of up to four measurements,
    fewer once the best came again within a tenth."""
    with threads(1):
        rates = [ceilings.product(np.float32).each_second]
        while not note() and len(rates) < 4 and not came_again(rates):
            rates.append(ceilings.product(np.float32).each_second)
    return max(rates)
