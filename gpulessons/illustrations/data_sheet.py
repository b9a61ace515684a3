"""What a data sheet promises, and the corners of the rooflines that follow from it.

A sheet's figures are bounds that no program exceeds, and few reach. Where a layer has fewer FLOPs
for each byte than the corner, even a perfect program waits for memory.
"""

from collections.abc import Mapping
from typing import NamedTuple


class Sheet(NamedTuple):
    """A GPU by its data sheet: FLOP/s by the type of the factors, bytes/s, and where it stands."""

    name: str
    peaks: Mapping[str, float]
    memory: float
    source: str

    def corners(self) -> dict[str, float]:
        """FLOPs for each byte at which memory and arithmetic take equally long, by type."""
        return {factors: peak / self.memory for factors, peak in self.peaks.items()}


# The sheet gives the tensor cores' rates for sparse factors, twice these.
H200 = Sheet(
    "H200", {"float32": 67e12, "TF32": 495e12, "bfloat16": 989e12}, 4.8e12,
    "NVIDIA H200 data sheet (SXM); tensor cores without sparsity",
)  # fmt: skip
