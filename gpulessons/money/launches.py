"""How many kernels a step of training runs at least, and how many of them wait for each other.

An op at a time, every op that writes numbers is one kernel or more: counted once each, on tensors
that have shapes and no numbers. An LSTM is a library's: a product for each layer and time step,
forward and back. The optimizer is one kernel for all weights. However well a step is fused, its
chain stays: each layer's product waits for the one before, forward and back, and each time step of
an LSTM for the last (its layers overlap).
"""

from functools import cache

import torch
from torch.nn.functional import cross_entropy
from torch.utils._python_dispatch import TorchDispatchMode

from gpulessons.models.six_networks import FULL, KINDS, Recurrent, minibatch


class Kernels(TorchDispatchMode):
    """Counts the ops that write numbers; what looks at a tensor in another way writes none."""

    count = 0

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        writes = op.namespace == "aten" and not op.is_view
        self.count += writes and "empty" not in op.name() and "view" not in op.name()
        return op(*args, **kwargs or {})


@cache
def kernels(name: str) -> tuple[int, int]:
    """(an op at a time, in the longest chain) of a step of one of the six networks."""
    with torch.device("meta"):
        module = KINDS[name][0](1)
    x, labels = minibatch(FULL[name], "meta")
    layers = sum(weight.ndim > 1 for weight in module.parameters())
    products = chain = 0
    if isinstance(module, Recurrent):
        deep, steps = module.layers.num_layers, x.shape[1]
        module.layers.forward = lambda x: (x, None)
        layers, products, chain = 1, 2 * deep * steps, 2 * (steps + deep - 1)
    with Kernels() as mode:
        cross_entropy(module(x), labels).backward()
    return mode.count + products + 1, chain + 2 * layers
