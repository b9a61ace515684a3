"""A pipeline's schedule: who works on which micro-batch when, and how long everybody waits.

The network is cut into stages, one on each worker, and a minibatch into micro-batches. Each of them
goes forward (F) through the stages and backward (B) again. A stage can do one thing at a time.

    GPipe        every forward, then every backward                              Huang et al. 2019
    1F1B         a few forwards to fill the pipe, then one forward, one backward, in turn: the same
                 waiting, but a stage never keeps more micro-batches than there are stages
    interleaved  the same, each worker with two thin stages instead of one    Narayanan et al. 2021
    zero bubble  backward in two: the gradient of what came in, which a stage before waits for (B),
                 and that of the weights (W), which fills the gaps        ZB-H1, Qi et al. 2024

While the pipe fills and drains somebody waits: the share lost is `bubble`, if the stages are alike.
Interleaved, M counts double; and zero bubble, where F, B and W take equally long, threefold.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

FORWARD, BACKWARD, WEIGHTS = "F", "B", "W"

Order = list[tuple[Any, ...]]  # (kind, micro-batch), or with a chunk, of one worker in turn
Schedule = Callable[[int, int, int], Order]  # of (stage, stages, micro-batches)
Step = tuple[int, str, int]  # (stage, kind, micro-batch)


@dataclass(frozen=True)
class Task:
    """One stage's work on one micro-batch, and when it was done (seconds, or any unit of time)."""

    stage: int
    kind: str  # FORWARD, BACKWARD or WEIGHTS
    micro_batch: int  # its number
    start: float
    stop: float
    chunk: int = 0  # which of the worker's stages, where it has several


def gpipe(stage: int, stages: int, batches: int) -> Order:
    """[(kind, micro-batch)] for one stage, in order."""
    return [(FORWARD, m) for m in range(batches)] + [(BACKWARD, m) for m in range(batches)]


def one_forward_one_backward(stage: int, stages: int, batches: int) -> Order:
    """The same, a backward as soon as there is one."""
    forwards, backwards = [[(kind, m) for m in range(batches)] for kind in "FB"]
    return in_turn(forwards, backwards, ahead=stages - stage)


def in_turn(forwards: Order, backwards: Order, ahead: int) -> Order:
    """So many forwards, then one backward, one forward."""
    order = forwards[:ahead]
    for n, backward in enumerate(backwards):
        order += [backward, *forwards[ahead + n : ahead + n + 1]]
    return order


def zero_bubble(stage: int, stages: int, batches: int) -> Order:
    """1F1B; each W as many backwards late as there are stages before this one."""
    order: Order = []
    for kind, m in one_forward_one_backward(stage, stages, batches):
        order.append((kind, m))
        if kind == BACKWARD and m >= stage:
            order.append((WEIGHTS, m - stage))
    return order + [(WEIGHTS, m) for m in range(max(0, batches - stage), batches)]


def interleaved(stage: int, stages: int, batches: int, chunks: int = 2) -> Order:
    """1F1B for a worker with several thin stages: `stages` micro-batches through one, and so on."""
    turns = [(first + m, chunk) for first in range(0, batches, stages)
             for chunk in range(chunks) for m in range(min(stages, batches - first))]  # fmt: skip
    forwards: Order = [(FORWARD, m, chunk) for m, chunk in turns]
    backwards: Order = [(BACKWARD, m, chunks - 1 - chunk) for m, chunk in turns]
    return in_turn(forwards, backwards, 2 * (stages - stage - 1) + (chunks - 1) * stages + 1)


SCHEDULES: dict[str, Schedule] = {
    "GPipe": gpipe, "1F1B": one_forward_one_backward, "interleaved": interleaved,
    "zero bubble": zero_bubble}  # fmt: skip


def bubble(stages: int, batches: int) -> float:
    """The share of the time that a stage waits, by the formula (S − 1) / (M + S − 1)."""
    return (stages - 1) / (batches + stages - 1)


def simulate(
    schedule: str, stages: int, batches: int, forward: float = 1.0, backward: float = 2.0
) -> list[Task]:
    """Every Task of the schedule: each begins as soon as its stage and what it needs are ready.

    backward: B and W together.
    """
    orders = SCHEDULES[schedule]
    left = [[(*turn, 0)[:3] for turn in orders(stage, stages, batches)] for stage in range(stages)]
    kinds, chunks = ({turn[n] for order in left for turn in order} for n in (0, 2))
    parts = max(chunks, default=0) + 1
    lasts = {FORWARD: forward / parts, BACKWARD: backward / parts}
    if WEIGHTS in kinds:
        lasts |= dict.fromkeys((BACKWARD, WEIGHTS), backward / parts / 2)
    free, tasks = [0.0] * stages, list[Task]()
    done: dict[Step | None, float] = {None: 0.0}  # when
    while any(left):
        for stage, order in enumerate(left):
            while order:
                kind, m, chunk = order[0]
                place = chunk * stages + stage
                needed = before(place, parts * stages, kind, m)
                if needed not in done:
                    break
                order.pop(0)
                start = max(free[stage], done[needed])
                free[stage] = done[place, kind, m] = stop = start + lasts[kind]
                tasks.append(Task(stage, kind, m, start, stop, chunk))
    return tasks


def before(stage: int, stages: int, kind: str, m: int) -> Step | None:
    """What must be done first: (stage, kind, micro-batch), or None for the very first stage."""
    if kind == WEIGHTS:
        return stage, BACKWARD, m
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
    own = [task for task in tasks if task.stage == stage]
    last = WEIGHTS if any(task.kind == WEIGHTS for task in own) else BACKWARD
    events = [(task.start, 1) for task in own if task.kind == FORWARD]
    events += [(task.stop, -1) for task in own if task.kind == last]
    return max(accumulate(change for _, change in sorted(events)))
