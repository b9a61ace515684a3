"""Published times that the model is judged by, and our own texts of the kernels that took them.

Each time belongs to a kernel in CUDA C++. We wrote the same algorithm anew, with the same sizes of
tiles, twice: as a twin for the microscope, which counts what each line moves, and as a text for
NVIDIA's compiler. The two are written line for line: line 7 of the text does what line 7 of the
twin does, so what the compiler says of a line can be held beside what the microscope counted there.

    KERNELS["copy, 16 bytes"]     a Pair: twin, text, grid, block, arguments
    TIMES                         what others measured of them, and where they say so
    judged(model)                 how far a model is from all of it

Where to read on:

    pairs        what a pair is, and how its text is compiled
    copies, transposes, products  the pairs;  wide: four numbers at once, for the twins
    times        the published times
    engine       the model asked for a pair: `by_machine_code`, `by_source`, or what can be had here
    judging      errors, intervals, order
"""

from .copies import COPIES
from .engine import by_machine_code, by_source, by_what_is_here
from .judging import Judged, Judgment, Ladder, judged, kendall
from .pairs import Pair
from .products import PRODUCTS
from .times import TIMES, Published
from .transposes import TRANSPOSES

KERNELS: dict[str, Pair] = {pair.name: pair for pair in (*COPIES, *TRANSPOSES, *PRODUCTS)}

__all__ = [
    "KERNELS",
    "TIMES",
    "Judged",
    "Judgment",
    "Ladder",
    "Pair",
    "Published",
    "by_machine_code",
    "by_source",
    "by_what_is_here",
    "judged",
    "kendall",
]
