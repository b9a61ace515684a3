"""Spans: what the profiler saw in one step, as bars with a beginning, an end and a kind.

The kind of a span is what the processor does while nothing inside that span runs: `aten::linear`
computes nothing itself, it calls `aten::addmm`, which does. So linear's own time is launching, and
addmm's is computing. A CUDA kernel runs on the GPU; on the host its operator only launches it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

COMPUTE, LAUNCH, MEMORY, IDLE = "compute", "launch and Python", "memory", "idle"
KINDS = (COMPUTE, LAUNCH, MEMORY, IDLE)
PYTHON, OPERATORS, BACKWARD = "Python", "operators", "backward thread"
GPU, COPIES = "GPU", "GPU copies"

# Operators that only allocate, fill or move. Trailing underscores (in place) are left out.
MOVES = {
    "empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "resize",
    "resize_as", "zeros", "zeros_like", "new_zeros", "ones", "ones_like", "new_ones", "full",
    "full_like", "new_full", "fill", "zero", "copy", "to", "_to_copy", "clone", "contiguous",
    "cat", "stack", "concat", "repeat", "repeat_interleave", "pin_memory", "_pin_memory", "set",
    "tril_indices", "lift_fresh_copy", "constant_pad_nd", "roll", "flip", "_foreach_zero",
    "_foreach_copy",
}  # fmt: skip
# Operators that write another shape over the same data, or ask a question: no data is touched.
VIEWS = {
    "t", "transpose", "permute", "view", "_unsafe_view", "reshape", "_reshape_alias", "expand",
    "expand_as", "as_strided", "detach", "select", "slice", "narrow", "squeeze", "unsqueeze",
    "flatten", "unflatten", "split", "split_with_sizes", "chunk", "unbind", "unfold",
    "diagonal", "movedim", "swapaxes", "view_as", "alias", "resolve_conj", "resolve_neg",
    "lift", "lift_fresh", "item", "_local_scalar_dense", "is_nonzero", "result_type",
    "is_same_size", "requires_grad", "data_ptr", "set_data", "numpy_T", "mT", "T", "H",
}  # fmt: skip
RUNTIME = re.compile(r"(cuda|cu|hip)[A-Z]")  # calls of the GPU's own library, made by the host
COPYING = ("Memcpy", "Memset")  # what Kineto calls the work of a GPU's copy engines
COMPILED = "## Call CompiledFxGraph"  # Inductor's C++ has no operators of its own


@dataclass(frozen=True)
class Event:
    """One event as torch.profiler tells it, in seconds from the step's start."""

    name: str
    start: float
    stop: float
    where: int  # the thread's number in the system; on a GPU the stream's
    on_gpu: bool = False
    annotation: bool = False  # named from Python, as by record_function


@dataclass(frozen=True)
class Span:
    """From when to when something ran, in seconds from the step's start."""

    name: str
    start: float
    stop: float
    lane: str  # "Python", "operators", "backward thread", "GPU", "GPU copies"
    kind: str  # what it does while nothing inside it runs: one of KINDS
    depth: int = 0  # 0: it stands in no other span of its lane
    alone: tuple[tuple[float, float], ...] = ()  # from when to when nothing ran inside it

    @property
    def seconds(self) -> float:
        return self.stop - self.start

    @property
    def own(self) -> float:
        """Its seconds without those of the spans that stand in it."""
        return sum(stop - start for start, stop in self.alone)


ENGINE, OPTIMIZER, SEED = "autograd::engine", "Optimizer.", "aten::ones_like"


def phases(found: Sequence[Span]) -> list[tuple[str, float, float]]:
    """(name, start, stop) of zero_grad, forward, backward and update, in the order of their starts.

    Empty where the spans are not those of one training step: without autograd, or with operators
    between its own, as in micro-batches.
    """
    engine = [span for span in found if span.name.startswith(ENGINE)]
    if not engine:
        return []
    begin, end = min(span.start for span in engine), max(span.stop for span in engine)
    parts = [("update" if span.name.endswith(".step") else "zero_grad", span.start, span.stop)
             for span in found if span.name.startswith(OPTIMIZER)]  # fmt: skip
    outer = [span for span in found if span.lane == OPERATORS and not span.depth
             and not any(start <= span.start < stop for _, start, stop in parts)
             and not span.name.startswith(ENGINE)]  # fmt: skip
    if any(begin < span.start < end for span in outer):
        return []
    before = [span for span in outer if span.stop <= begin]
    if before and before[-1].name == SEED:  # backward() begins with the loss's own gradient, a one
        begin = before.pop().start
    if before:
        parts.append(("forward", before[0].start, max(span.stop for span in before)))
    return sorted([*parts, ("backward", begin, end)], key=lambda part: part[1])


