"""Why rows 16 KiB apart are slow to read: their numbers all lie in one bank of L1, one a clock."""

from gpulessons.plots.forms import listed, span
from gpulessons.plots.picture import ORANGE, SKY, Picture, blank
from warplens.report.counts import BANKS

ROWS = 16  # that a warp of 16 × 16 threads reads from at a time


def l1_banks(columns: int = 4096) -> Picture:
    """A line for each bank, a box for each number that it gives, clock by clock.

    They are those of one request: a warp reads a number of each of 16 rows of x, of so many float32
    columns.
    """
    banks: dict[int, list[int]] = {}
    for row in range(ROWS):
        banks.setdefault(columns * row % BANKS, []).append(row)
    clocks = max(map(len, banks.values()))
    title = (
        f"Rows of {columns:,} numbers: {ROWS} numbers lie in {len(banks)} of {BANKS} banks, so L1 "
        f"gives them in {clocks} clock{'s' * (clocks > 1)}."
    )
    figure, axes = blank(width=7.6, height=2.6, title=title)
    for at, rows in enumerate(banks.values()):
        for clock, row in enumerate(rows):
            span(axes, at, clock + 0.05, 0.9, ORANGE if len(rows) > 1 else SKY, row)
    axes.set(xlim=(0, ROWS), ylim=(len(banks) - 0.4, -0.6), ylabel="bank of L1")
    axes.set_xlabel("clock; in each box: the row of x")
    axes.set_yticks(range(len(banks)), list(banks))
    told = {f"bank {bank}": ", ".join(map(str, rows)) for bank, rows in sorted(banks.items())}
    return Picture(figure, f"{title} Rows by bank: {listed(told)}. Schematic.")
