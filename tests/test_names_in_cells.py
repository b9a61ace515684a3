"""A name that one cell of a notebook hands to another has one meaning: one cell alone binds it.

What a cell binds before it reads it is that cell's own, and may come again. What a function's body
reads it reads when it is called; by then any cell may have bound it anew.
"""

import ast
import symtable
from collections import defaultdict

import pytest

import save_notebooks
from first_cell import ID


def steps(body):
    """The parts of these statements as they run: what is read, then what is bound."""
    for node in body:
        match node:
            case ast.For():
                yield from [node.iter, bind(node.target), *steps(node.body + node.orelse)]
            case ast.With():
                for item in node.items:
                    yield item.context_expr
                    yield from [bind(item.optional_vars)] if item.optional_vars else []
                yield from steps(node.body)
            case ast.If() | ast.While():
                yield from [node.test, *steps(node.body + node.orelse)]
            case ast.Try():
                yield from steps(node.body)
                for handler in node.handlers:
                    yield from [bind(ast.Name(handler.name))] if handler.name else []
                    yield from steps(handler.body)
                yield from steps(node.orelse + node.finalbody)
            case ast.AugAssign(target=ast.Name(id=name)):
                yield from [ast.Name(name, ast.Load()), node]
            case _:
                yield node


def bind(target):
    return ast.Assign([target], ast.Constant(0), lineno=1)


def names(step):
    """The names that a step reads, those that its functions will read, and those that it binds."""
    table = symtable.symtable(ast.unparse(step), "cell", "exec")
    own = table.get_symbols()
    read = {s.get_name() for s in own if s.is_referenced()}
    bound = {s.get_name() for s in own if s.is_assigned() or s.is_imported()}
    later = set()
    for kind, found in inner(table):
        (read if kind else later).update(found)
    walrus = {n.target.id for n in ast.walk(step) if isinstance(n, ast.NamedExpr)}
    return read - walrus, later, bound


def inner(table):
    """For each scope in this one: whether it runs at once, and which global names it reads."""
    for child in table.get_children():
        at_once = child.get_name() in {"listcomp", "setcomp", "dictcomp", "genexpr"}
        yield at_once, {s.get_name() for s in child.get_symbols() if s.is_global()}
        yield from ((at_once and each, found) for each, found in inner(child))


def imported(step):
    """{name: whence} of an import, as one name may be imported twice."""
    if not isinstance(step, (ast.Import, ast.ImportFrom)):
        return {}
    home = getattr(step, "module", "")
    return {each.asname or each.name: (home, each.name) for each in step.names}


def bound_and_taken(source):
    """What a cell binds, {name: whence}; the names that it takes from other cells; and those of its
    own that its functions read whenever they are called."""
    bound, taken, deferred = {}, set(), set()
    for step in steps(ast.parse(source).body):
        read, later, written = names(step)
        taken |= read - set(bound)
        deferred |= later
        bound |= dict.fromkeys(written) | imported(step)
    return bound, taken | deferred - set(bound), deferred & set(bound)


def two_meanings(sources):
    """{name: the cells that bind it} for names that two cells bind and one takes from elsewhere, or
    whose function would read what a later cell binds."""
    cells = [bound_and_taken(source) for source in sources]
    taken = set().union(*(taken for _, taken, _ in cells))
    binders = defaultdict(dict)
    for n, (bound, _, _) in enumerate(cells):
        for name, whence in bound.items():
            binders[name][n] = whence
    return {
        name: list(found)
        for name, found in sorted(binders.items())
        if len(set(found.values()) - {None}) + list(found.values()).count(None) > 1
        and (name in taken or any(name in cells[n][2] for n in list(found)[:-1]))
    }


@pytest.mark.parametrize("path", save_notebooks.lessons(), ids=lambda path: path.stem)
def test_a_name_that_cells_share_is_bound_by_one_of_them(path):
    book = save_notebooks.read(path)
    # An exercise is checked in the next cell, and what it defines belongs to the two.
    code = [cell for cell in book.cells
            if cell.cell_type == "code" and cell.id != ID and not cell.id.startswith("ex-")]
    found = two_meanings([cell.source for cell in code])
    assert {name: [code[n].id for n in cells] for name, cells in found.items()} == {}


@pytest.mark.parametrize(("cells", "found"), [
    (["count = 12", "count = loads()", "show(count)"], {"count": [0, 1]}),
    (["n = 3\ndef f(): return n", "n = 4", "f()"], {"n": [0, 1]}),
    (["n = 3\nf = lambda: n", "for n in range(4): pass"], {"n": [0, 1]}),
    (["n = 3", "n = 4\ndef f(): return n", "f()"], {}),
    (["x = 1", "x += 1", "x"], {"x": [0, 1]}),
    (["x = 1\nx", "x = 2\nx"], {}),
    (["for t in [1]: print(t)", "print([t for t in range(3)])\nt = 5; t"], {}),
    (["import numpy as np", "import numpy as np\nnp.sum", "np.sum"], {}),
    (["import numpy as np", "import math as np", "np"], {"np": [0, 1]}),
    (["from a import b, c\nb", "from a import b", "b"], {}),
    (["x = [1]", "x[0] += 1", "x"], {}),
    (["def mine(): pass", "check(mine)", "def mine(): return 1", "check(mine)"], {"mine": [0, 2]}),
    (["with a() as x: x", "with b() as x: x"], {}),
    (["[y for x in z if (y := x)]", "[y for x in z if (y := x)]"], {}),
    (["why = 1", "try: a()\nexcept E as why: print(why)"], {}),
])  # fmt: skip
def test_what_is_found(cells, found):
    assert two_meanings(cells) == found
