"""One loop, compiled at both widths of a CPU with AVX-512: vectors of 256 bits, and of 512.

Numba asks its environment for the CPU's features once, at its first import. So each width has a
Python of its own, in which LLVM either prefers 256 bits or does not.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from time import perf_counter

from gpulessons import units
from gpulessons.hardware.budget import repeated
from gpulessons.hardware.hot_loop import REGISTER, Loop, hot_loop
from gpulessons.hardware.vectors import WIDE, has_512, settings

CHOICES = {256: "+prefer-256-bit", 512: WIDE}  # LLVM's feature, asked for or not
REGISTERS = {"x": "xmm, 128 bits", "y": "ymm, 256 bits", "z": "zmm, 512 bits"}
SIZE, CALLS = 100_000, 2_000  # numbers in a call; the fastest of so many calls counts
NOISE = 0.15  # two Pythons, one after the other: less says nothing about the loop


@dataclass(frozen=True, repr=False)
class AtWidth:
    """The sum in any order, as it was compiled for one width of vectors."""

    bits: int
    loop: Loop
    seconds: float  # of the fastest call on SIZE numbers

    @property
    def registers(self) -> dict[str, int]:
        """{kind of register: instructions of the loop that name one}; its widest counts."""
        widest = Counter(max(kinds(line)) for line in self.loop.lines if kinds(line))
        return {name: widest[kind] for kind, name in REGISTERS.items() if widest[kind]}

    def __repr__(self):
        named = ", ".join(f"{number} with {name}" for name, number in self.registers.items())
        return (
            f"{self.bits} bits asked for. {self.loop!r}\n"
            f"  Vector instructions in a turn: {named or 'none'}. "
            f"{units.count(SIZE)} numbers: {units.seconds(self.seconds)}."
        )


def both() -> tuple[AtWidth, ...]:
    """The loop at 256 and at 512 bits, compiled and timed now; () where there is no AVX-512."""
    return tuple(compiled(bits) for bits in CHOICES) if has_512() else ()


def compiled(bits: int) -> AtWidth:
    """Compile it for one width in a fresh Python. RuntimeError with its last words if it fails."""
    path = os.pathsep.join(filter(None, sys.path))
    env = {**os.environ, **settings(CHOICES[bits]), "PYTHONPATH": path}
    command = [sys.executable, "-m", __name__]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode:
        words = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
        raise RuntimeError(f"The Python that compiles for {bits} bits failed: {words[0]}")
    found = json.loads(done.stdout)
    loop = Loop(**{**found["loop"], "lines": tuple(found["loop"]["lines"])})
    return AtWidth(bits, loop, found["seconds"])


def verdict(widths: tuple[AtWidth, ...]) -> str:
    """What the two widths make of this loop here, in a sentence or two."""
    if not widths:
        return "This CPU has no AVX-512 that LLVM knows of: the loop above is as wide as it gets."
    narrow, wide = widths
    factor = narrow.seconds / wide.seconds
    said = f"{wide.loop.lanes} numbers an instruction instead of {narrow.loop.lanes}: "
    if wide.loop.lanes == narrow.loop.lanes:
        return "Both times the compiler chose the same width."
    if factor > 1 + NOISE:
        return f"{said}{units.ratio(factor)} as fast."
    if factor < 1 / (1 + NOISE):
        return f"{said}{units.ratio(1 / factor)} as long. Here the full width does not pay."
    return f"{said}the same time within {NOISE:.0%}: no claim."


def kinds(line: str) -> list[str]:
    """The kinds of vector registers that a line names: "x", "y", "z"."""
    return [found[0][1] for found in REGISTER.finditer(line) if found[0].startswith("%")]


def measured() -> dict:
    """In the fresh Python: the loop as compiled there, and the seconds of its fastest call."""
    import numpy as np

    from gpulessons.ops.reduce import total_any_order

    x, out = np.ones(SIZE, np.float32), np.empty(1, np.float32)
    total_any_order(x, out)
    fastest = float("inf")
    for _ in range(repeated(CALLS)):
        start = perf_counter()
        total_any_order(x, out)
        fastest = min(fastest, perf_counter() - start)
    return {"loop": asdict(hot_loop(total_any_order)), "seconds": fastest}


if __name__ == "__main__":
    print(json.dumps(measured()))
