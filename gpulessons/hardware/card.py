"""The card: one machine as plain values, its ceilings measured when the card was made."""

import json
import os
import platform
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from gpulessons import units
from gpulessons.progress import progress_bar
from warplens.tables import Table

from . import kept, nvidia, pools, system
from .budget import note

if TYPE_CHECKING:  # it needs NumPy and Numba: not before they are needed
    from .ceilings import Rate

METHOD = 1  # of measuring the ceilings; with another, what was kept counts no longer
STEADY = 1.1  # a rate that every repetition misses by more was disturbed
SHARE = 0.8  # of its cores' time: who got less was not alone on them
SMALLEST_BUFFER, LARGEST_BUFFER = 2**27, 2**29  # bytes: a host may show a cache that many share
A_BUSY_HOUR = timedelta(hours=1)  # so long, ceilings that something disturbed are not measured anew
SETTINGS = "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_ENABLE_AVX"  # a reader's, for its loops
HOST_CEILINGS = ("host float32", "host float64", "host read", "host copy", "host triad")
INTERRUPTED = "interrupted: what was measured until then is here"
STREAMS = ("read", "copy", "triad")
GPU_CEILINGS = ("gpu float32", "gpu tf32", "gpu float16", "gpu copy", "gpu triad")


@dataclass(frozen=True, repr=False)
class Machine:
    """One machine on one day: plain numbers and strings, None where unknown."""

    cpu: str | None
    cores: int  # logical processors that this process may use
    cores_total: int | None  # logical processors that there are
    simd: str | None
    simd_bits: int | None
    caches: dict[str, int]  # bytes of "L1d", "L2", "L3"; L1d and L2 of one core
    memory: int | None  # bytes that this process may use
    gpu: dict | None  # CUDA device 0; None where there is none
    gpus: int
    system: str
    python: str
    libraries: dict[str, str]
    date: str
    commit: str | None
    ceilings: dict[str, float]  # bytes/s for read, copy and triad, FLOP/s for the rest
    ceiling_threads: dict[str, int]  # the thread count that reached each host ceiling
    note: str = ""  # how its ceilings were measured, where that was not with care
    ceilings_date: str = ""  # when they were measured; "" in earlier recordings
    disturbed: str = ""  # the ceilings that something disturbed while they were measured

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C came while its ceilings were measured: some are missing then."""
        return self.note.endswith(INTERRUPTED)

    @property
    def name(self) -> str:
        """A short name, for labels: the GPU if there is one, and the CPU."""
        cpu = f"{self.cpu or 'a CPU'}, {self.cores} core{'s' * (self.cores > 1)}"
        return f"{self.gpu['name']}, {cpu}" if self.gpu else cpu

    @property
    def last_cache(self) -> int:
        """Bytes of the last cache before the memory; 64 MiB where no cache is known."""
        return last_cache(self.caches)

    def ceiling(self, backend: str, what: str) -> float | None:
        """The ceiling of a backend ("host", "torch_cpu", "gpu", "torch_gpu"), or None."""
        place = {"torch_cpu": "host", "torch_gpu": "gpu"}.get(backend, backend)
        return self.ceilings.get(f"{place} {what}")

    def bandwidth(self, backend: str) -> float | None:
        """Bytes/s: the best that a backend's memory has shown, by reads, copies or triads."""
        return max(filter(None, (self.ceiling(backend, each) for each in STREAMS)), default=None)

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> "Machine":
        """The machine that `to_json` wrote; ValueError for any other text."""
        try:
            return cls(**json.loads(text))  # later fields have defaults
        except (TypeError, ValueError) as trouble:
            raise ValueError(
                "This is not a machine of this version of gpulessons; "
                "record it again, or upgrade gpulessons if a newer one recorded it."
            ) from trouble

    def table(self) -> Table:
        return Table("This machine", (), self.rows())

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    def rows(self) -> list[tuple[str, str]]:
        simd = f"{self.simd}, {units.count(self.simd_bits)} bits" if self.simd else "unknown"
        caches = ", ".join(f"{level} {units.size(nbytes)}" for level, nbytes in self.caches.items())
        libraries = ", ".join(f"{name} {version}" for name, version in self.libraries.items())
        ceilings = HOST_CEILINGS + (GPU_CEILINGS if self.gpu else ())
        return [
            ("CPU", self.cpu or "unknown"),
            ("cores", f"{self.cores} of {units.count(self.cores_total)} logical"),
            ("SIMD", simd),
            ("caches", caches or "unknown"),
            ("memory", units.size(self.memory)),
            ("GPU", self.gpu_text()),
            *((f"{name}, measured", self.ceiling_text(name)) for name in ceilings),
            *([("ceilings", when)] if (when := self.measured_when()) else []),
            ("system", f"{self.system}, Python {self.python}"),
            ("libraries", libraries or "unknown"),
            ("date", self.date),
            ("commit", self.commit or "unknown"),
        ]

    def gpu_text(self) -> str:
        if not self.gpu:
            return "none that CUDA can use"
        known = {key: value or "unknown" for key, value in self.gpu.items()}
        return (
            f"{known['name']}, {units.size(self.gpu['memory'])}, "
            f"compute capability {known['compute_capability']}, "
            f"{known['multiprocessors']} multiprocessors, driver {known['driver']}"
            + (f" (one of {self.gpus})" if self.gpus > 1 else "")
        )

    def measured_when(self) -> str:
        """When the ceilings were measured, and what must be said about how."""
        when = self.ceilings_date.replace("T", " ")[:16]
        kept_since = self.ceilings_date != self.date
        how = ", and kept; machine(again=True) measures again" if kept_since else ", with this card"
        return "; ".join(filter(None, [f"measured {when}{how}" * bool(when), self.note]))

    def ceiling_text(self, name: str) -> str:
        unit = "B/s" if name.endswith(STREAMS) else "FLOP/s"
        threads = self.ceiling_threads.get(name)
        with_threads = f", {threads} thread{'s' * (threads > 1)}" if threads else ""
        return units.rate(self.ceilings.get(name), unit) + with_threads


