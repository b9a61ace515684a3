"""Four neighbors in one request, for ports: only the microscope runs these, the text has float4."""

from warplens.lanes import wide


def load4(array, index):
    """array[index] and the three after it in its row, 16 bytes at once."""


def store4(array, index, four):
    """Write array[index] and the three after it, 16 bytes at once."""


load4.traced, store4.traced = wide.load4, wide.store4  # type: ignore[attr-defined]
