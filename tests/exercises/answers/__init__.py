"""Answers to every exercise, right and wrong: a file each, edits of its solution.

    wrong = [(what, instead, reason)]         one mistake, and words of its refusal
    right = [(what, instead)]                 the solution written otherwise
    right = [(what, instead, praise)]         the same, and words of what is said about it
"""

import itertools
import linecache

cells = itertools.count(1)


def attempt(text):
    """What a learner's cell leaves behind: the last name it binds. The source stays readable."""
    name = f"<exercise {next(cells)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {}
    exec(compile(text, name, "exec"), names)
    return list(names.values())[-1]
