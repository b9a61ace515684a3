"""Kernels that others have timed, written anew to judge the model by (`judge.py` does).

Each time belongs to a kernel in CUDA C++. Here is the same algorithm, with the same sizes of tiles,
twice: as a port to Numba for the microscope, which counts what each line moves, and as CUDA C++
for NVIDIA's compiler. The two are written line for line: line 7 of the one does what line 7 of the
other does, so what the compiler says of a line can be held beside what the microscope counted.

    KERNELS["copy, 16 bytes"]     a Pair: port, text, grid, block, arguments

`pairs`: what a pair is;  `copies`, `transposes`, `products`: the pairs;  `wide`: four numbers at
once, for the ports;  `compiling`: C++ to machine code;  `engine`: the model, asked for a pair.
"""

from .copies import COPIES
from .pairs import Pair
from .products import PRODUCTS
from .transposes import TRANSPOSES

KERNELS: dict[str, Pair] = {pair.name: pair for pair in (*COPIES, *TRANSPOSES, *PRODUCTS)}
