"""The smallest program for several workers: say who is there, and add up the ranks."""


def main(worker, greeting="hello"):
    import torch
    import torch.distributed as dist

    worker.say(greeting, f"from {worker.rank + 1} of {worker.world_size} on {worker.device}")
    total = torch.tensor([worker.rank + 1.0], device=worker.device)
    dist.all_reduce(total)
    return total.item()
