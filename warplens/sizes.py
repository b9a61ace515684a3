"""`every_size(kernel, launch)`: is a kernel right for all n, not only for those that were tried?

The source is read for all sizes at once (`source.reading`): as affine forms, which elements a
thread touches, and under which conditions. Then there are questions: can an index leave its array,
can an element stay unwritten? Each is a system of affine conditions, and `affine.eliminated` looks
at all n at once. Where it cannot say no, sizes are run, from the smallest on that the conditions
allow.
"""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .affine import Form, NotAffine, Symbol, Unknown, cases, eliminated, feasible, with_facts
from .faults import KernelFault, Unsupported, Untypable
from .report.tables import Report
from .runner import Tracer, trace
from .source.names import Names, source_of
from .source.reading import Access, Array, Reading, unknowns_of

RUNS = 40  # where forms alone do not decide
SEARCHED = 2000  # sizes that are looked through for those to run
LOOKS = 150  # at ways to miss an element
SYSTEMS = 400  # of conditions: some seconds
LARGEST = 10_000_000  # elements that are run
SAMPLED = 1, 2, 3, 33  # run though the forms clear them: for what they do not see
N = Unknown("n", ((1, Form.of(-1)),))  # n − 1 ≥ 0


@dataclass(frozen=True, repr=False)
class Sizes(Report):
    """For which n a kernel is right. `correct` is True (all n ≥ 1), False (not n = `smallest`), or
    None: `undecided` says why, in sentences that name the line."""

    kernel: str
    correct: bool | None
    smallest: int | None = None
    fault: str = ""
    undecided: tuple[str, ...] = ()

    def headline(self) -> str:
        if self.correct:
            return (
                f"{self.kernel}: correct for every n ≥ 1: each index stays in its array, "
                "each element is written"
            )
        if self.smallest is not None:
            which = "the smallest"
            if self.undecided:
                which = f"found by running sizes with zeros in the arrays ({self.undecided[0]})"
            return f"{self.kernel}: breaks at n = {self.smallest}, {which}: {self.fault}"
        return f"{self.kernel}: not decided for every n: " + "; ".join(self.undecided)

    def table(self) -> tuple[tuple, list[tuple]]:
        return (), []


def every_size(
    kernel: Any,
    launch: Callable[[Any], tuple],
    shapes: dict[str, Any] | None = None,
    covers: Iterable[str] | None = None,
) -> Sizes:
    """Does each access stay in its array, and is each element of the output written, for all n ≥ 1?

    `launch(n)` gives grid and block, as in `lambda n: (math.ceil(n / 256), 256)`; it must get along
    with an n that is a symbol (+, -, *, //, %, ceil). `shapes` says, by the names of parameters,
    what each is: a shape or a number, or a function of n that gives one, as in `{"x": lambda n: (n
    + 2,)}`. Arrays not named have n elements along each axis, a number named `n` is n. `covers`
    names the arrays that must be written wholly; without it, all that the kernel writes to.

    Decided are conditions that are affine in the thread's index, loop counters and n; products of
    such and what is read from arrays are not, and the answer says so, with the line. A negative
    index counts as an error, an integer as unbounded; results, races and the limits of a grid are
    not looked at. A size that breaks has been run (with zeros in the arrays), as have those smaller
    ones that the forms do not clear.
    """
    case = Case(trace(kernel), launch, shapes or {}, covers)
    name = case.function.__name__
    try:
        questions = open_ones(case.questions())
    except (NotAffine, Unsupported) as problem:
        questions = [Question(str(problem), [[Form.of(N)]], False)]
    reasons = tuple(sorted({q.text for q in questions if not q.affine}))
    tried = itertools.islice(candidates(questions), RUNS) if questions else iter(SAMPLED)
    try:
        for n in tried:
            if fault := case.fault(n):
                return Sizes(name, False, n, fault, reasons)
    except (Unsupported, Untypable) as problem:
        reasons += (f"n = {n} does not run with zeros in the arrays: {problem}",)
    if not questions and not reasons:
        return Sizes(name, True)
    return Sizes(name, None, undecided=reasons or tuple(sorted({q.text for q in questions})))


