"""profile(): a step of PyTorch, run a few times under torch's own profiler; a typical one is kept.

    from gpulessons import profile
    profile(lambda: train(network, batch)).timeline()

First the step runs a few times in a row, by itself under a clock: right after a recording it would
find the caches full of the profiler. Then it runs in pairs, once while the profiler warms up and
once recorded. So the Profile knows what being watched costs (`seconds` beside `plain`). That is
paid for each operator: little beside a large product, much in a step of tiny sums.
"""

import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median, median_low
from typing import Any
from unittest.mock import patch

from gpulessons.hardware.budget import note, repeated
from gpulessons.progress import progress_bar

from .result import Profile
from .spans import Event, spans

STEP = "the step"  # what torch's own table calls it: Python's time, and all that is no operator
TINY = 100  # sums of two numbers, to learn what the call of an operator costs


def profile(step: Callable[[], Any], *, steps: int = 5, warm_up: int = 3) -> Profile:
    """Run `step()` and say what ran in it: a Profile of its median recorded run.

    step: a callable without arguments, such as one training step. It runs warm_up + 3 × steps
    times in all, and what it raises goes through. Operators of PyTorch on the CPU and, where there
    is one, on the GPU are seen; NumPy's and Numba's work is not, it looks like Python's.
    Under GPULESSONS_BUDGET it is recorded once.

    TypeError when step cannot be called, ValueError when no operator of PyTorch ran.
    """
    if not callable(step) or steps < 1 or warm_up < 0:
        raise TypeError("profile() runs a callable, such as lambda: train(batch), once or more.")
    steps, warm_up = repeated(steps), min(warm_up, repeated(warm_up))
    with progress_bar("profiling") as advance, quiet():
        for _ in range(warm_up):
            to_its_end(step)
        plain = [to_its_end(step) for _ in range(steps)]  # before the profiler first starts
        call, recorded = cost_of_an_operator(), []
        for done in range(steps):
            recorded.append(Watched(step))
            advance(done + 1, steps, "")
    typical = median_low(one.seconds for one in recorded)
    chosen = next(one for one in recorded if one.seconds == typical)
    if all(event.annotation for event in chosen.events):
        raise ValueError(
            "No operator of PyTorch ran in this step, so there is nothing to see: NumPy's and "
            "Numba's work is invisible to torch.profiler. Give it a step that uses torch."
        )
    return Profile(
        spans(chosen.events, chosen.thread), chosen.seconds, call,
        plain=median(plain), recorded=tuple(one.seconds for one in recorded),
        seen=chosen.seen, note=note(),
    )  # fmt: skip


class Watched:
    """One run of the step as the profiler saw it; times in seconds from its start."""

    def __init__(self, step: Callable[[], Any]):
        from torch import profiler

        once = profiler.schedule(wait=0, warmup=1, active=1, repeat=1)
        with profiler.profile(schedule=once) as self.seen:
            to_its_end(step)
            self.seen.step()
            with profiler.record_function(STEP):
                to_its_end(step)
            self.seen.step()
        found = self.seen.events()
        whole = next(one for one in found if one.name == STEP and not on_gpu(one))
        self.thread = whole.device_resource_id
        self.seconds = 1e-6 * (whole.time_range.end - whole.time_range.start)
        self.events = tuple(within(found, whole))


def within(found: Any, whole: Any) -> Iterator[Event]:
    """What the profiler saw between the step's beginning and its end."""
    begin, end = whole.time_range.start, whole.time_range.end
    for one in found:
        annotation = getattr(one, "is_user_annotation", False) or one.name.startswith("Profiler")
        if one is whole or (annotation and (on_gpu(one) or one.name.startswith("ProfilerStep"))):
            continue
        start, stop = max(begin, one.time_range.start), min(end, one.time_range.end)
        if start < stop:
            where = (one.device_resource_id, on_gpu(one), bool(annotation))
            yield Event(one.name, 1e-6 * (start - begin), 1e-6 * (stop - begin), *where)


def on_gpu(one: Any) -> bool:
    return not str(one.device_type).endswith("CPU")


def to_its_end(step: Callable[[], Any]) -> float:
    """Seconds of one step, until the GPU has done all it was given."""
    from torch import cuda

    began = time.perf_counter()
    step()
    if cuda.is_available():
        cuda.synchronize()
    return time.perf_counter() - began


def cost_of_an_operator() -> float:
    """Seconds of an operator's span when there is nothing to compute: one sum of two numbers."""
    import torch

    one = torch.ones(1)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as watching:
        for _ in range(TINY):
            torch.add(one, one)
    spans = [each.time_range for each in watching.events() if each.name == "aten::add"]
    return 1e-6 * median(span.end - span.start for span in spans)


@contextmanager
def quiet() -> Iterator[None]:
    """Kineto, which records for torch, would print two lines each time it starts."""
    level = os.environ.get("KINETO_LOG_LEVEL", "6")
    with patch.dict(os.environ, KINETO_LOG_LEVEL=level), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*[Pp]rofiler")
        yield
