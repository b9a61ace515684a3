"""A kernel's source read for every size at once: which elements are touched, and under which
conditions, as affine forms. Ways through the code are followed one by one."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any

import numpy as np

from ..affine import Form, NotAffine, Unknown, feasible, with_facts
from .names import MISSING, Cuda, Names, leaves, python_function, source_of

WAYS = 128  # through the code, at once
LOOP = "this loop"
ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}
# left ? right, as conditions that must all hold, for each way in which it does
ORDERS: dict[type, Callable[[Any, Any], list[list[Form]]]] = {
    ast.Lt: lambda a, b: [[b - a - 1]],
    ast.LtE: lambda a, b: [[b - a]],
    ast.Gt: lambda a, b: [[a - b - 1]],
    ast.GtE: lambda a, b: [[a - b]],
    ast.Eq: lambda a, b: [[a - b, b - a]],
    ast.NotEq: lambda a, b: [[a - b - 1], [b - a - 1]],
}
OPPOSITE: dict[type, type] = {ast.Lt: ast.GtE, ast.Gt: ast.LtE, ast.Eq: ast.NotEq}
OPPOSITE |= {b: a for a, b in OPPOSITE.items()}


@dataclass(frozen=True)
class Array:
    name: str
    shape: tuple[Form, ...]


@dataclass(frozen=True)
class State:
    """On one way through the code: what names hold, and what led here."""

    names: dict[str, Any]
    guards: tuple[Form, ...] = ()  # all of what led here, but for
    hints: tuple[Form, ...] = ()  # conditions on data, and
    doubts: frozenset[tuple[Any, bool]] = frozenset()  # conditions that no form says
    spent: frozenset[Unknown] = frozenset()  # of the thread's index: taken up by a loop's counter

    def named(self, names: dict[str, Any]) -> State:
        return replace(self, names=self.names | names)

    def doubting(self, why: Any, truth: bool = True) -> State:
        return replace(self, doubts=self.doubts | {(why, truth)})


@dataclass(frozen=True, eq=False)
class Access:
    line: int
    text: str
    array: Array
    kind: str
    index: tuple[Form, ...]
    state: State


def unknowns_of(forms: Any) -> set[Unknown]:
    return {unknown for form in with_facts(forms) for unknown in form.unknowns}


@dataclass
class Reading:
    """What a launch of these sizes does, by its source."""

    names: Names
    grid: tuple[Form, ...]
    block: tuple[int, ...]
    accesses: list[Access] = field(default_factory=list)
    notes: dict[int, str] = field(default_factory=dict)  # line → what is not followed there
    inner: set[Unknown] = field(default_factory=set)  # of threads and loops
    loaded: dict[Unknown, str] = field(default_factory=dict)  # what was read → from which array

    def read(self, arguments: dict[str, Any]) -> None:
        self.cuda: dict[str, Any] = {}
        self.threads, self.index, self.sizes = [], [], []
        for axis, blocks, threads in zip("xyz", self.grid, self.block, strict=True):
            block = self.unknown(f"blockIdx.{axis}", Form(), blocks - 1)
            thread = self.unknown(f"threadIdx.{axis}", Form(), Form.of(threads - 1))
            self.threads.append((block, thread))
            self.cuda |= {
                f"blockIdx.{axis}": Form.of(block),
                f"threadIdx.{axis}": Form.of(thread),
                f"blockDim.{axis}": Form.of(threads),
                f"gridDim.{axis}": blocks,
            }
        self.index = [
            Form.of(b) * n + t for (b, t), n in zip(self.threads, self.block, strict=True)
        ]
        self.sizes = [blocks * n for blocks, n in zip(self.grid, self.block, strict=True)]
        self.run(self.names.tree.body, [State(arguments)])

    def unknown(self, name: str, low: Form, high: Form) -> Unknown:
        made = Unknown(name, ((1, -low), (-1, high)))
        self.inner.add(made)
        return made

    # Statements: the states that come out at the end

    def run(self, statements: list[ast.stmt], states: list[State]) -> list[State]:
        for statement in statements:
            states = [after for state in states for after in self.step(statement, state)]
            if len(states) > WAYS:
                raise NotAffine(f"line {statement.lineno}: too many ways through the code")
        return states

    def step(self, node: ast.stmt, state: State) -> list[State]:
        match node:
            case ast.Assign(targets, value) if not self.is_truth(value, state):
                held = self.value(value, state)
                for target in targets:
                    state = self.assign(target, held, state)
            case ast.AnnAssign(target, _, value) if value is not None:
                state = self.assign(target, self.value(value, state), state)
            case ast.Assign(targets, value):
                yes, no = self.ways(value, state)
                for target in targets:
                    yes = [self.assign(target, Form.of(1), s) for s in yes]
                    no = [self.assign(target, Form(), s) for s in no]
                return yes + no
            case ast.AugAssign(target, op, value):
                read = ast.copy_location(ast.BinOp(loading(target), op, value), node)
                state = self.assign(target, self.value(read, state), state)
            case ast.If():
                yes, no = self.ways(node.test, state)
                after = self.run(node.body, yes) + self.run(node.orelse, no)
                same = not leaves(node) and all(s.names == state.names for s in after)
                return [state] if same else after
            case ast.For() | ast.While():
                return self.loop(node, state)
            case ast.Return() | ast.Break() | ast.Continue():
                return []
            case ast.Expr(value):
                self.value(value, state)
            case ast.Pass():
                pass
            case _:
                self.notes[node.lineno] = f"`{type(node).__name__.lower()}` is not followed"
        return [state]

    def is_truth(self, node: ast.expr, state: State) -> bool:
        """Is its value a truth value? That of `i or 3` is a number."""
        if isinstance(node, ast.BoolOp):
            return all(self.is_truth(part, state) for part in node.values)
        if isinstance(node, ast.Name):
            return state.names.get(node.id) in (Form(), Form.of(1))
        negated = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        return negated or isinstance(node, ast.Compare)

    def assign(self, target: ast.expr, held: Any, state: State) -> State:
        if isinstance(target, ast.Name):
            return state.named({target.id: held})
        if isinstance(target, ast.Subscript):
            self.touch(target, self.value(target.value, state), "write", state)
        elif isinstance(target, ast.Tuple):
            same = isinstance(held, tuple) and len(held) == len(target.elts)
            parts = held if same else [self.opaque(target)] * len(target.elts)
            for part, value in zip(target.elts, parts, strict=True):
                state = self.assign(part, value, state)
        else:
            self.notes[target.lineno] = f"`{ast.unparse(target)}` is not followed"
        return state

    def loop(self, node: ast.For | ast.While, state: State) -> list[State]:
        body, stored = node.body, {
            n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }  # fmt: skip
        around = state.named({name: self.opaque(node, name) for name in stored})
        target, span = None, None
        if isinstance(node, ast.While) and (found := counted(node)) and found[0] in state.names:
            if self.grows(self.value(found[2], state), state):
                body, target = node.body[:-1], found[0]
                span = [state.names[target]], self.several("min", found[1], state), found[2]
        elif isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            target, span = node.target.id, self.range(node.iter, state)
        turns: list[State] = []
        if target is not None and span is not None:
            counter, turn = self.turn(node, span[0], span[1], self.value(span[2], state), around)
            turns = [turn.named({target: counter})]
        elif isinstance(node, ast.While):
            if not shrinks(node):
                self.notes[node.lineno] = "it is not certain that this loop ends"
            turns = [s.doubting((node.lineno, LOOP)) for s in self.ways(node.test, around)[0]]
        else:
            self.value(node.iter, state)
            turns = [around.doubting((node.lineno, LOOP))]
        nested = [n for statement in body for n in ast.walk(statement)]
        if any(isinstance(n, (ast.Return, ast.Break)) for n in nested):
            turns = [s.doubting((node.lineno, "a loop that may be left early")) for s in turns]
        self.run(body, turns)
        if any(isinstance(n, ast.Return) for n in nested):
            around = around.doubting((node.lineno, "a loop that may be left early"))
        if node.orelse and any(isinstance(n, ast.Break) for n in nested):
            why = (node.lineno, "a loop that may be left by break")
            after = self.run(node.orelse, [around.doubting(why)])
            return [*after, around.doubting(why, False)]
        return self.run(node.orelse, [around])

    def grows(self, step: Any, state: State) -> bool:
        """Is it positive, wherever there is a thread?"""
        there = [form for pair in self.threads for unknown in pair for form in unknown.conditions()]
        return isinstance(step, Form) and not feasible([*there, *state.guards, -step])

    def range(self, node: ast.expr, state: State) -> tuple[list, list, ast.expr] | None:
        """Lower bounds, upper bounds and the step of a `range(…)`."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return None
        if self.names.resolve(node.func) is not range or not node.args:
            return None
        zero, one = ast.Constant(0), ast.Constant(1)
        first, last, step = {1: (zero, *node.args, one), 2: (*node.args, one)}.get(
            len(node.args), tuple(node.args)
        )
        down = isinstance(step, ast.UnaryOp)
        lows = [self.value(first, state)] if down else self.several("max", first, state)
        return lows, [self.value(last, state)] if down else self.several("min", last, state), step

    def several(self, name: str, node: ast.expr, state: State) -> list[Any]:
        """The arguments of `min` or `max`, or what is no such call."""
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name:
            return [self.value(part, state) for part in node.args]
        return [self.value(node, state)]

    def turn(self, node: Any, lows: list, highs: list, step: Any, around: State) -> tuple:
        """The counter of a loop, and the state of any of its turns."""
        why = (node.lineno, "the bounds of this loop")
        k = Unknown("counter")
        self.inner.add(k)
        if not all(isinstance(form, Form) for form in (*lows, *highs, step)):
            return self.opaque(node, "counter"), around.doubting(why)
        for (block, thread), index, size in zip(self.threads, self.index, self.sizes, strict=True):
            alone = not {block, thread} & around.spent  # no such loop around it has taken it up
            if step == size and len(lows) == 1 and alone and not unknowns_of(
                [lows[0] - index]) & self.inner:  # fmt: skip
                # The loops of all threads together: every number from the first thread's on, once.
                guards: tuple = (Form.of(k) - (lows[0] - index),)
                guards += tuple(high - k - 1 for high in highs)
                hints = (Form.of(k) - lows[0],)
                turn = replace(around, guards=around.guards + guards, hints=around.hints + hints,
                               spent=around.spent | {block, thread})  # fmt: skip
                return Form.of(k), turn
        if len(highs) > 1 and not step.terms and step.constant < 0:
            return self.opaque(node, "counter"), around.doubting(why)
        if step.terms or not step.constant or (len(lows) > 1 and step.constant != 1):
            if not self.grows(step, around):
                return self.opaque(node, "counter"), around.doubting(why)
            guards = (*(Form.of(k) - low for low in lows), *(high - k - 1 for high in highs))
            return Form.of(k), self.led(around, guards, why).doubting(
                (node.lineno, "this loop's step")
            )
        counter, sign = Form.of(k), 1 if step.constant > 0 else -1
        guards = tuple(counter - low for low in lows) if step.constant == 1 else (counter,)
        if step.constant != 1:
            counter = lows[0] + counter * step.constant
        guards += tuple((high - counter) * sign - 1 for high in highs)
        return counter, self.led(around, guards, why)

    def led(self, state: State, guards: Any, why: Any, truth: bool = True) -> State:
        """The state, now that these conditions hold; conditions on data are hints only."""
        if any(unknown.why for unknown in unknowns_of(guards)):
            state = state.doubting(why, truth)
            return replace(state, hints=state.hints + tuple(guards))
        return replace(state, guards=state.guards + tuple(guards))

    # Conditions: the states in which they hold, and those in which they do not

    def ways(self, node: ast.expr, state: State) -> tuple[list[State], list[State]]:
        match node:
            case ast.UnaryOp(ast.Not(), operand):
                yes, no = self.ways(operand, state)
                return no, yes
            case ast.BoolOp(op, parts):
                asked, decided = [state], list[State]()
                for part in parts:
                    both = [self.ways(part, s) for s in asked]
                    asked = [s for pair in both for s in pair[isinstance(op, ast.Or)]]
                    decided += [s for pair in both for s in pair[isinstance(op, ast.And)]]
                return (asked, decided) if isinstance(op, ast.And) else (decided, asked)
            case ast.Compare(left, [op], [right]):
                why = (node.lineno, f"`{ast.unparse(node)}`", node.col_offset)
                a, b = self.value(left, state), self.value(right, state)
                if not isinstance(a, Form) or not isinstance(b, Form) or type(op) not in ORDERS:
                    return [state.doubting(why)], [state.doubting(why, False)]
                holds, fails = ORDERS[type(op)](a, b), ORDERS[OPPOSITE[type(op)]](a, b)
                return ([self.led(state, way, why) for way in holds],
                        [self.led(state, way, why, False) for way in fails])  # fmt: skip
            case ast.Compare(left, ops, rights):
                pairs = zip([left, *rights], ops, rights, strict=False)
                parts = [ast.copy_location(ast.Compare(a, [o], [b]), node) for a, o, b in pairs]
                return self.ways(ast.copy_location(ast.BoolOp(ast.And(), parts), node), state)
        held = self.value(node, state)
        if isinstance(held, Form) and not held.terms:
            return ([state], []) if held.constant else ([], [state])
        why = (node.lineno, f"`{ast.unparse(node)}`", node.col_offset)
        return [state.doubting(why)], [state.doubting(why, False)]

    # Values: a Form, an Array or a tuple

    def opaque(self, node: ast.AST, name: str = "") -> Form:
        text = name or ast.unparse(node)
        why = f"line {node.lineno}: `{text}` is no affine form"  # type: ignore[attr-defined]
        return Form.of(Unknown(text, why=why))

    def value(self, node: ast.expr, state: State) -> Any:
        match node:
            case ast.Constant(int(number)):
                return Form.of(int(number))
            case ast.Name(name) if name in state.names:
                return state.names[name]
            case ast.Name():
                return self.outside(self.names.resolve(node), node)
            case ast.Tuple(parts):
                return tuple(self.value(part, state) for part in parts)
            case ast.Attribute():
                return self.attribute(node, state)
            case ast.Subscript():
                return self.item(node, state)
            case ast.UnaryOp(ast.USub(), operand):
                held = self.value(operand, state)
                return -held if isinstance(held, Form) else self.opaque(node)
            case ast.BinOp(left, op, right):
                a, b = self.value(left, state), self.value(right, state)
                if isinstance(a, Form) and isinstance(b, Form) and type(op) in ARITHMETIC:
                    try:
                        return ARITHMETIC[type(op)](a, b)
                    except NotAffine:
                        return self.opaque(node)
                return self.opaque(node)
            case ast.IfExp(test, body, orelse):
                yes, no = self.ways(test, state)
                for arm, states in ((body, yes), (orelse, no)):
                    for narrowed in states:
                        self.value(arm, narrowed)
                return self.opaque(node)
            case ast.Compare() | ast.BoolOp():
                self.ways(node, state)
                return self.opaque(node)
            case ast.Call():
                return self.call(node, state)
        if not isinstance(node, (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Slice, ast.JoinedStr)):
            self.notes[node.lineno] = f"`{ast.unparse(node)}` is not followed"
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                self.value(part, state)
        return self.opaque(node)

    def outside(self, found: Any, node: ast.expr) -> Any:
        if isinstance(found, Cuda):
            return self.cuda.get(found.name, self.opaque(node))
        if isinstance(found, (int, np.integer)):
            return Form.of(int(found))
        if isinstance(found, tuple):
            return tuple(self.outside(part, node) for part in found)
        if isinstance(found, np.ndarray):
            return Array(ast.unparse(node), tuple(map(Form.of, found.shape)))
        return self.opaque(node)

    def attribute(self, node: ast.Attribute, state: State) -> Any:
        if (found := self.names.resolve(node)) is not MISSING:
            return self.outside(found, node)
        held = self.value(node.value, state)
        if isinstance(held, Array) and node.attr == "shape":
            return held.shape
        if isinstance(held, Array) and node.attr == "ndim":
            return Form.of(len(held.shape))
        if isinstance(held, Array) and node.attr == "size":
            try:
                return product(held.shape)
            except NotAffine:
                pass
        return self.opaque(node)

    def item(self, node: ast.Subscript, state: State) -> Any:
        held = self.value(node.value, state)
        if not isinstance(held, tuple):
            return self.touch(node, held, "read", state)
        at = self.value(node.slice, state)
        known = isinstance(at, Form) and not at.terms and -len(held) <= at.constant < len(held)
        return held[at.constant] if known else self.opaque(node)

    def touch(self, node: ast.AST, array: Any, kind: str, state: State, at: Any = None) -> Form:
        """An element is read or written: note it."""
        at = node.slice if isinstance(node, ast.Subscript) else at
        index = self.value(at, state)
        index = index if isinstance(index, tuple) else (index,)
        read = self.opaque(node)
        if not isinstance(array, Array) or isinstance(at, ast.Slice) or len(index) != len(
            array.shape) or not all(isinstance(form, Form) for form in index):  # fmt: skip
            self.notes[node.lineno] = f"`{ast.unparse(node)}` is not followed"  # type: ignore[attr-defined]
            return read
        text = ast.unparse(node)
        line = node.lineno  # type: ignore[attr-defined]
        self.accesses.append(Access(line, text, array, kind, index, state))
        self.loaded |= dict.fromkeys(read.unknowns, array.name)
        return read

    def call(self, node: ast.Call, state: State) -> Any:
        func = node.func
        named = isinstance(func, (ast.Name, ast.Attribute))
        found = self.names.resolve(func) if named else MISSING
        name = found.name if isinstance(found, Cuda) else getattr(found, "__name__", "")
        if name in ("shared.array", "local.array"):
            return self.own_array(node, state)
        if isinstance(found, Cuda) and name.startswith("syncthreads"):
            threads = {thread for _, thread in self.threads}
            if unknowns_of(state.guards) & threads or any(
                why[1] != LOOP for why, _ in state.doubts
            ):
                self.notes[node.lineno] = "not every thread of a block may come to this barrier"
        if node.keywords:
            self.notes[node.lineno] = (
                f"`{ast.unparse(node)}` with arguments by name is not followed"
            )
        function = found if isinstance(found, FunctionType) else python_function(found)
        if function and not plain(function):
            self.notes[node.lineno] = f"what `{name}` does is not followed"
        if isinstance(found, Cuda) and name.startswith("atomic."):
            if "swap" in name or len(node.args) < 2:
                self.notes[node.lineno] = f"`{name}` is not followed"
                return self.opaque(node)
            self.touch(node, self.value(node.args[0], state), "atomic", state, node.args[1])
            given = [self.value(part, state) for part in node.args[2:]]
        else:
            given = [self.value(part, state) for part in node.args]
        if found is len and isinstance(given[0], Array):
            return given[0].shape[0]
        if isinstance(found, Cuda) and name in ("grid", "gridsize"):
            forms = self.index if name == "grid" else self.sizes
            return forms[0] if given[0] == Form.of(1) else tuple(forms[: given[0].constant])
        if found in (min, max) and all(isinstance(form, Form) for form in given):
            sign = 1 if found is max else -1
            facts = tuple((sign, -form * sign) for form in given)
            return Form.of(Unknown(name, facts, choices=tuple(given)))
        if any(isinstance(part, Array) for part in given):
            self.notes[node.lineno] = f"what `{ast.unparse(func)}` does to an array is not followed"
        return self.opaque(node)

    def own_array(self, node: ast.Call, state: State) -> Any:
        """A shared or local array: its shape is known."""
        shape = next((k.value for k in node.keywords if k.arg == "shape"), node.args[:1])
        held = self.value(shape if isinstance(shape, ast.expr) else shape[0], state)
        held = held if isinstance(held, tuple) else (held,)
        return Array(f"line {node.lineno}", held) if held != (Form(),) else self.opaque(node)


