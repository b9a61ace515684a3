"""The model, asked for a published kernel: its own machine code, and the sample of its port."""

from functools import cache

from warplens import trace
from warplens.code.sass import Code, disassembled
from warplens.lanes.launch import extent
from warplens.model.devices import GPU
from warplens.model.modelling import of_sample
from warplens.model.sampling import ITERATIONS, Sample, chosen, sampled
from warplens.model.value import Modelled

from .pairs import Pair


def by_machine_code(pair: Pair, gpu: GPU) -> Modelled:
    """CannotCompile where machine code cannot be made or read."""
    return of_sample(sample_of(pair), code_of(pair, gpu.capability), gpu)


def by_source(pair: Pair, gpu: GPU) -> Modelled:
    """What can be said without a compiler."""
    return of_sample(sample_of(pair), None, gpu)




@cache  # one sample serves every GPU
def sample_of(pair: Pair) -> Sample:
    blocks = chosen(extent(pair.grid, "the grid"))
    return sampled(trace(pair.port, blocks, ITERATIONS)[pair.grid, pair.block](*pair.arguments()))


@cache
def code_of(pair: Pair, capability: tuple[int, int]) -> Code:
    return disassembled(pair.cubin(capability))
