"""Pictures for the puzzles' second hints: which thread takes what, drawn small."""

from functools import partial

from .drawings import drawing

map_1d = partial(drawing, "map_1d")
