"""How the gradients of several workers become one: what is sent decides the cost.

    flat          all gradients in one vector, one all-reduce, after the backward pass
    ring          the same, by our own ring (collectives.py)
    16-bit        rounded to bfloat16, which a ring can add on its way
    8-bit         whole numbers from -127 to 127 and a scale: each worker shows its own to all
    1-bit         a bit for each number, shown to all; what rounding loses is kept and added to the
                  next gradient (error feedback): nothing is lost for good     Seide et al. 2014
    1-bit, no feedback    the same without that: what rounding loses is lost

Each takes the parameters after a backward pass and leaves the sum of all workers' gradients.
PyTorch's DistributedDataParallel sends in buckets while the backward pass still runs.
"""

from collections.abc import Iterable

import torch
from torch import Tensor

from .collectives import Wire, all_gather, ring

BITS = 2 ** torch.arange(8, dtype=torch.uint8)


def to_signs(gradient: Tensor) -> Tensor:
    """One bit for each number, its sign, and two floats: the means of those below 0 and above."""
    above = gradient >= 0
    means = torch.stack([mean(gradient[~above]), mean(gradient[above])]).float()
    padded = torch.nn.functional.pad(above.to(torch.uint8), (0, -len(above) % 8))
    bits = (padded.view(-1, 8) * BITS.to(padded.device)).sum(1, dtype=torch.uint8)
    return torch.cat([means.view(torch.uint8), bits])


def from_signs(packed: Tensor, like: Tensor) -> Tensor:
    """And back, as many numbers of such a dtype as `like` has."""
    means, bits = packed[:8].clone().view(torch.float32).to(like.dtype), packed[8:]
    above = (bits[:, None] & BITS.to(bits.device) != 0).reshape(-1)[: len(like)]
    return torch.where(above, means[1], means[0])


def mean(numbers: Tensor) -> Tensor:
    return numbers.mean() if len(numbers) else numbers.new_zeros(())


def to_bytes(gradient: Tensor) -> Tensor:
    """How much a step stands for, as a float, and each number's steps, from -127 to 127."""
    step = (gradient.abs().max(0, keepdim=True).values / 127).float().clamp(min=1e-30)
    steps = (gradient / step).round().to(torch.int8)
    return torch.cat([step.view(torch.uint8), steps.view(torch.uint8)])


def from_bytes(packed: Tensor, like: Tensor) -> Tensor:
    return packed[:4].clone().view(torch.float32).to(like.dtype) * packed[4:].view(torch.int8)


class Flat:
    """All gradients as one vector, through one all-reduce of the backend's."""

    def __init__(self, parameters: Iterable[torch.nn.Parameter], wire: Wire) -> None:
        self.parameters, self.wire = list(parameters), wire
        self.bytes = 0  # handed over to be summed, so far

    def reduce(self) -> None:
        gradients = [p.grad for p in self.parameters if p.grad is not None]
        flat = torch.cat([gradient.reshape(-1) for gradient in gradients])
        self.all_reduce(flat)
        pieces = flat.split([gradient.numel() for gradient in gradients])
        for gradient, piece in zip(gradients, pieces, strict=True):
            gradient.copy_(piece.view_as(gradient))

    def all_reduce(self, gradient: Tensor) -> None:
        self.bytes += gradient.nbytes
        self.wire.all_reduce(gradient)


class Ring(Flat):
    """The same by sends and receives."""

    dtype: torch.dtype | None = None  # what is sent; None: as it is

    def all_reduce(self, gradient: Tensor) -> None:
        ring(sent := gradient.to(self.dtype), self.wire)
        self.bytes += sent.nbytes
        gradient.copy_(sent)


class Half(Ring):
    dtype = torch.bfloat16


class OneBit(Flat):
    """Every worker shows its packed gradient to all, and each unpacks and adds them up."""

    pack, unpack = staticmethod(to_signs), staticmethod(from_signs)
    feedback = True
    residual: Tensor | float = 0.0  # what rounding has kept back so far

    def all_reduce(self, gradient: Tensor) -> None:
        gradient += self.residual
        packed = self.pack(gradient)
        if self.feedback:
            self.residual = gradient - self.unpack(packed, gradient)
        shown = packed.repeat(self.wire.world_size)
        all_gather(shown, self.wire, owned=self.wire.rank)
        self.bytes += packed.nbytes
        gradient.zero_()
        for other in shown.view(-1, len(packed)):
            gradient += self.unpack(other, gradient)


class Forgetful(OneBit):
    feedback = False


class OneByte(OneBit):
    pack, unpack = staticmethod(to_bytes), staticmethod(from_bytes)


WAYS = {"flat": Flat, "ring": Ring, "16-bit": Half, "8-bit": OneByte, "1-bit": OneBit,
        "1-bit, no feedback": Forgetful}  # fmt: skip
