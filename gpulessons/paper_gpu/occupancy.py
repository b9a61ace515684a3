"""How many blocks a multiprocessor holds at once, and what limits them.

A stand-in with the final signature: warps, blocks, registers and shared memory, and no more.
"""

from dataclasses import dataclass

from .devices import GPU, named

WARPS = {(7, 5): 32, (8, 0): 64, (8, 6): 48, (8, 9): 48, (9, 0): 64}
BLOCKS = {(7, 5): 16, (8, 0): 32, (8, 6): 16, (8, 9): 24, (9, 0): 32}
SHARED = {(7, 5): 64, (8, 0): 164, (8, 6): 100, (8, 9): 100, (9, 0): 228}  # KiB


@dataclass(frozen=True)
class Occupancy:
    share: float
    blocks: int
    limiter: str


def occupancy(
    threads: int, registers: int = 32, shared: int = 0, on: str | GPU = "A100"
) -> Occupancy:
    capability = named(on).capability
    warps, reserved = -(-threads // 32), 0 if capability == (7, 5) else 1024
    held = 65536 // (-(-registers * 32 // 256) * 256) // 4 * 4
    limits = {
        "warps": WARPS[capability] // warps,
        "registers": held // warps,
        "shared memory": SHARED[capability] * 1024 // max(1, shared + reserved),
        "blocks": BLOCKS[capability],
    }
    limiter = min(limits, key=limits.__getitem__)
    blocks = limits[limiter]
    return Occupancy(blocks * warps / WARPS[capability], blocks, limiter)
