"""A K80 over this machine, by what one counts: cores, lanes, FLOPs or bytes."""

from gpulessons import units
from gpulessons.plots.forms import dots
from gpulessons.plots.picture import BLUE, VERMILLION


def ratios(cores):
    """A dot for each way of counting in a money.cores.Cores, places that compute orange, what they
    do in a second blue."""
    found = cores.ratios()
    first, rate = found["cores, as on the box"], found["FLOP/s"]
    title = f"A K80 has {units.ratio(first)} the cores and {units.ratio(rate)} the FLOP/s."
    title = f"No result: {cores.doubt}." if cores.doubt else title
    rows = [(name, times, {"color": BLUE if name.endswith("/s") else VERMILLION})
            for name, times in found.items()]
    what = "K80, published, over this machine, measured; blue: per second"
    return dots(rows, what, units.ratio, title=title, one=True)
