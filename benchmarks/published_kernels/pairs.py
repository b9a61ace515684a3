"""A pair: one algorithm as a port for the microscope and as a text for NVIDIA's compiler."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .compiling import compiled

Size = tuple[int, ...]
Cubin = bytes  # machine code; the name `bytes` is a field of Pair


@dataclass(frozen=True, repr=False, eq=False)  # a pair is itself alone
class Pair:
    """A kernel twice, line for line, at the size that was timed.

    name: as in `Published.kernel`. grid, block: as it was launched. arguments(): arrays and numbers
    as the port takes them; large arrays take memory only where they are touched. flops: counted as
    the publisher counts. bytes: what must move at least, each array once. The model uses neither:
    they are there to check that no published time is shorter than a GPU can be.
    """

    name: str
    port: Any  # a kernel of Numba's, never compiled
    text: str  # CUDA C++; its first line stands for the port's decorator, and so on
    grid: Size
    block: Size
    arguments: Callable[[], tuple]
    flops: int
    bytes: int
    constants: Mapping[str, int | str] = field(default_factory=dict)  # sizes that the text names

    def cubin(self, capability: tuple[int, int]) -> Cubin:
        """The text as machine code, its lines named after the port's. Needs no GPU.

        Raises CannotCompile, with a sentence, where the compiler is missing or refuses the text.
        """
        place = self.port.py_func.__code__
        where = place.co_filename, place.co_firstlineno
        return compiled(self.text, where, tuple(self.constants.items()), capability)

    def __repr__(self) -> str:
        return f"{self.name}: {self.port.__name__}[{self.grid}, {self.block}]"
