"""A problem: an op's inputs at one size, their true answers, and their arrays on each backend."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from gpulessons.backends import Backend
from gpulessons.operation import Op, as_tuple, poison


@dataclass
class Problem:
    """Two sets of inputs of one size, so that no version can return what it remembered."""

    op: Op
    size: int
    placed: dict[Backend, list[tuple[tuple, Any]]] = field(default_factory=dict)
    pilots: dict[int, "Problem"] = field(default_factory=dict)

    @cached_property
    def inputs(self) -> list[tuple]:
        return [self.op.inputs(self.size, seed) for seed in (1, 2)]

    @cached_property
    def references(self) -> list[Any]:
        return [self.op.reference(*inputs) for inputs in self.inputs]

    @cached_property
    def bytes(self) -> int:
        return self.op.bytes(*self.inputs[0])

    @cached_property
    def flops(self) -> int:
        return int(self.op.flops(*self.inputs[0]))

    @property
    def work(self) -> int:
        return max(self.bytes, self.flops)

    def smaller(self, size: int) -> "Problem":
        """The same at a size that is no larger than its own; made once, for every version."""
        if size >= self.size:
            return self
        return self.pilots.setdefault(size, Problem(self.op, size))

    def on(self, backend: Backend) -> list[tuple[tuple, Any]]:
        """Two (inputs, output) on a backend: shared by its versions, but written anew for each.

        The version before may have changed its inputs, or left the right answer in the output.
        """
        if backend not in self.placed:
            self.placed[backend] = [
                (tuple(map(backend.put, inputs)), self.op.poisoned(backend, *inputs))
                for inputs in self.inputs
            ]
        else:
            for (placed, out), inputs in zip(self.placed[backend], self.inputs, strict=True):
                poisons = (poison(*kind) for kind in self.op.outputs(*inputs))
                write_all(backend, (*placed, *as_tuple(out)), (*inputs, *poisons))
        return self.placed[backend]


def write_all(backend: Backend, arrays: Iterable[Any], values: Iterable[Any]) -> None:
    """Overwrite a backend's arrays with the values of NumPy's."""
    for array, value in zip(arrays, values, strict=True):
        backend.write(array, value)
