"""The smallest program for several workers: say who is there, and add up the ranks."""

import torch
import torch.distributed as dist

from ..worker import Worker


def main(worker: Worker, greeting: str = "hello") -> float:
    worker.say(greeting, f"from {worker.rank + 1} of {worker.world_size} on {worker.device}")
    total = torch.tensor([worker.rank + 1.0], device=worker.device)
    dist.all_reduce(total)
    return total.item()
