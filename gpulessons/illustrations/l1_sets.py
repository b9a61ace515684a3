"""Why rows 16 KiB apart are slow to read: their lines all lie in one set of L1, one a clock."""

from gpulessons.plots.forms import listed, span
from gpulessons.plots.picture import ORANGE, SKY, Picture, blank
from warplens.model.sampling import TAG_SETS

LINE = 128  # bytes
ROWS = 16  # that a warp of 16 × 16 threads reads from at a time


def l1_sets(columns: int = 4096) -> Picture:
    """A row for each set, a box for each line that it looks up, clock by clock.

    They are those of one request: a warp reads a number of each of 16 rows of x, of so many float32
    columns. Assumed, as in the model.
    """
    lines = [4 * columns * row // LINE for row in range(ROWS)]
    sets = [[r for r in range(ROWS) if lines[r] % TAG_SETS == s] for s in range(TAG_SETS)]
    clocks, used = max(map(len, sets)), sum(map(bool, sets))
    title = (
        f"Rows of {columns:,} numbers: {ROWS} lines lie in {used} of {TAG_SETS} sets, so L1 looks "
        f"them up in {clocks} clocks (assumed)."
    )
    figure, axes = blank(width=7.6, height=2.6, title=title)
    for s, rows in enumerate(sets):
        color = ORANGE if len(rows) > ROWS // TAG_SETS else SKY
        for clock, row in enumerate(rows):
            span(axes, s, clock + 0.05, 0.9, color, row)
    axes.set(xlim=(0, ROWS), ylim=(TAG_SETS - 0.4, -0.6), ylabel="set of L1")
    axes.set_xlabel("clock; in each box: the row of x")
    axes.set_yticks(range(TAG_SETS))
    told = listed({f"set {s}": ", ".join(map(str, rows)) or "none" for s, rows in enumerate(sets)})
    return Picture(figure, f"{title} Rows by set: {told}. Schematic.")
