"""Three trees that add up eight numbers in shared memory, side by side, each with the line of its
kernel that makes it. The rules are those of Harris' kernels, with 8 numbers for 256.
"""

from functools import partial

from .drawings import drawing

trees = partial(drawing, "trees")