@dataclass
class Question:
    """Can one of the systems of conditions hold? Then the kernel may be wrong, as the text says; or
    the text says what is not affine."""

    text: str
    systems: list[list[Form]]
    affine: bool = True

    def __post_init__(self) -> None:
        self.systems = [case for system in self.systems for case in cases(system)]

    def open(self) -> bool:
        self.systems = [system for system in self.systems if feasible(system)]
        return bool(self.systems)

    def range(self) -> tuple[int, float]:
        """The first and the last n that bounds allow."""
        lows, highs = [], []
        for system in self.systems:
            try:
                left = eliminated(system, {N}) or ()
            except NotAffine:  # too many conditions: all n, then
                left = ()
            ends = [(form.factor(N), form.constant) for form in left]
            lows.append(max((math.ceil(Fraction(-c, f)) for f, c in ends if f > 0), default=1))
            highs.append(min((c / -f for f, c in ends if f < 0), default=math.inf))
        return min(lows), max(highs)

    def allows(self, n: int) -> bool:
        return any(feasible(form.set_to(N, n) for form in system) for system in self.systems)


def open_ones(questions: Iterator[Question]) -> list[Question]:
    found, looked = [], 0
    for question in questions:
        looked += len(question.systems)
        if looked > SYSTEMS:
            raise NotAffine("too many ways through the code")
        if question.open():
            found.append(question)
    return found


def candidates(questions: list[Question]) -> Iterator[int]:
    """The sizes, from the smallest on, that some question does not clear."""
    ranges = [question.range() for question in questions]
    first, last = min(low for low, _ in ranges), max(high for _, high in ranges)
    for n in range(first, first + SEARCHED):
        if n > last:
            return
        if any(question.allows(n) for question in questions):
            yield n


class Case:
    """A kernel, and how it is launched for an n."""

    def __init__(self, tracer: Tracer, launch: Callable, shapes: dict, covers: Any) -> None:
        self.tracer, self.function, self.launch = tracer, tracer.function, launch
        self.names = Names(self.function, source_of(self.function).tree)
        self.axes = axes_used(self.names)
        self.shapes, self.integers = shapes, set[str]()
        for name in set(self.names.parameters) - set(self.axes) - set(shapes) - {"n"}:
            raise ValueError(f"say what {name} is: shapes={{{name!r}: …}}, a shape or a number")
        if unknown := set(shapes) - set(self.names.parameters):
            raise ValueError(f"{self.function.__name__} has no parameter {sorted(unknown)[0]!r}")
        self.covers = None if covers is None else set(covers)

    def sizes(self) -> tuple[tuple, tuple]:
        """Grid and block of all n, each of three."""
        grid, block, *_ = asked(self.launch, Symbol.of(N), "the launch")
        grid, block = (
            (*(size if isinstance(size, tuple) else (size,)), 1, 1)[:3] for size in (grid, block)
        )
        if not all(isinstance(size, int) for size in block):
            raise NotAffine("a block whose size depends on n")
        forms = tuple(map(Form.of, grid))
        if any(Fraction(f).denominator > 1 for form in forms for f in form.numbers()):
            raise NotAffine("a grid that is no whole number: write n // 256 or math.ceil(n / 256)")
        return forms, block

    def arguments(self, n: Any) -> dict[str, Any]:
        """A shape or a number for each parameter."""
        held = {}
        for name in self.names.parameters:
            value = self.shapes.get(name, (n,) * self.axes.get(name, 0) or n)
            value = asked(value, n, f"the shape of {name}") if callable(value) else value
            array = name in self.axes and not isinstance(value, tuple)
            held[name] = (value,) if array else value
        return held

    # For all n

    def questions(self) -> Iterator[Question]:
        n = Form.of(N)
        grid, block = self.sizes()
        reading = Reading(self.names, grid, block)
        given = self.arguments(Symbol.of(N))
        reading.read({name: symbolic(name, value) for name, value in given.items()})
        indices = unknowns_of([form for access in reading.accesses for form in access.index])
        self.integers = {array for unknown, array in reading.loaded.items() if unknown in indices}
        yield Question("a grid without a block", [[-Form.of(size)] for size in grid])
        for line, text in reading.notes.items():
            yield Question(f"line {line}: {text}", [[n]], False)
        for access in reading.accesses:
            yield inside(access, indices)
        written = [a for a in reading.accesses if a.kind != "read"]
        arrays = {a.array.name: a.array for a in written if a.array.name in self.names.parameters}
        if self.covers is None:
            self.covers = set(arrays)
        for name in sorted(self.covers - set(arrays)):
            raise ValueError(f"{self.function.__name__} does not write to {name}")
        for name in sorted(self.covers):
            yield from covered(reading, arrays[name], [a for a in written if a.array.name == name])

    # For one n

    def fault(self, n: int) -> str:
        """Run it: what is wrong, or nothing."""
        shapes = [value for value in self.arguments(n).values() if isinstance(value, tuple)]
        if sum(map(math.prod, shapes)) > LARGEST:
            raise Unsupported("arrays so large", None, self.function.__name__)
        given = {
            name: np.zeros(value, self.dtype(name)) if isinstance(value, tuple) else value
            for name, value in self.arguments(n).items()
        }
        try:
            t = self.tracer[self.launch(n)](*given.values())
        except Untypable:
            raise
        except KernelFault as fault:
            return str(fault)
        for caution in t.warnings:
            if caution.kind == "negative index":
                return str(caution)
        assert t.launch is not None
        places: dict[str, list] = {name: [] for name in self.covers or ()}
        for site, entries in t.launch.log.sites.items():
            name = site.array.name
            if site.access != "read" and name in (given if self.covers is None else places):
                places.setdefault(name, []).extend(entry.place for entry in entries)
        for name in sorted(places):
            missed = given[name].size - len(np.unique(np.concatenate([[], *places[name]])))
            if missed:
                return f"{missed:,} of {given[name].size:,} elements of {name} are not written"
        return ""

    def dtype(self, name: str) -> type:
        return np.int64 if name in self.integers else np.float32