def plain(function: FunctionType) -> bool:
    """Does a device function arithmetic only? Then it breaks nothing."""
    odd = ast.Subscript, ast.While, ast.Raise, ast.Assert
    tree = source_of(function).tree
    if any(isinstance(part, odd) for part in ast.walk(tree)):
        return False
    names = Names(function, tree)
    called = [names.resolve(part.func) for part in ast.walk(tree) if isinstance(part, ast.Call)]
    others = [f if isinstance(f, FunctionType) else python_function(f) for f in called]
    return MISSING not in called and all(plain(f) for f in others if f and f is not function)


def shrinks(node: ast.While) -> bool:
    """Is it `while s > 0: …; s //= 2` or the like, which ends?"""
    stores = [
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    ]
    match node.test, node.body[-1]:
        case (
            ast.Compare(ast.Name(name), [ast.Gt() | ast.GtE() as op], [ast.Constant(int(end))]),
            ast.AugAssign(ast.Name(again), (ast.FloorDiv() | ast.RShift() | ast.Sub()) as by,
                          ast.Constant(int(step))),
        ) if name == again and stores.count(name) == 1:  # fmt: skip
            least = 2 if isinstance(by, ast.FloorDiv) else 1
            continued = any(isinstance(n, ast.Continue) for n in ast.walk(node))
            return step >= least and end + isinstance(op, ast.Gt) >= 1 and not continued
    return False


