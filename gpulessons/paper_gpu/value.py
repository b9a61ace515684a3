"""Modelled: the time a named GPU would need, with its interval, its bounds and its limiter."""

from dataclasses import dataclass


@dataclass(frozen=True, repr=False)
class Modelled:
    """One launch (or all launches of one call), modelled. All times in seconds."""

    kernel: str
    gpu: str
    seconds: float
    low: float  # the interval: a measured time should lie in it nine times of ten
    high: float
    bounds: dict[str, float]  # seconds each would take alone: "arithmetic", "DRAM", …
    counted_from: str  # "machine code", or "source" where there is no disassembler
    at_least: bool = False  # contended atomics, scattered writes: only the lower end is known

    @property
    def limiter(self) -> str:
        return max(self.bounds, key=self.bounds.__getitem__)

    @property
    def runner_up(self) -> str:
        return sorted(self.bounds, key=self.bounds.__getitem__)[-2]
