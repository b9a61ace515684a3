"""What pages of before call in their first cell."""


def wide_vectors() -> None:
    """Nothing any more: loops that gain by the CPU's full vector width say so themselves, each in
    its own function (`gpulessons.ops.vectors.full_width`). No page needs to call it.
    """