def counted(node: ast.While) -> tuple[str, ast.expr, ast.expr] | None:
    """(counter, bound, step) of `while k < bound: …; k += step`, where all else stays."""
    match node.test, node.body[-1]:
        case (
            ast.Compare(ast.Name(name), [ast.Lt()], [bound]),
            ast.AugAssign(ast.Name(again), ast.Add(), step),
        ) if name == again:
            parts = [part for statement in node.body for part in ast.walk(statement)]
            named = [part for part in parts if isinstance(part, ast.Name)]
            stores = [part.id for part in named if isinstance(part.ctx, ast.Store)]
            asked = [part for e in (bound, step) for part in ast.walk(e)]
            stays = not any(
                getattr(part, "id", "") in stores
                or (isinstance(part, ast.Subscript) and getattr(part.value, "attr", "") != "shape")
                for part in asked
            )
            skipped = any(isinstance(part, ast.Continue) for part in parts)
            if stores.count(name) == 1 and stays and not skipped:
                return name, bound, step
    return None


def product(forms: tuple[Form, ...]) -> Form:
    total = Form.of(1)
    for form in forms:
        total = total * form
    return total


def loading(target: ast.expr) -> ast.expr:
    """What an augmented assignment reads."""
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    assert isinstance(target, (ast.Subscript, ast.Attribute))
    return target