def spans(events: Iterable[Event], thread: int) -> tuple[Span, ...]:
    """The spans of a step whose Python runs in that thread, in the order of their starts."""
    lanes: dict[tuple[bool, int], list[Event]] = defaultdict(list)
    for event in events:
        lanes[event.on_gpu, event.where].append(event)
    found: list[Span] = []
    taken: Counter[str] = Counter()
    for (on_gpu, where), lane in sorted(lanes.items(), key=lambda one: one[0]):
        if on_gpu:
            found += on_stream(lane, where, many=sum(gpu for gpu, _ in lanes) > 1)
        elif where == thread:
            found += on_thread(lane, OPERATORS)
        else:
            backward = any(event.name.startswith(ENGINE) for event in lane)
            name = BACKWARD if backward else "other thread"
            taken[name] += 1
            found += on_thread(lane, f"{name} {taken[name]}" if taken[name] > 1 else name)
    return tuple(sorted(found, key=lambda span: (span.start, -span.stop)))


def on_stream(events: Sequence[Event], stream: int, many: bool) -> Iterator[Span]:
    """A GPU's work: kernels compute, its copies move. With one stream its number is left out."""
    number = f", stream {stream}" if many else ""
    for event in events:
        copies = event.name.startswith(COPYING)
        lane, kind = (COPIES, MEMORY) if copies else (GPU, COMPUTE)
        when = event.start, event.stop
        yield Span(event.name, *when, lane + number, kind, alone=(when,))


def on_thread(events: Sequence[Event], lane: str) -> Iterator[Span]:
    """A thread's work: operators in operators, and what Python named, which has its own lane."""
    for node in nested(events):
        event = node.event
        named = event.annotation and lane == OPERATORS
        yield Span(event.name, event.start, event.stop, PYTHON if named else lane, node.kind(),
                   node.depth, tuple(node.alone()))  # fmt: skip


@dataclass
class Node:
    """An event of a thread, with those that ran directly inside it."""

    event: Event
    depth: int  # how many like it, operators or what Python named, are around it
    children: list["Node"]

    def alone(self) -> Iterator[tuple[float, float]]:
        """From when to when none of its children ran: they are in order, and do not overlap."""
        now = self.event.start
        for start, stop in [(child.event.start, child.event.stop) for child in self.children]:
            if now < start:
                yield now, start
            now = stop
        if now < self.event.stop:
            yield now, self.event.stop

    def kind(self) -> str:
        overload = self.event.name.rpartition("::")[2]
        bare = overload.rstrip("_")
        if RUNTIME.match(self.event.name):
            return runtime_kind(self.event.name)
        if self.event.annotation:
            return MEMORY if overload.startswith("Optimizer.zero_grad") else LAUNCH
        if not self.may_compute() or bare in VIEWS or self.launches():
            return LAUNCH
        if bare in MOVES:
            return MEMORY
        return LAUNCH if any(child.computes() for child in self.children) else COMPUTE

    def may_compute(self) -> bool:
        """Operators have a namespace; autograd's bookkeeping has its own, or none."""
        name = self.event.name
        return name.startswith(COMPILED) or (
            "::" in name and not name.startswith(("autograd::", "torch::autograd::"))
        )

    def launches(self) -> bool:
        """Does a call of the GPU's library stand anywhere inside?"""
        return any(RUNTIME.match(c.event.name) or c.launches() for c in self.children)

    def computes(self) -> bool:
        return self.kind() == COMPUTE or any(child.computes() for child in self.children)


def runtime_kind(name: str) -> str:
    if "Synchronize" in name:
        return IDLE
    return MEMORY if re.search("Malloc|Free|Alloc", name) else LAUNCH


def nested(events: Sequence[Event]) -> list[Node]:
    """Who runs inside whom, by their times; one that outlives its parent is cut where that ends."""
    nodes: list[Node] = []
    around: list[Node] = []
    for event in sorted(events, key=lambda one: (one.start, -one.stop, not one.annotation)):
        while around and around[-1].event.stop <= event.start:
            around.pop()
        if around and event.stop > (end := around[-1].event.stop):
            event = Event(event.name, event.start, end, event.where, False, event.annotation)
        depth = sum(parent.event.annotation == event.annotation for parent in around)
        node = Node(event, depth, [])
        if around:
            around[-1].children.append(node)
        nodes.append(node)
        around.append(node)
    return nodes
