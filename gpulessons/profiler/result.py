"""A Profile: one step of PyTorch, what ran in it and what its time went into."""

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from gpulessons import units
from gpulessons.plots.picture import Picture
from warplens.tables import Table

from .listing import Listing
from .owners import owner_on_cpu, owner_on_gpu, shortened
from .spans import COMPUTE, GPU, Span
from .split import Part, partition, percents, shares
from .timeline import drawn


class Kernel(NamedTuple):
    """Something that computed, summed over the step."""

    name: str
    owner: str  # the library, as far as the name tells
    calls: int
    seconds: float


@dataclass(frozen=True, repr=False)
class Profile:
    """One typical step. Times in seconds, from the step's start."""

    spans: tuple[Span, ...]
    seconds: float  # of this step, watched
    call: float = 0.0  # what the call of one operator costs while it is watched
    plain: float | None = None  # the median of steps that nobody watched
    recorded: tuple[float, ...] = ()  # all the recorded steps, of which this is the median
    seen: Any = field(default=None, compare=False)  # torch's own profile of this step
    note: str = ""  # what must stand beside the figures

    @property
    def uses_gpu(self) -> bool:
        return any(span.lane.startswith(GPU) for span in self.spans)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The step cut into parts, each of one kind: split() sums them up."""
        return partition(self.spans, self.seconds, self.call)

    def split(self) -> dict[str, float]:
        """{"compute", "launch and Python", "memory", "idle"}: shares of the step's time, sum 1.

        Every instant belongs to exactly one. On a GPU it computes while a kernel runs, moves memory
        while only copies run; while it has nothing to do, the host is launching or in Python, or
        both wait. On a CPU an operator computes, or only allocates and moves; between operators
        there is dispatch, autograd's bookkeeping and Python. The first moments of an operator, as
        long as one on two numbers takes, are its launch.
        `gpulessons/profiler/split.py` has the rules. Being watched lengthens what is launching.
        """
        return shares(self.parts)

    def table(self, n: int = 10) -> Table:
        """The profiler's own table of this step, its first n rows by the time spent in themselves.

        What stands inside an operator counts for that one, so the column of own times sums up to
        the step. The row "the step" is all that was in no operator: mostly Python.
        """
        columns = {"Self GPU": "self_device_time_total"} if self.uses_gpu else {}
        columns |= {"Self CPU": "self_cpu_time_total", "CPU total": "cpu_time_total"}
        averages = self.seen.key_averages() if self.seen else ()
        rows = [one for one in averages if not one.key.startswith("ProfilerStep")]
        rows.sort(key=lambda one: [getattr(one, each) for each in columns.values()], reverse=True)
        head = ("name", "calls", *columns)
        cells = [
            (shortened(one.key), units.count(one.count),
             *(units.seconds(1e-6 * getattr(one, each)) for each in columns.values()))
            for one in rows[:n]
        ]  # fmt: skip
        more = f"; {len(rows) - n} rows more" if len(rows) > n else ""
        return Table(f"torch.profiler's table of one step{more}", head, cells)

    def kernels(self) -> Listing:
        """What computed, by its own time: on a GPU its kernels, on a CPU the innermost operators.

        Whose code it is, its name tells, or it is "unknown". `library_calls(step)` asks the
        libraries themselves.
        """
        sums: dict[tuple[str, str], list[float]] = defaultdict(list)
        gpu = self.uses_gpu
        for span in self.spans:
            if span.kind == COMPUTE and span.lane.startswith(GPU) == gpu:
                owner = owner_on_gpu(span.name) if gpu else owner_on_cpu(span.name)
                sums[span.name, owner].append(span.own)
        found = sorted(
            (Kernel(*key, len(took), sum(took)) for key, took in sums.items()),
            key=lambda one: -one.seconds,
        )
        rows = tuple(
            (shortened(k.name), k.owner, units.count(k.calls), units.seconds(k.seconds))
            for k in found
        )
        where = "the GPU's kernels" if gpu else "operators that compute, on the CPU"
        head = ("name", "whose, by the name", "calls", "time")
        return Listing(f"What computed in one step: {where}", head, rows, values=tuple(found))

    def timeline(self) -> Picture:
        """The step as a picture: time to the right, a row for each depth of each lane."""
        return drawn(self.spans, self.parts, self.seconds, self.title, self.message)

    @property
    def title(self) -> str:
        """One sentence: what the step's time went into, the largest share first."""
        split = sorted(percents(self.split()).items(), key=lambda one: -one[1])
        return f"One step: {', '.join(f'{share}% {kind}' for kind, share in split)}."

    @property
    def message(self) -> str:
        """The title, and the figures that belong beside it."""
        by_itself = f", {units.seconds(self.plain)} by itself" if self.plain else ""
        words = f"{self.title} It took {units.seconds(self.seconds)} while watched{by_itself}."
        if longest := next(iter(self.kernels()), None):
            took = units.seconds(longest.seconds)
            words += f" Longest: {shortened(longest.name)}, {took} ({longest.owner})."
        return f"{words} ({self.note})" if self.note else words

    def save(self, path: str | Path) -> Path:
        """Write torch's trace of the step for ui.perfetto.dev or chrome://tracing (JSON)."""
        self.seen.export_chrome_trace(str(path))
        return Path(path)

    def __repr__(self) -> str:
        return self.message

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.message)}</p>"
