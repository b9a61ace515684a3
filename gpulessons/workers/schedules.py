"""A pipeline's schedule: who works on which micro-batch when, and how long everybody waits.

The network is cut into stages, one on each worker, and a minibatch into micro-batches. Each of them
goes forward (F) through the stages and backward (B) again. A stage can do one thing at a time.

    GPipe   every forward, then every backward                                    Huang et al. 2019
    1F1B    a few forwards to fill the pipe, then one forward, one backward, in turn, and the pipe
            runs empty after each minibatch: the same waiting, but a stage never keeps more
            micro-batches than there are stages           PipeDream-Flush, Narayanan et al. 2021

While the pipe fills and drains somebody waits: of S stages and M micro-batches the share lost, the
bubble, is (S − 1) / (M + S − 1), whatever the times of F and B, if they are alike on all stages.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

FORWARD, BACKWARD = "F", "B"

Order = list[tuple[str, int]]  # (kind, micro-batch) of one stage, one after the other
Schedule = Callable[[int, int, int], Order]  # of (stage, stages, micro-batches)
Step = tuple[int, str, int]  # (stage, kind, micro-batch)


@dataclass(frozen=True)
class Task:
    """One stage's work on one micro-batch, and when it was done (seconds, or any unit of time)."""

    stage: int
    kind: str  # FORWARD or BACKWARD
    micro_batch: int  # its number
    start: float
    stop: float


def gpipe(stage: int, stages: int, batches: int) -> Order:
    """[(kind, micro-batch)] for one stage, in order."""
    return [(FORWARD, m) for m in range(batches)] + [(BACKWARD, m) for m in range(batches)]


def one_forward_one_backward(stage: int, stages: int, batches: int) -> Order:
    """The same, a backward as soon as there is one."""
    ahead = min(stages - stage, batches)  # what is under way behind this stage, itself included
    order = [(FORWARD, m) for m in range(ahead)]
    for m in range(batches):
        order.append((BACKWARD, m))
        if ahead + m < batches:
            order.append((FORWARD, ahead + m))
    return order


SCHEDULES: dict[str, Schedule] = {"GPipe": gpipe, "1F1B": one_forward_one_backward}


def named(schedule: str) -> Schedule:
    """The schedule of this name; ValueError lists the names."""
    if schedule not in SCHEDULES:
        raise ValueError(f"A schedule is {' or '.join(SCHEDULES)}, not {schedule!r}.")
    return SCHEDULES[schedule]


def bubble(stages: int, batches: int) -> float:
    """The share of the time that a stage waits, by the formula."""
    return (stages - 1) / (batches + stages - 1)


def simulate(
    schedule: str | Schedule, stages: int, batches: int, forward: float = 1.0,
    backward: float = 2.0, pace: Sequence[float] | None = None,
) -> list[Task]:  # fmt: skip
    """Every Task of the schedule: each begins as soon as its stage and what it needs are ready.

    schedule: a name, or a function like those above. pace: how many times as long each stage takes;
    all alike by default. Raises ValueError where the orders make the stages wait in a circle.
    """
    orders = schedule if callable(schedule) else named(schedule)
    left = [list(orders(stage, stages, batches)) for stage in range(stages)]
    pace = pace or [1] * stages
    free, tasks = [0.0] * stages, list[Task]()
    done: dict[Step | None, float] = {None: 0.0}  # when
    while any(left):
        far = len(tasks)
        for stage, order in enumerate(left):
            while order and before(stage, stages, *order[0]) in done:
                kind, m = order.pop(0)
                start = max(free[stage], done[before(stage, stages, kind, m)])
                stop = start + (forward if kind == FORWARD else backward) * pace[stage]
                free[stage] = done[stage, kind, m] = stop
                tasks.append(Task(stage, kind, m, start, stop))
        if len(tasks) == far:
            raise ValueError(stuck(left))
    return tasks


def stuck(left: list[Order]) -> str:
    """Who waits for what, when nobody can go on."""
    waits = [(stage, *order[0]) for stage, order in enumerate(left) if order]
    words = "; ".join(
        f"stage {stage} wants {kind}{m} and needs {needed[1]}{needed[2]} of stage {needed[0]}"
        for stage, kind, m in waits if (needed := before(stage, len(left), kind, m))
    )  # fmt: skip
    return f"The stages wait for each other, and nobody can go on: {words}."


def before(stage: int, stages: int, kind: str, m: int) -> Step | None:
    """What must be done first: (stage, kind, micro-batch), or None for the very first stage."""
    if kind == FORWARD:
        return (stage - 1, FORWARD, m) if stage else None
    return (stage + 1, BACKWARD, m) if stage + 1 < stages else (stage, FORWARD, m)


def waiting(tasks: Sequence[Task]) -> float:
    """The share of all stages' time in which they wait, from the first start to the last stop."""
    stages = 1 + max(task.stage for task in tasks)
    lasted = max(task.stop for task in tasks) - min(task.start for task in tasks)
    return 1 - sum(task.stop - task.start for task in tasks) / (stages * lasted)


def kept(tasks: Iterable[Task], stage: int) -> int:
    """The most micro-batches that a stage had begun and not finished at any moment."""
    events = [(task.start, 1) for task in tasks if (task.stage, task.kind) == (stage, FORWARD)]
    events += [(task.stop, -1) for task in tasks if (task.stage, task.kind) == (stage, BACKWARD)]
    return max(accumulate(change for _, change in sorted(events)))
