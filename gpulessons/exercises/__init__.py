"""Exercises: one file each, and each file the same few names.

    stub      the cell a learner starts from, word for word as the notebook has it
    solution  the same cell, solved
    wrong     [(what, instead, reason)]: the solution with one mistake, and words of its refusal
    right     optional: [(what, instead)]: the solution written otherwise
    op, on    what the attempt must compute and on which backend; or, where the answer is no op,
    judge     judge(attempt): raises Trouble, or returns a word of praise
    inspect   optional: inspect(launches) raises Trouble about how a right kernel did it

Tests prove that each stub is "not yet", each solution passes, however it is written, and each wrong
answer is refused for its own reason.
"""

import itertools
import linecache

_cells = itertools.count(1)


def attempt(text):
    """What a learner's cell leaves behind: the last name it binds. The source stays readable."""
    name = f"<exercise {next(_cells)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {}
    exec(compile(text, name, "exec"), names)
    return list(names.values())[-1]