this_machine: list[Machine] = []  # the card of this process, once it was asked for


def machine(again: bool = False) -> Machine:
    """This machine and its ceilings: measured once, some seconds long, and kept in a file.

    again: measure them again now, for instance when a busy machine has calmed down. The card says
    when they were measured. GPULESSONS_CEILINGS=FILE in the environment names another file.
    """
    if again or not this_machine or this_machine[0].interrupted:
        this_machine[:] = [made(again)]
    return this_machine[0]


def made(again: bool) -> Machine:
    note()  # before anything is measured: a limit that is none is refused
    now = datetime.now().astimezone().isoformat(timespec="seconds")
    simd, simd_bits = system.simd()
    return Machine(
        cpu=system.cpu_name(),
        cores=system.cores(),
        cores_total=os.cpu_count(),
        simd=simd,
        simd_bits=simd_bits,
        caches=system.caches(),
        memory=system.memory(),
        gpu=nvidia.gpu(),
        gpus=nvidia.gpu_count(),
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        python=platform.python_version(),
        libraries=system.libraries(),
        date=now,
        commit=system.commit(),
        **kept_or_measured(again, now),
    )


# -- The ceilings, as fields of the card.


def kept_or_measured(again: bool, now: str) -> dict[str, Any]:
    """The ceilings with how and when they were measured: stored ones, or new ones that are stored.

    What something disturbed is good for an hour, and takes no better one's place; what was measured
    roughly or in part is not stored.
    """
    caches = system.caches()
    of = measured_of(caches)
    known = kept.find(of)
    rough, short = note(), too_small(beyond(caches, system.free_memory()), caches)
    if known and not again and lasts(known, short, now):
        return {**known["found"], "ceilings_date": known["when"]}
    rates, threads, disturbed, interrupted = measured_ceilings(buffer_bytes())
    names = ", ".join(disturbed)
    busy = f"kept for an hour only, because something disturbed {names}" if names else ""
    notes = [rough] if rough else [short, busy, INTERRUPTED * interrupted]
    found: dict[str, Any] = {
        "ceilings": rates, "ceiling_threads": threads, "disturbed": names,
        "note": "; ".join(filter(None, notes)),
    }  # fmt: skip
    better = known and is_calm(known["found"], short) and not is_calm(found, short)
    if not (rough or better) and is_whole(rates):
        kept.keep(of, found)
    return {**found, "ceilings_date": now}


def is_calm(found: dict[str, Any], short: str) -> bool:
    """Whether nothing disturbed it, and it had all the memory that there is now."""
    return not found["disturbed"] and found["note"] in ("", short)