def asked(formula: Callable, n: Any, what: str) -> Any:
    try:
        return formula(n)
    except (TypeError, AttributeError, NotAffine) as problem:
        if not isinstance(n, Symbol):
            raise
        raise NotAffine(f"{what} is no affine form of n: {problem}") from None


def symbolic(name: str, value: Any) -> Any:
    if isinstance(value, tuple):
        return Array(name, tuple(map(Form.of, value)))
    try:
        return Form.of(value)
    except NotAffine:
        return Form.of(Unknown(name, why=f"{name} is no integer"))


def axes_used(names: Names) -> dict[str, int]:
    """The parameters that are arrays, and how many indices they are given."""
    found: dict[str, int] = {}
    for node in ast.walk(names.tree):
        match node:
            case ast.Subscript(ast.Name(name), at):
                axes = len(at.elts) if isinstance(at, ast.Tuple) else 1
            case ast.Attribute(ast.Name(name), "shape" | "size"):
                axes = 1
            case ast.Assign([ast.Tuple(parts)], ast.Attribute(ast.Name(name), "shape")):
                axes = len(parts)
            case ast.Call(ast.Name("len"), [ast.Name(name)]):
                axes = 1
            case ast.Call(ast.Attribute(ast.Attribute(attr="atomic")), [ast.Name(name), at, *_]):
                axes = len(at.elts) if isinstance(at, ast.Tuple) else 1
            case _:
                continue
        if name in names.parameters:
            found[name] = max(axes, found.get(name, 0))
    return found


# Does each access stay inside?


def inside(access: Access, integers: set[Unknown]) -> Question:
    """Can the index leave the array? What any index is made of is an integer, by its type: then
    conditions on it hold, though it was read from an array."""
    used = unknowns_of(access.index)
    led = [*access.state.guards]
    led += [h for h in access.state.hints if {u for u in unknowns_of([h]) if u.why} <= integers]
    systems = [
        [*led, outside]
        for form, size in zip(access.index, access.array.shape, strict=True)
        for outside in (-form - 1, form - size)
    ]
    reasons = sorted(u.why for u in used if u.why)
    reasons += [f"line {line}: {text} is no affine condition"
                for (line, text, *_), _ in sorted(access.state.doubts, key=str)]  # fmt: skip
    text = f"line {access.line}: `{access.text}` may leave its array"
    return Question(reasons[0] if reasons else text, systems, not reasons)


