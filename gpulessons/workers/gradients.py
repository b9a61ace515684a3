"""How the gradients of several workers become one: what is sent, and when, decides the cost.

    one by one    an all-reduce for each parameter: many messages, each with its latency
    together      all gradients in one vector, one all-reduce, after the backward pass
    naive, tree, ring   the same, by our own all-reduce (collectives.py)
    fp16, 8-bit, 1-bit  fewer bytes for each number; what rounding loses is kept and added to the
                  next gradient (error feedback): nothing is lost for good    Seide et al. 2014
    1-bit, nothing owed   the same without that: what rounding loses is lost

Each takes the parameters after a backward pass and leaves the sum of all workers' gradients.
PyTorch's DistributedDataParallel sends in buckets while the backward pass still runs.
"""

import torch
import torch.distributed as dist

from .collectives import ALGORITHMS, Wire


class OneByOne:
    """An all-reduce for each parameter."""

    def __init__(self, parameters):
        self.parameters = list(parameters)
        self.bytes = 0  # handed over to be summed, so far

    def reduce(self):
        for parameter in self.parameters:
            self.sum(parameter.grad)

    def sum(self, gradient):
        self.bytes += gradient.numel() * gradient.element_size()
        dist.all_reduce(gradient)


class Together(OneByOne):
    """All gradients as one vector, through the engine's all-reduce."""

    def reduce(self):
        flat = torch.cat([p.grad.reshape(-1) for p in self.parameters])
        self.sum(flat)
        pieces = flat.split([p.numel() for p in self.parameters])
        for parameter, piece in zip(self.parameters, pieces, strict=True):
            parameter.grad.copy_(piece.view_as(parameter))


class Own(Together):
    """The same through one of our own algorithms."""

    def __init__(self, parameters, algorithm):
        super().__init__(parameters)
        self.algorithm, self.wire = ALGORITHMS[algorithm], Wire()

    def sum(self, gradient):
        self.algorithm(gradient, self.wire)
        self.bytes = self.wire.sent


class Compressed(Together):
    """Every worker shows its packed gradient to all, and each unpacks and adds them up."""

    def __init__(self, parameters, code, feedback=True):
        super().__init__(parameters)
        self.pack, self.unpack = CODES[code]
        self.feedback, self.owed = feedback, 0  # what rounding has kept back so far

    def sum(self, gradient):
        gradient += self.owed
        packed = self.pack(gradient)
        if self.feedback:
            self.owed = gradient - self.unpack(packed, gradient)
        shown = [torch.empty_like(packed) for _ in range(dist.get_world_size())]
        dist.all_gather(shown, packed)
        self.bytes += packed.numel() * packed.element_size()
        gradient.copy_(sum(self.unpack(other, gradient) for other in shown))


# -- Codes: a gradient as bytes, and back. `like` has the shape and dtype that are due.


def to_half(gradient):
    most = torch.finfo(torch.float16).max  # what is beyond is owed, not infinite
    return gradient.clamp(-most, most).half().view(torch.uint8)


def from_half(packed, like):
    return packed.view(torch.float16).to(like.dtype)


def to_bytes(gradient):
    """One byte for each number, in steps of the largest / 127, and four for that step."""
    step = (gradient.abs().max().float() / 127).clamp(min=1e-30)
    levels = (gradient / step).round().to(torch.int8)
    return torch.cat([step.view(1).view(torch.uint8), levels.view(torch.uint8)])


def from_bytes(packed, like):
    step, levels = packed[:4].clone().view(torch.float32), packed[4:].view(torch.int8)
    return (levels * step).to(like.dtype)


BITS = 2 ** torch.arange(8, dtype=torch.uint8)


def to_signs(gradient):
    """One bit for each number, its sign, and two floats: the means of those below 0 and above."""
    above = gradient >= 0
    means = torch.stack([mean(gradient[~above]), mean(gradient[above])]).float()
    padded = torch.nn.functional.pad(above.to(torch.uint8), (0, -len(above) % 8))
    bits = (padded.view(-1, 8) * BITS.to(padded.device)).sum(1, dtype=torch.uint8)
    return torch.cat([means.view(torch.uint8), bits])


def from_signs(packed, like):
    means, bits = packed[:8].clone().view(torch.float32).to(like.dtype), packed[8:]
    above = (bits[:, None] & BITS.to(bits.device) != 0).reshape(-1)[: len(like)]
    return torch.where(above, means[1], means[0])


def mean(numbers):
    return numbers.mean() if len(numbers) else numbers.new_zeros(())


CODES = {
    "fp16": (to_half, from_half),
    "8-bit": (to_bytes, from_bytes),
    "1-bit": (to_signs, from_signs),
}


def reducer(how, parameters):
    """The way of this name, for these parameters; ValueError lists the names."""
    if how in ALGORITHMS:
        return Own(parameters, how)
    if how in CODES:
        return Compressed(parameters, how)
    if how not in WAYS:
        names = "; ".join([*WAYS, *ALGORITHMS, *CODES])
        raise ValueError(f"Gradients are reduced {names}; or by DDP. Not {how!r}.")
    return WAYS[how](parameters)


def forgetful(parameters):
    return Compressed(parameters, "1-bit", feedback=False)


WAYS = {"one by one": OneByOne, "together": Together, "1-bit, nothing owed": forgetful}
