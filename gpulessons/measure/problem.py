"""A problem: an op's inputs at one size, their true answers, and their arrays on each backend."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpulessons.operation import as_tuple


@dataclass
class Problem:
    """Two sets of inputs of one size, so that no version can return what it remembered."""

    op: object
    size: int

    @cached_property
    def inputs(self):
        return [self.op.inputs(self.size, seed) for seed in (1, 2)]

    @cached_property
    def references(self):
        return [self.op.reference(*inputs) for inputs in self.inputs]

    @cached_property
    def bytes(self):
        return self.op.bytes(*self.inputs[0])

    @cached_property
    def flops(self):
        return int(self.op.flops(*self.inputs[0]))

    @property
    def work(self):
        return max(self.bytes, self.flops)

    @cached_property
    def _placed(self):
        return {}

    def on(self, backend):
        """Two (inputs, output) on a backend: shared by its versions, but written anew for each.

        The version before may have changed its inputs, or left the right answer in the output.
        """
        if backend not in self._placed:
            self._placed[backend] = [
                (tuple(map(backend.put, inputs)), self.poisoned(backend)) for inputs in self.inputs
            ]
        else:
            for (placed, out), inputs in zip(self._placed[backend], self.inputs, strict=True):
                values = (*inputs, *self.poisons())
                for array, value in zip((*placed, *as_tuple(out)), values, strict=True):
                    backend.write(array, value)
        return self._placed[backend]

    def poisoned(self, backend):
        """Room for a result, full of poison: a version must overwrite every element."""
        outs = tuple(map(backend.put, self.poisons()))
        return outs[0] if len(outs) == 1 else outs

    def poisons(self):
        return [poison(*kind) for kind in self.op.outputs(*self.inputs[0])]


def poison(shape, dtype):
    """An array of NaN, or of the largest integer: what no right answer is full of."""
    worst = np.nan if np.issubdtype(dtype, np.floating) else np.iinfo(dtype).max
    return np.full(shape, worst, dtype)