# Is every element written?


def covered(reading: Reading, array: Array, writes: list[Access]) -> Iterator[Question]:
    certain, doubtful = told_apart(reading, writes)
    text = doubtful[0] if doubtful else f"it is not certain that {array.name} is written wholly"
    steps = [common_step(reading, [w.index[axis] for w in certain])
             for axis in range(len(array.shape))]  # fmt: skip
    for rests in itertools.product(*map(range, steps)):
        # Elements by remainder: each write then moves by 1, and nothing is lost in eliminating.
        element = [Form.of(Unknown("element")) * step + rest
                   for step, rest in zip(steps, rests, strict=True)]  # fmt: skip
        there = [
            form for e, size in zip(element, array.shape, strict=True) for form in (e, size - e - 1)
        ]
        parts = {frozenset(part) for w in certain for part in written(reading, w, element)}
        missed = with_facts([*there, Form.of(N) - 1])
        looks = itertools.count()
        systems = list(left_over(missed, sorted(parts, key=len), looks))
        if next(looks) > LOOKS:  # too many ways to miss it: all that is there, then
            systems = [missed]
        yield Question(text, systems, not doubtful)


def common_step(reading: Reading, forms: list[Form]) -> int:
    steps = [math.gcd(*(int(f.factor(u)) for u in f.unknowns & reading.inner)) for f in forms]
    step = math.lcm(*(step or 1 for step in steps))
    return step if step <= 16 else 1


def told_apart(reading: Reading, writes: list[Access]) -> tuple[list[Access], list[str]]:
    """The writes that happen exactly where their guards say, and why others may not."""
    states = [(w, w.state.doubts) for w in writes]
    merging = True
    while merging:  # what is written whether a condition holds or not, is written
        merging = False
        for (a, doubts), (b, others) in itertools.permutations(states, 2):
            apart = doubts ^ others
            same = a.index == b.index and a.state.guards == b.state.guards
            if same and len(apart) == 2 and len({why for why, _ in apart}) == 1:
                states = [s for s in states if s[0] is not a and s[0] is not b]
                states.append((a, doubts & others))
                merging = True
                break
    certain, reasons = [], set[str]()
    for w, doubts in states:
        used = unknowns_of([*w.index, *w.state.guards])
        reasons |= {f"line {line}: {text} is no affine condition" for (line, text, *_), _ in doubts}
        reasons |= {u.why for u in used if u.why}
        if used & w.state.spent:
            reasons.add(f"line {w.line}: `{w.text}` depends on the thread and on its loop")
        elif not doubts and not any(u.why for u in used):
            certain.append(w)
    return certain, sorted(reasons)


def written(reading: Reading, access: Access, element: list[Form]) -> Iterator[list[Form]]:
    """Conditions under which a thread certainly writes the element."""
    same = [form for a, b in zip(access.index, element, strict=True) for form in (a - b, b - a)]
    for system in cases([*access.state.guards, *same]):
        known = {unknown for form in system for unknown in form.unknowns}
        outer = {u for u in known if not unknowns_of([Form.of(u)]) & reading.inner}
        if (left := eliminated(system, outer, dark=True)) is not None:
            yield left


def left_over(
    missed: list[Form], parts: list[frozenset[Form]], looks: Iterator[int]
) -> Iterator[list[Form]]:
    """Systems of conditions, no two with a common case, under which none of the parts has the
    element; not all of them once LOOKS are taken."""
    if next(looks) > LOOKS or not feasible(missed):
        return
    if not parts:
        yield missed
        return
    for condition in parts[0]:
        yield from left_over([*missed, -condition - 1], parts[1:], looks)
        missed = [*missed, condition]
