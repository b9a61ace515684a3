"""What may stand on a roofline, and what is to be said of it: large sizes, steady times from
emptied caches, and each op's share of its roof in words.
"""

from gpulessons.hardware.budget import note
from gpulessons.hardware.system import free_memory
from gpulessons.measure.results import Timing
from gpulessons.plots.roofline import device, is_bound_by_bytes, roof, share

MOST, IN_NO_TIME = 2**27, 2**24  # bytes; the second where measuring has next to no time
LOW = 0.5  # of the roof
TRAFFIC = {"copy": "copy", "total": "read"}


def traffic(op: str) -> str:
    """The ceiling that an op's loads and stores are like: of all that read and write, a triad."""
    return TRAFFIC.get(op, "triad")


def cold_size(op) -> int:
    """The size at which an op moves cold_bytes(); its bytes must grow with its size."""
    each = op.bytes(*op.inputs(1_000)) / 1_000
    return max(1_000, int(cold_bytes() / each))


def cold_bytes() -> int:
    """128 MiB, less where memory or time is short: caches that hold more are emptied before."""
    return int(min(IN_NO_TIME if note() else MOST, free_memory() / 16))


def sorted_out(runs, machine) -> tuple[list[Timing], list[str]]:
    """(the best timing of each run, on the CPU and on a GPU; why not what was left out): noisy, in
    caches that were not emptied, absent, or faster than memory can be for such loads and stores.
    """
    kept, left = [], []
    for run in runs:
        left += [f"{run.op}, {each.version} ({each.why})" for each in run.absent]
        for timing in filter(None, (run.best("host"), run.best("gpu"))):
            why = timing.noise or ("" if timing.cold else "its caches were not emptied")
            why = why or timing.doubt(roof_of(timing, machine)[1])
            if why:
                left.append(f"{timing.op} ({why})")
            else:
                kept.append(timing)
    return kept, left


def told(timings, machine) -> str:
    """Each op's share of its roof, highest first, and which stay below half of it."""
    lines = []
    for place in ("CPU", "GPU"):
        here = [(t, roof_of(t, machine)) for t in timings if device(t.backend) == place]
        ranked = sorted(((share(t, *roof), t.op, traffic(t.op) if is_bound_by_bytes(t, *roof)
                          else "peak") for t, roof in here), reverse=True)  # fmt: skip
        if ranked:
            low = [name for part, name, _ in ranked if part < LOW]
            each = (f"{name} {part:.0%} ({kind})" for part, name, kind in ranked)
            lines += [f"{place}: {', '.join(each)}",
                      f"Below {LOW:.0%} of the roof: {', '.join(low) or 'none'}."]
    return "\n".join(lines) or "Every time here is noisy: close other programs, and measure again."


def roof_of(timing, machine):
    """(FLOP/s, bytes/s) that are there for an op's kind of traffic."""
    return roof(machine, timing.backend, traffic(timing.op))
