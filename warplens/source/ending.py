"""What the turns of a loop depend on: which variables decide whether it ends, and does memory?"""

from __future__ import annotations

import ast
from collections.abc import Iterator

FACTS = {"shape", "size", "ndim"}  # of an array, whatever it holds


def deciding(loop: ast.While, own: set[str]) -> tuple[set[str], bool]:
    """(the function's own variables that the ways through a loop depend on, do they depend on
    memory?)"""
    parts = list(ast.walk(loop))
    asked: list[ast.expr] = [
        p.test for p in parts if isinstance(p, (ast.While, ast.If, ast.Assert))
    ]
    asked += [p.iter for p in parts if isinstance(p, ast.For)]
    sets = list(settings(parts))
    while True:
        names = {name.id for e in asked for name in ast.walk(e) if isinstance(name, ast.Name)}
        more = [value for targets, value in sets if targets & names and value not in asked]
        if not more:
            break
        asked += more
    memory = any(reads_memory(part, own) for e in asked for part in ast.walk(e))
    return names & own, memory


def settings(parts: list[ast.AST]) -> Iterator[tuple[set[str], ast.expr]]:
    """(the names that are set, to what) of all assignments among these parts."""
    for part in parts:
        if isinstance(part, ast.Assign):
            yield {name for target in part.targets for name in set_in(target)}, part.value
        elif isinstance(part, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)) and part.value:
            yield set_in(part.target), part.value
        elif isinstance(part, (ast.For, ast.comprehension)):
            yield set_in(part.target), part.iter


def set_in(target: ast.expr) -> set[str]:
    stores = (p for p in ast.walk(target) if isinstance(p, ast.Name))
    return {name.id for name in stores if isinstance(name.ctx, ast.Store)}


def reads_memory(part: ast.AST, own: set[str]) -> bool:
    if isinstance(part, ast.Attribute):
        return part.attr not in FACTS and root(part) in own
    if isinstance(part, ast.Subscript):
        return not (isinstance(part.value, ast.Attribute) and part.value.attr in FACTS)
    return isinstance(part, ast.Call)


def root(part: ast.expr) -> str:
    while isinstance(part, ast.Attribute):
        part = part.value
    return part.id if isinstance(part, ast.Name) else ""


def compared(loop: ast.While) -> list[tuple[ast.expr, ast.expr]]:
    """The pairs of sides that are compared to stay in a loop, or at once to leave it."""
    tests = loop.test.values if isinstance(loop.test, ast.BoolOp) else [loop.test]
    if isinstance(loop.test, ast.BoolOp) and isinstance(loop.test.op, ast.Or):
        tests = []
    tests = tests + [
        statement.test
        for statement in loop.body
        if isinstance(statement, ast.If) and isinstance(statement.body[-1], (ast.Break, ast.Return))
    ]
    return [
        (test.left, test.comparators[0])
        for test in tests
        if isinstance(test, ast.Compare) and len(test.ops) == 1
        and reckoned(test.left) and reckoned(test.comparators[0])
    ]  # fmt: skip


def reckoned(side: ast.expr) -> bool:
    """Numbers, names and facts of arrays, added and multiplied: what reads no memory?"""
    match side:
        case ast.Constant() | ast.Name():
            return True
        case ast.Attribute():
            return side.attr in FACTS
        case ast.Subscript(ast.Attribute(_, "shape"), ast.Constant()):
            return True
        case ast.BinOp(left, ast.Add() | ast.Sub() | ast.Mult(), right):
            return reckoned(left) and reckoned(right)
    return False


def counting(loop: ast.For) -> list[str] | None:
    """The variables that a `for` adds whole numbers to, if it does nothing else; else None."""
    names = []
    for statement in loop.body:
        match statement:
            case ast.Pass():
                continue
            case ast.AugAssign(ast.Name(name), ast.Add() | ast.Sub(), ast.Constant(int())):
                names.append(name)
            case _:
                return None
    return None if set(names) & set_in(loop.target) else names
