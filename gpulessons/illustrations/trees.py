"""Three trees that add up eight numbers in shared memory: which thread adds which pair.

The rules are those of the kernels in ops/reduce.py, with 8 numbers where they have 256.
"""

from .drawings import Drawing, drawing


def trees() -> Drawing:
    """The trees side by side, each with the line of its kernel that makes it."""
    return drawing("trees")