def lasts(known: kept.Entry, short: str, now: str) -> bool:
    """Whether it is good still: an hour long, where something disturbed it."""
    age = datetime.fromisoformat(now) - datetime.fromisoformat(known["when"])
    return is_calm(known["found"], short) or bool(known["found"]["disturbed"] and age < A_BUSY_HOUR)


def measured_of(caches: dict[str, int]) -> dict[str, Any]:
    """All that makes other ceilings: the processor and its share, the GPU, who computes.

    Nothing here may depend on what a process has imported so far: all pages have the same.
    """
    libraries = system.libraries()
    return {
        "cpu": [system.cpu_name(), system.proc_cpuinfo().get("model")],
        "cores": [system.cores(), os.cpu_count()],
        "caches": caches,
        "gpu": nvidia.gpu(),
        "libraries": {name: libraries.get(name) for name in ("numpy", "numba", "torch")},
        "settings": {name: os.environ[name] for name in SETTINGS if name in os.environ},
        "method": METHOD,
    }


def is_whole(rates: dict[str, float]) -> bool:
    needed = {*HOST_CEILINGS, *(["gpu copy"] if nvidia.gpu_count() else [])}
    return needed <= set(rates)


def too_small(nbytes: int, caches: dict[str, int]) -> str:
    """What must be said where the memory leaves no room for arrays far beyond the last cache."""
    if nbytes >= 4 * last_cache(caches):
        return ""
    return f"memory was rated by {units.size(nbytes)}, less than four times the last cache"


def last_cache(caches: dict[str, int]) -> int:
    return max(caches.values(), default=2**26)


def buffer_bytes() -> int:
    """Bytes to stream where no cache is to help: four times the last one, from 128 to 512 MiB; an
    eighth of what is free where that is less. Where it may take no time, 128 MiB at most.
    """
    nbytes = beyond(system.caches(), system.free_memory())
    return min(nbytes, SMALLEST_BUFFER) if note() else nbytes


def beyond(caches: dict[str, int], free: float) -> int:
    return int(min(max(4 * last_cache(caches), SMALLEST_BUFFER), LARGEST_BUFFER, free / 8))


def measured_ceilings(nbytes: int) -> tuple[dict[str, float], dict[str, int], list[str], bool]:
    """Name -> rate, and name -> the thread count that reached it, for the CPU and any GPU; the
    names of those that something disturbed; whether Ctrl-C came, which keeps what there is.
    """
    from . import ceilings  # NumPy and Numba: not before they are needed

    rates: dict[str, float] = {}
    winners: dict[str, int] = {}
    unsteady: list[str] = []
    with progress_bar("measuring what this machine can do") as advance:
        try:
            measures = attempt(ceilings.host, nbytes) or {}
            for done, (name, measure) in enumerate(measures.items()):
                advance(done, len(measures), name)
                best = attempt(best_of_threads, measure)
                if best:
                    rates[name], winners[name], steady = best
                    unsteady += [] if steady else [name]
            if nvidia.gpu_count():
                rates |= attempt(ceilings.gpu) or {}
        except KeyboardInterrupt:
            return rates, winners, unsteady, True
    return rates, winners, unsteady, False


def best_of_threads(measure: "Callable[[int], Rate]") -> tuple[float, int, bool]:
    """The best rate of one thread and of all, how many threads that was, and whether nothing
    disturbed it: the threads had their cores to themselves, and the rate came again within a tenth,
    in up to three repetitions.
    """
    results, alone = [], True
    for n in pools.thread_choices():
        with pools.threads(n):
            rate, cores = measure(n)
        results.append((rate, n))
        alone &= cores > SHARE * n
    _, winner = max(results)
    rates = [rate for rate, n in results if n == winner]
    with pools.threads(winner):
        while not note() and len(rates) < 4 and not came_again(rates):
            rates.append(measure(winner)[0])
    return max(rates), winner, alone and came_again(rates)


def came_again(rates: list[float]) -> bool:
    best, *others = sorted(rates, reverse=True)
    return bool(others) and best <= STEADY * others[0]


def attempt(measure: Callable[..., Any], *arguments: Any) -> Any:
    """A card without a ceiling is still a card, but the reader is told why."""
    try:
        return measure(*arguments)
    except Exception as trouble:
        warnings.warn(f"A ceiling could not be measured: {trouble!r}", stacklevel=2)
        return None
